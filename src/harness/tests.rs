//! Apply, undo and recover on real files.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::apply::apply_with;
use super::journal::Intent;
use super::*;
use crate::text::{ProjectRoot, RelPath, Revision};

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_mins(29_935_470)
    }
}

/// A workspace in a temporary folder.
struct Workspace {
    root: ProjectRoot,
    _folder: tempfile::TempDir,
}

impl Workspace {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let workspace = Self { root: ProjectRoot::from_canonical(root), _folder: folder };
        for (file, bytes) in files {
            workspace.put(file, bytes);
        }
        workspace
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.as_path().join(file)
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes its own tree")]
    fn put(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn get(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).unwrap()
    }

    fn state(&self) -> PathBuf {
        self.path(STATE_FOLDER)
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.state()).unwrap()
    }

    /// A change of a file as it is now.
    fn change(&self, file: &str, after: &[u8]) -> PlannedWrite {
        change(file, &self.get(file), after)
    }

    fn apply(&self, writes: Vec<PlannedWrite>) -> Result<Option<RunId>, ApplyError> {
        apply(&mut self.journal(), &self.root, &FixedClock, &edit(), writes)
    }

    fn undo(&self, run: Option<RunId>) -> Result<UndoOutcome, UndoError> {
        undo(&mut self.journal(), &self.root, &FixedClock, run)
    }

    fn recover(&self, foreign: Foreign) -> Result<Option<Recovered>, ApplyError> {
        recover(&mut self.journal(), &self.root, &FixedClock, foreign)
    }

    fn states(&self) -> Vec<RunState> {
        History::open(&self.state()).unwrap().runs().unwrap().into_iter().map(|run| run.state).collect()
    }

    /// Names of all files below the root, apart from the state folder.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.root.as_path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(STATE_FOLDER) {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else {
                    names.push(path.strip_prefix(self.root.as_path()).unwrap().display().to_string());
                }
            }
        }
        names.sort();
        names
    }

    /// Leaves behind what a crash between the renames leaves: the intent, and only some files after.
    fn crash(&self, writes: &[PlannedWrite], replaced: &[&str]) -> RunId {
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
        let run = self.journal().intend(&edit(), "2026-12-01T12:30:00Z", &intents).unwrap();
        for write in writes.iter().filter(|write| replaced.contains(&write.file.as_str())) {
            self.put(write.file.as_str(), &write.after_bytes);
        }
        self.put(".tainie-Xy12.tmp", b"half a");
        run
    }
}

fn path(file: &str) -> RelPath {
    RelPath::new(file).unwrap()
}

fn change(file: &str, before: &[u8], after: &[u8]) -> PlannedWrite {
    PlannedWrite {
        file: path(file),
        before: Revision::of(before),
        before_bytes: before.to_vec(),
        after_bytes: after.to_vec(),
    }
}

fn edit() -> NewRun {
    NewRun { command: "edit".to_owned(), symbol: Some("core.f".to_owned()), ..NewRun::default() }
}

const NASTY: &[u8] = b"\xef\xbb\xbff(1)\r\nf(2)\rf(3)\n\n# caf\xc3\xa9";

#[test]
fn what_was_applied_is_undone_byte_for_byte() {
    let workspace = Workspace::new(&[("a.py", NASTY), ("p/b.py", b"f(1)"), ("other.py", b"x\n")]);
    let run = workspace
        .apply(vec![workspace.change("p/b.py", b"f(1, v=True)"), workspace.change("a.py", b"\xef\xbb\xbff()\r\n")])
        .unwrap()
        .unwrap();
    assert_eq!(workspace.get("a.py"), b"\xef\xbb\xbff()\r\n");
    assert_eq!(workspace.get("p/b.py"), b"f(1, v=True)");
    let outcome = workspace.undo(None).unwrap();
    assert_eq!((outcome.undone, outcome.files), (run, vec![path("a.py"), path("p/b.py")]));
    assert_eq!(workspace.get("a.py"), NASTY);
    assert_eq!(workspace.get("p/b.py"), b"f(1)");
    assert_eq!(workspace.names(), ["a.py", "other.py", "p/b.py"], "nothing is left behind");
}

#[test]
fn the_record_tells_what_was_done() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
    workspace.undo(None).unwrap();
    let runs = History::open(&workspace.state()).unwrap().runs().unwrap();
    let [first, second] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!((first.command.as_str(), first.symbol.as_deref()), ("edit", Some("core.f")));
    assert_eq!(first.started, "2026-12-01T12:30:00Z");
    assert_eq!(first.ended.as_deref(), Some("2026-12-01T12:30:00Z"));
    assert_eq!((first.state, second.state), (RunState::Undone, RunState::Applied));
    assert_eq!((second.command.as_str(), second.undoes), ("undo", Some(first.id)));
    let file = RunFile { file: path("a.py"), before: Revision::of(b"1"), after: Revision::of(b"2") };
    assert_eq!(first.files, [file]);
}

#[test]
fn an_undo_can_be_undone_and_that_too() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    let run = workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
    let first = workspace.undo(run).unwrap().run;
    let second = workspace.undo(Some(first)).unwrap().run;
    assert_eq!(workspace.get("a.py"), b"2");
    assert_eq!(workspace.states(), [RunState::Applied, RunState::Undone, RunState::Applied]);
    workspace.undo(Some(second)).unwrap();
    assert_eq!(workspace.get("a.py"), b"1");
    assert_eq!(workspace.states(), [RunState::Undone, RunState::Applied, RunState::Undone, RunState::Applied]);
}

#[test]
fn undo_without_a_run_goes_one_further_back_each_time() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
    workspace.apply(vec![workspace.change("a.py", b"3")]).unwrap();
    workspace.undo(None).unwrap();
    assert_eq!(workspace.get("a.py"), b"2");
    workspace.undo(None).unwrap();
    assert_eq!(workspace.get("a.py"), b"1");
    assert!(matches!(workspace.undo(None), Err(UndoError::Nothing)));
}

#[test]
fn a_run_that_is_undone_cannot_be_undone_again() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    let run = workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
    workspace.undo(run).unwrap();
    assert!(matches!(workspace.undo(run), Err(UndoError::NotApplied { state: RunState::Undone, .. })));
}

#[test]
fn undo_refuses_files_that_changed_since_and_touches_none() {
    let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1"), ("c.py", b"1")]);
    let writes = ["a.py", "b.py", "c.py"].map(|file| workspace.change(file, b"2"));
    workspace.apply(writes.to_vec()).unwrap();
    workspace.put("b.py", b"somebody's work");
    std::fs::remove_file(workspace.path("c.py")).unwrap();
    let error = workspace.undo(None).unwrap_err();
    let changed = [path("b.py"), path("c.py")];
    assert!(matches!(&error, UndoError::Changed { files, .. } if *files == changed), "{error}");
    assert_eq!((workspace.get("a.py"), workspace.get("b.py")), (b"2".to_vec(), b"somebody's work".to_vec()));
}

#[test]
fn a_stale_file_is_refused_and_nothing_is_written() {
    let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1")]);
    let writes = vec![workspace.change("a.py", b"2"), workspace.change("b.py", b"2")];
    workspace.put("b.py", b"somebody's work");
    let error = workspace.apply(writes).unwrap_err();
    assert!(matches!(&error, ApplyError::Stale { files } if *files == [path("b.py")]), "{error}");
    assert_eq!(workspace.get("a.py"), b"1");
    assert!(workspace.states().is_empty(), "a run that never began isn't recorded");
}

#[test]
fn bytes_that_are_not_of_the_recorded_revision_are_stale() {
    let workspace = Workspace::new(&[("a.py", b"now")]);
    let mut write = workspace.change("a.py", b"2");
    write.before = Revision::of(b"at the time of the scout");
    assert!(matches!(workspace.apply(vec![write]), Err(ApplyError::Stale { .. })));
}

#[test]
fn a_file_that_changes_between_two_renames_brings_the_others_back() {
    let workspace = Workspace::new(&[("a.py", NASTY), ("b.py", b"1"), ("c.py", b"1")]);
    let writes = ["a.py", "b.py", "c.py"].map(|file| workspace.change(file, b"2")).to_vec();
    let mut seen = Vec::new();
    let error = apply_with(&mut workspace.journal(), &workspace.root, &FixedClock, &edit(), writes, &mut |file| {
        seen.push(file.to_string());
        if file.as_str() == "b.py" {
            assert_eq!(workspace.get("a.py"), b"2");
            workspace.put("b.py", b"somebody's work");
        }
    })
    .unwrap_err();
    assert!(matches!(error, ApplyError::Stale { .. }), "{error}");
    assert_eq!(seen, ["a.py", "b.py"]);
    assert_eq!(workspace.get("a.py"), NASTY);
    assert_eq!((workspace.get("b.py"), workspace.get("c.py")), (b"somebody's work".to_vec(), b"1".to_vec()));
    assert_eq!(workspace.states(), [RunState::RolledBack]);
    assert_eq!(workspace.names(), ["a.py", "b.py", "c.py"]);
}

#[test]
fn what_cannot_be_rolled_back_is_told_and_stays_for_recover() {
    let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1")]);
    let writes = ["a.py", "b.py"].map(|file| workspace.change(file, b"2")).to_vec();
    let error = apply_with(&mut workspace.journal(), &workspace.root, &FixedClock, &edit(), writes, &mut |file| {
        if file.as_str() == "b.py" {
            workspace.put("a.py", b"somebody's work");
            workspace.put("b.py", b"somebody's work");
        }
    })
    .unwrap_err();
    assert!(matches!(&error, ApplyError::NotRestored { files, .. } if *files == [path("a.py")]), "{error}");
    assert_eq!(workspace.states(), [RunState::Intended]);
    assert_eq!(workspace.get("a.py"), b"somebody's work");
}

#[test]
fn nothing_to_write_is_no_run() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    assert_eq!(workspace.apply(vec![workspace.change("a.py", b"1")]).unwrap(), None);
    assert_eq!(workspace.apply(Vec::new()).unwrap(), None);
    assert!(workspace.states().is_empty());
}

#[test]
fn a_crash_before_during_and_after_the_renames_is_brought_to_all_before_or_all_after() {
    let files = ["a.py", "b.py", "p/c.py"];
    for replaced in 0..=files.len() {
        let workspace = Workspace::new(&[("a.py", NASTY), ("b.py", b"1"), ("p/c.py", b"1")]);
        let writes = files.map(|file| workspace.change(file, b"2"));
        let run = workspace.crash(&writes, &files[..replaced]);
        let stopped = workspace.apply(vec![workspace.change("a.py", b"3")]).unwrap_err();
        assert!(matches!(stopped, ApplyError::Unfinished { run: unfinished } if unfinished == run), "{stopped}");

        let recovered = workspace.recover(Foreign::Refuse).unwrap().unwrap();
        let (to, state) = if replaced == files.len() {
            (RecoveredTo::After, RunState::Applied)
        } else {
            (RecoveredTo::Before, RunState::RolledBack)
        };
        assert_eq!((recovered.run, recovered.to), (run, to), "{replaced} replaced");
        assert_eq!(workspace.states(), [state]);
        for (file, write) in files.iter().zip(&writes) {
            let expected = if to == RecoveredTo::After { &write.after_bytes } else { &write.before_bytes };
            assert_eq!(&workspace.get(file), expected, "{file}, {replaced} replaced");
        }
        assert_eq!(workspace.names(), files, "staged leftovers are gone");
        assert_eq!(workspace.recover(Foreign::Refuse).unwrap(), None, "once is enough");
    }
}

#[test]
fn an_undo_after_a_crash_takes_back_the_run_that_crashed_and_no_other() {
    for replaced in [&["a.py"][..], &["a.py", "b.py"]] {
        let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1")]);
        workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
        let writes = ["a.py", "b.py"].map(|file| workspace.change(file, b"3"));
        let run = workspace.crash(&writes, replaced);
        let root = Some(&workspace.root);
        let done = undo_run(&Surroundings::default(), workspace.root.as_path(), root, None, &FixedClock).unwrap();
        assert_eq!(done.undone, run);
        assert_eq!((workspace.get("a.py"), workspace.get("b.py")), (b"2".to_vec(), b"1".to_vec()));
        undo_run(&Surroundings::default(), workspace.root.as_path(), root, None, &FixedClock).unwrap();
        assert_eq!(workspace.get("a.py"), b"1");
    }
}

#[test]
fn recover_never_overwrites_somebody_elses_work() {
    let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1"), ("c.py", b"1")]);
    let writes = ["a.py", "b.py", "c.py"].map(|file| workspace.change(file, b"2"));
    workspace.crash(&writes, &["a.py", "b.py"]);
    workspace.put("b.py", b"somebody's work");
    let error = workspace.recover(Foreign::Refuse).unwrap_err();
    assert!(matches!(&error, ApplyError::Foreign { files, .. } if *files == [path("b.py")]), "{error}");
    assert_eq!(workspace.get("a.py"), b"2");
    let recovered = workspace.recover(Foreign::Leave).unwrap().unwrap();
    assert_eq!((recovered.restored, recovered.left), (vec![path("a.py")], vec![path("b.py")]));
    assert_eq!((workspace.get("a.py"), workspace.get("b.py")), (b"1".to_vec(), b"somebody's work".to_vec()));
}

#[test]
fn a_second_writer_is_refused_while_a_journal_is_open() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    let _held = workspace.journal();
    assert!(matches!(Journal::open(&workspace.state()).err(), Some(JournalError::Locked { .. })));
}

#[test]
fn a_copied_tree_keeps_its_history() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    workspace.apply(vec![workspace.change("a.py", b"2")]).unwrap();
    let copy = Workspace::new(&[("a.py", b"2")]);
    std::fs::create_dir(copy.state()).unwrap();
    std::fs::copy(workspace.state().join("journal.db"), copy.state().join("journal.db")).unwrap();
    copy.undo(None).unwrap();
    assert_eq!((copy.get("a.py"), workspace.get("a.py")), (b"1".to_vec(), b"2".to_vec()));
}

#[test]
fn a_path_twice_is_refused() {
    let workspace = Workspace::new(&[("a.py", b"1")]);
    let error = workspace.apply(vec![workspace.change("a.py", b"2"), workspace.change("a.py", b"3")]).unwrap_err();
    assert!(matches!(error, ApplyError::Contract { refusal: PathRefusal::Twice, .. }), "{error}");
}

#[test]
fn a_folder_and_a_missing_file_are_refused() {
    let workspace = Workspace::new(&[("p/a.py", b"1")]);
    let error = workspace.apply(vec![change("p", b"", b"2")]).unwrap_err();
    assert!(matches!(error, ApplyError::Contract { refusal: PathRefusal::NotAFile, .. }), "{error}");
    assert!(matches!(workspace.apply(vec![change("gone.py", b"", b"2")]), Err(ApplyError::Read { .. })));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set_mode(workspace: &Workspace, file: &str, mode: u32) {
        std::fs::set_permissions(workspace.path(file), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(workspace: &Workspace, file: &str) -> u32 {
        workspace.path(file).metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn modes_are_kept_by_apply_and_undo() {
        let workspace = Workspace::new(&[("a.py", b"1"), ("b.py", b"1")]);
        set_mode(&workspace, "a.py", 0o755);
        set_mode(&workspace, "b.py", 0o600);
        workspace.apply(vec![workspace.change("a.py", b"2"), workspace.change("b.py", b"2")]).unwrap();
        assert_eq!((mode(&workspace, "a.py"), mode(&workspace, "b.py")), (0o755, 0o600));
        workspace.undo(None).unwrap();
        assert_eq!((mode(&workspace, "a.py"), mode(&workspace, "b.py")), (0o755, 0o600));
    }

    #[test]
    fn read_only_files_and_folders_are_refused_and_nothing_is_written() {
        let workspace = Workspace::new(&[("a.py", b"1"), ("p/b.py", b"1")]);
        let writes = || vec![workspace.change("a.py", b"2"), workspace.change("p/b.py", b"2")];
        set_mode(&workspace, "p/b.py", 0o444);
        let error = workspace.apply(writes()).unwrap_err();
        assert!(matches!(&error, ApplyError::ReadOnlyFile { file } if *file == path("p/b.py")), "{error}");
        set_mode(&workspace, "p/b.py", 0o644);
        set_mode(&workspace, "p", 0o555);
        let error = workspace.apply(writes()).unwrap_err();
        assert!(matches!(&error, ApplyError::ReadOnlyFolder { file } if *file == path("p/b.py")), "{error}");
        set_mode(&workspace, "p", 0o755);
        assert_eq!(workspace.get("a.py"), b"1");
        assert!(workspace.states().is_empty());
    }

    #[test]
    fn a_read_only_workspace_gets_no_state_folder() {
        let workspace = Workspace::new(&[("a.py", b"1")]);
        set_mode(&workspace, ".", 0o555);
        let error = Journal::open(&workspace.state()).err();
        set_mode(&workspace, ".", 0o755);
        assert!(matches!(error, Some(JournalError::Folder { .. })));
        assert!(!workspace.state().exists());
    }

    fn refusal(workspace: &Workspace, file: &str) -> PathRefusal {
        match workspace.apply(vec![workspace.change(file, b"2")]) {
            Err(ApplyError::Contract { refusal, .. }) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn links_that_leave_the_workspace_are_refused() {
        let workspace = Workspace::new(&[("in.py", b"1"), ("../outside/x.py", b"1")]);
        symlink(workspace.path("../outside"), workspace.path("folder")).unwrap();
        symlink(workspace.path("../outside/x.py"), workspace.path("link.py")).unwrap();
        symlink("in.py", workspace.path("inner.py")).unwrap();
        assert_eq!(refusal(&workspace, "folder/x.py"), PathRefusal::Outside);
        assert_eq!(refusal(&workspace, "link.py"), PathRefusal::Outside);
        assert_eq!(refusal(&workspace, "inner.py"), PathRefusal::Link);
        assert_eq!((workspace.get("link.py"), workspace.get("in.py")), (b"1".to_vec(), b"1".to_vec()));
    }

    #[test]
    fn a_sibling_whose_name_begins_like_the_workspace_is_outside() {
        let workspace = Workspace::new(&[("../work2/x.py", b"1")]);
        symlink(workspace.path("../work2"), workspace.path("folder")).unwrap();
        assert_eq!(refusal(&workspace, "folder/x.py"), PathRefusal::Outside);
    }

    #[test]
    fn one_file_by_two_paths_is_refused() {
        let workspace = Workspace::new(&[("p/a.py", b"1")]);
        symlink("p", workspace.path("q")).unwrap();
        let writes = vec![workspace.change("p/a.py", b"2"), workspace.change("q/a.py", b"3")];
        let error = workspace.apply(writes).unwrap_err();
        assert!(matches!(error, ApplyError::Contract { refusal: PathRefusal::Twice, .. }), "{error}");
    }

    #[test]
    fn a_journal_that_names_a_way_out_is_not_followed_by_undo() {
        let workspace = Workspace::new(&[("p/a.py", b"1"), ("../outside/a.py", b"2")]);
        workspace.apply(vec![workspace.change("p/a.py", b"2")]).unwrap();
        std::fs::remove_dir_all(workspace.path("p")).unwrap();
        symlink(workspace.path("../outside"), workspace.path("p")).unwrap();
        let error = workspace.undo(None).unwrap_err();
        assert!(matches!(error, UndoError::Apply(ApplyError::Contract { .. })), "{error}");
        assert_eq!(workspace.get("../outside/a.py"), b"2");
    }
}
