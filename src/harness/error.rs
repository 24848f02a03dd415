//! Why the record can't be kept, files can't be written, or a run can't be undone.

use std::io;
use std::path::PathBuf;

use super::journal::{RunId, RunState};
use crate::text::RelPath;

/// Why no state folder was found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    #[error("no journal in {} or any folder above", start.display())]
    NoJournal { start: PathBuf, looked: Vec<PathBuf> },
}

/// Why the journal can't be read or kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    #[error("the journal {} has format {found}, and this program knows {known}", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("there is no journal {}", path.display())]
    Missing { path: PathBuf },
    #[error("another process{} is writing in this workspace (lock {})", owner(process.as_deref()), path.display())]
    Locked { path: PathBuf, process: Option<String> },
    #[error("{} can't be used as a state folder", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the journal {} failed", path.display())]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the journal {} is damaged: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error("the journal has no run {run}; `tainie history` numbers them")]
    NoSuchRun { run: RunId },
}

/// Which part of the path contract a file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathRefusal {
    /// A symbolic link leads out of the workspace.
    Outside,
    /// The file itself is a symbolic link.
    Link,
    /// A folder, a pipe, a device.
    NotAFile,
    /// Two paths of the run lead to this file.
    Twice,
}

impl PathRefusal {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Outside => "a symbolic link leads out of the workspace",
            Self::Link => "it is a symbolic link",
            Self::NotAFile => "it is not a regular file",
            Self::Twice => "two paths of the run lead to it",
        }
    }
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("run {run} was interrupted and has to be recovered first")]
    Unfinished { run: RunId },
    #[error("changed since they were read: {}", list(files))]
    Stale { files: Vec<RelPath> },
    #[error("{file} can't be written: {}", refusal.as_str())]
    Contract { file: RelPath, refusal: PathRefusal },
    #[error("{file} is read-only")]
    ReadOnlyFile { file: RelPath },
    #[error("{file} can't be replaced, since its folder is read-only")]
    ReadOnlyFolder { file: RelPath },
    #[error("{file} can't be read")]
    Read {
        file: RelPath,
        #[source]
        source: io::Error,
    },
    #[error("{file} can't be written")]
    Write {
        file: RelPath,
        #[source]
        source: io::Error,
    },
    #[error("{file} holds other bytes than were just written")]
    Unverified { file: RelPath },
    /// Files that a crashed run wrote hold what neither the run nor its pre-images say.
    #[error("run {run} was interrupted, and somebody changed its files since: {}", list(files))]
    Foreign { run: RunId, files: Vec<RelPath> },
    #[error("run {run} failed half-way, and these files could not be brought back: {}", list(files))]
    NotRestored {
        run: RunId,
        files: Vec<RelPath>,
        #[source]
        source: Box<Self>,
    },
}

/// Why a run can't be undone; nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UndoError {
    #[error("there is no run to undo")]
    Nothing,
    #[error("run {run} can't be undone: it is {}", state.as_str())]
    NotApplied { run: RunId, state: RunState },
    #[error("run {run} can't be undone, since these files no longer hold what it wrote: {}", list(files))]
    Changed { run: RunId, files: Vec<RelPath> },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

fn owner(process: Option<&str>) -> String {
    process.map(|id| format!(" ({id})")).unwrap_or_default()
}

fn list(files: &[RelPath]) -> String {
    files.iter().map(RelPath::as_str).collect::<Vec<_>>().join(", ")
}
