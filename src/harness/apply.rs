//! The only writer of project files: all files of a run change, or none.
//!
//! The order is what makes a crash harmless. Everything that can be refused is refused first; then the journal has
//! the intent and all bytes as they were; then new texts lie complete beside the old ones; then each takes the old
//! one's place in one step; then the journal has the outcome. Whatever stops us in between, [`recover`] finds the
//! intent and brings the files to all-before, or says all-after when they already are.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::clock::{Clock, rfc3339};
use super::error::{ApplyError, PathRefusal};
use super::journal::{Intent, Journal, NewRun, RunFile, RunId, RunState};
use crate::text::{ProjectRoot, RelPath, Revision};

/// Names of files that are about to take another's place. They don't end in `.py`, so no tool takes them for code.
const STAGED_PREFIX: &str = ".tainie-";
const STAGED_SUFFIX: &str = ".tmp";

/// One file's change: what it must hold, and what it shall hold.
#[derive(Debug, Clone)]
pub(crate) struct PlannedWrite {
    pub(crate) file: RelPath,
    /// The revision that the change was made for.
    pub(crate) before: Revision,
    pub(crate) before_bytes: Vec<u8>,
    pub(crate) after_bytes: Vec<u8>,
}

/// Which way an interrupted run was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecoveredTo {
    Before,
    After,
}

/// An interrupted run that was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) run: RunId,
    pub(crate) to: RecoveredTo,
    /// Files that got their old bytes back.
    pub(crate) restored: Vec<RelPath>,
    /// Files that somebody changed since; they were not touched.
    pub(crate) left: Vec<RelPath>,
}

/// What to do with files of an interrupted run that somebody changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Touch nothing, and say so.
    Refuse,
    /// Leave these alone, and bring the others back.
    Leave,
}

/// Writes all files of a run, or none. A run that changes no byte is no run: `None`.
pub(crate) fn apply(
    journal: &mut Journal,
    root: &ProjectRoot,
    clock: &dyn Clock,
    run: &NewRun,
    writes: Vec<PlannedWrite>,
) -> Result<Option<RunId>, ApplyError> {
    apply_with(journal, root, clock, run, writes, &mut |_| {})
}

/// The same; `before_replacing` is called before each file takes another's place.
pub(super) fn apply_with(
    journal: &mut Journal,
    root: &ProjectRoot,
    clock: &dyn Clock,
    run: &NewRun,
    mut writes: Vec<PlannedWrite>,
    before_replacing: &mut dyn FnMut(&RelPath),
) -> Result<Option<RunId>, ApplyError> {
    if let Some(run) = journal.history().unfinished()? {
        return Err(ApplyError::Unfinished { run });
    }
    writes.retain(|write| write.before_bytes != write.after_bytes);
    if writes.is_empty() {
        return Ok(None);
    }
    writes.sort_by(|a, b| a.file.cmp(&b.file));
    let targets = checked_targets(root, writes.iter().map(|write| &write.file))?;
    refuse_stale(&targets, &writes)?;

    let after: Vec<Revision> = writes.iter().map(|write| Revision::of(&write.after_bytes)).collect();
    let intents: Vec<Intent<'_>> = writes
        .iter()
        .zip(&after)
        .map(|(write, after)| Intent {
            file: &write.file,
            before: &write.before,
            after,
            pre_image: &write.before_bytes,
        })
        .collect();
    let id = journal.intend(run, &rfc3339(clock.now()), &intents)?;

    let mut replaced = 0;
    let outcome = replace_all(&targets, &writes, &mut replaced, before_replacing);
    if let Err(cause) = outcome {
        let files: Vec<RelPath> = roll_back(&targets, &writes, &after, replaced);
        if !files.is_empty() {
            return Err(ApplyError::NotRestored { run: id, files, source: Box::new(cause) });
        }
        journal.finish(id, RunState::RolledBack, &rfc3339(clock.now()))?;
        return Err(cause);
    }
    journal.finish(id, RunState::Applied, &rfc3339(clock.now()))?;
    Ok(Some(id))
}

/// Settles the run that a crash left unfinished, if there is one. To be called before anything else is written.
pub(crate) fn recover(
    journal: &mut Journal,
    root: &ProjectRoot,
    clock: &dyn Clock,
    foreign: Foreign,
) -> Result<Option<Recovered>, ApplyError> {
    let Some(run) = journal.history().unfinished()? else { return Ok(None) };
    let files = journal.history().run(run)?.files;
    let mut to_restore = Vec::new();
    let mut left = Vec::new();
    let mut all_after = true;
    for file in &files {
        let found = revision_of(&root.join(&file.file));
        all_after &= found.as_ref() == Some(&file.after);
        if found.as_ref() == Some(&file.after) {
            to_restore.push(file);
        } else if found.as_ref() != Some(&file.before) {
            left.push(file.file.clone());
        }
    }
    if !left.is_empty() && foreign == Foreign::Refuse {
        return Err(ApplyError::Foreign { run, files: left });
    }
    remove_staged(root, &files);
    let (to, state) = if all_after {
        to_restore.clear();
        (RecoveredTo::After, RunState::Applied)
    } else {
        (RecoveredTo::Before, RunState::RolledBack)
    };
    let targets = checked_targets(root, to_restore.iter().map(|file| &file.file))?;
    for (target, file) in targets.iter().zip(&to_restore) {
        let bytes = journal.history().pre_image(run, file)?;
        target.stage(&bytes)?.replace()?;
    }
    let restored = to_restore.into_iter().map(|file| file.file.clone()).collect();
    journal.finish(run, state, &rfc3339(clock.now()))?;
    Ok(Some(Recovered { run, to, restored, left }))
}

/// A file that may be replaced.
#[derive(Debug)]
struct Target {
    file: RelPath,
    /// Its real path, no component a symbolic link.
    path: PathBuf,
    metadata: Metadata,
}

impl Target {
    /// The path contract: a regular file, itself no link, that no link puts outside the workspace; writable.
    fn checked(root: &ProjectRoot, file: &RelPath) -> Result<Self, ApplyError> {
        let refused = |refusal| ApplyError::Contract { file: file.clone(), refusal };
        let unreadable = |source| ApplyError::Read { file: file.clone(), source };
        let named = root.join(file);
        let path = named.canonicalize().map_err(unreadable)?;
        if !path.starts_with(root.as_path()) {
            return Err(refused(PathRefusal::Outside));
        }
        let metadata = named.symlink_metadata().map_err(unreadable)?;
        if metadata.is_symlink() {
            return Err(refused(PathRefusal::Link));
        }
        if !metadata.is_file() {
            return Err(refused(PathRefusal::NotAFile));
        }
        if metadata.permissions().readonly() {
            return Err(ApplyError::ReadOnlyFile { file: file.clone() });
        }
        let target = Self { file: file.clone(), path, metadata };
        if target.folder().metadata().map_err(unreadable)?.permissions().readonly() {
            return Err(ApplyError::ReadOnlyFolder { file: file.clone() });
        }
        Ok(target)
    }

    fn folder(&self) -> &Path {
        self.path.parent().expect("a file below the root has a folder")
    }

    /// Puts the new bytes beside the file, complete and on the disk.
    fn stage(&self, bytes: &[u8]) -> Result<Staged<'_>, ApplyError> {
        let write = || -> io::Result<NamedTempFile> {
            let mut staged =
                tempfile::Builder::new().prefix(STAGED_PREFIX).suffix(STAGED_SUFFIX).tempfile_in(self.folder())?;
            staged.write_all(bytes)?;
            keep_owner(staged.as_file(), &self.metadata);
            staged.as_file().set_permissions(self.metadata.permissions())?;
            staged.as_file().sync_all()?;
            Ok(staged)
        };
        let temporary = write().map_err(|source| {
            let forbidden = matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
            let file = self.file.clone();
            if forbidden { ApplyError::ReadOnlyFolder { file } } else { ApplyError::Write { file, source } }
        })?;
        Ok(Staged { target: self, temporary, revision: Revision::of(bytes) })
    }
}

/// New bytes that wait beside the file whose place they will take.
struct Staged<'a> {
    target: &'a Target,
    temporary: NamedTempFile,
    revision: Revision,
}

impl Staged<'_> {
    fn replace(self) -> Result<(), ApplyError> {
        let Target { file, path, .. } = self.target;
        let failed = |source| ApplyError::Write { file: file.clone(), source };
        self.temporary.persist(path).map_err(|error| failed(error.error))?;
        sync_folder(self.target.folder()).map_err(failed)?;
        if revision_of(path).as_ref() == Some(&self.revision) {
            Ok(())
        } else {
            Err(ApplyError::Unverified { file: file.clone() })
        }
    }
}

fn checked_targets<'a>(
    root: &ProjectRoot,
    files: impl Iterator<Item = &'a RelPath>,
) -> Result<Vec<Target>, ApplyError> {
    let mut paths = BTreeSet::new();
    let mut targets = Vec::new();
    for file in files {
        let target = Target::checked(root, file)?;
        if !paths.insert(target.path.clone()) {
            return Err(ApplyError::Contract { file: file.clone(), refusal: PathRefusal::Twice });
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Every file must still hold the bytes that its change was made for.
fn refuse_stale(targets: &[Target], writes: &[PlannedWrite]) -> Result<(), ApplyError> {
    let mut files = Vec::new();
    for (target, write) in targets.iter().zip(writes) {
        let found =
            std::fs::read(&target.path).map_err(|source| ApplyError::Read { file: write.file.clone(), source })?;
        if found != write.before_bytes || Revision::of(&found) != write.before {
            files.push(write.file.clone());
        }
    }
    if files.is_empty() { Ok(()) } else { Err(ApplyError::Stale { files }) }
}

/// Stages all files, then replaces one after the other; counts those whose place may have been taken.
fn replace_all(
    targets: &[Target],
    writes: &[PlannedWrite],
    replaced: &mut usize,
    before_replacing: &mut dyn FnMut(&RelPath),
) -> Result<(), ApplyError> {
    let staged: Vec<Staged<'_>> =
        targets.iter().zip(writes).map(|(target, write)| target.stage(&write.after_bytes)).collect::<Result<_, _>>()?;
    for (staged, write) in staged.into_iter().zip(writes) {
        before_replacing(&write.file);
        if revision_of(&staged.target.path).as_ref() != Some(&write.before) {
            return Err(ApplyError::Stale { files: vec![write.file.clone()] });
        }
        *replaced += 1;
        staged.replace()?;
    }
    Ok(())
}

/// Gives replaced files their old bytes back, the last one first. Answers with those that don't have them.
fn roll_back(targets: &[Target], writes: &[PlannedWrite], after: &[Revision], replaced: usize) -> Vec<RelPath> {
    let done = targets.iter().zip(writes).zip(after).take(replaced);
    let mut failed = Vec::new();
    for ((target, write), after) in done.collect::<Vec<_>>().into_iter().rev() {
        let found = revision_of(&target.path);
        if found.as_ref() == Some(&write.before) {
            continue;
        }
        // Anything else than our own bytes is somebody's work, and stays.
        let ours = found.as_ref() == Some(after);
        if !ours || target.stage(&write.before_bytes).and_then(Staged::replace).is_err() {
            failed.push(write.file.clone());
        }
    }
    failed.reverse();
    failed
}

/// What a crash left beside the files of its run. The lock says that nobody is staging anything now.
fn remove_staged(root: &ProjectRoot, files: &[RunFile]) {
    let folders: BTreeSet<PathBuf> =
        files.iter().filter_map(|file| root.join(&file.file).parent().map(Path::to_owned)).collect();
    for folder in folders {
        let inside = folder.canonicalize().is_ok_and(|real| real.starts_with(root.as_path()));
        let Some(entries) = inside.then(|| std::fs::read_dir(&folder).ok()).flatten() else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let ours =
                name.to_str().is_some_and(|name| name.starts_with(STAGED_PREFIX) && name.ends_with(STAGED_SUFFIX));
            if ours {
                // A leftover that can't be removed does no harm: its name is no module's.
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
}

fn revision_of(path: &Path) -> Option<Revision> {
    std::fs::read(path).ok().map(|bytes| Revision::of(&bytes))
}

/// Makes the folder's new entry durable.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A folder can't be opened as a file here; the file system orders renames by itself.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere this can fail")]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Lets the new file belong to whom the old one did, as far as the system allows: an edit as root must not take
/// files away from their owner.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata().ok().map(|new| (new.uid(), new.gid()));
    if new != Some((old.uid(), old.gid())) {
        drop(fchown(file, Some(old.uid()), Some(old.gid())));
    }
}

#[cfg(not(unix))]
const fn keep_owner(_file: &File, _old: &Metadata) {}
