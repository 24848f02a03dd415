//! Why a command has no result, in kinds that the command line turns into exit codes and advice.

use crate::checker::CheckerError;
use crate::lsp::LspError;
use crate::scout::{Candidate, ScoutError};
use crate::text::PathError;

use super::{ApplyError, JournalError, StateError, UndoError};

/// How bad it is, as DESIGN's table of exit codes has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line, the task, the worklist is malformed, or the workspace isn't there.
    Malformed,
    /// It can't be carried out here.
    Impossible,
    /// Refused to write.
    Refused,
    /// A bug in tainie.
    Bug,
}

/// What the user can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Advice {
    None,
    /// Symbols that are spelled almost like it.
    CloseNames(Vec<Candidate>),
    /// The symbols that the name could mean.
    Candidates(Vec<Candidate>),
    /// There is no usable pyrefly.
    Setup,
    /// The files changed since they were read.
    Scout,
    /// Another process is at work.
    Wait,
    /// A file or folder can't be written.
    Permissions,
}

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HarnessError {
    #[error(transparent)]
    Scout(#[from] ScoutError),
    #[error("no usable type checker")]
    Checker(#[from] CheckerError),
    #[error("the language server failed")]
    Lsp(#[from] LspError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error(transparent)]
    Undo(#[from] UndoError),
    #[error("the path can't be used")]
    Path(#[from] PathError),
    #[error("{path} can't be used as a workspace: {reason}")]
    Workspace { path: String, reason: String },
    #[error("{argument}: {reason}")]
    Argument { argument: String, reason: String },
}

impl HarnessError {
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::Scout(error) => scout_failure(error),
            Self::Checker(_) | Self::Lsp(_) | Self::State(_) => Failure::Impossible,
            Self::Journal(_) | Self::Apply(_) | Self::Undo(_) => Failure::Refused,
            Self::Path(_) | Self::Workspace { .. } | Self::Argument { .. } => Failure::Malformed,
        }
    }

    pub(crate) fn advice(&self) -> Advice {
        match self {
            Self::Scout(ScoutError::NotFound { close, .. }) => Advice::CloseNames(close.clone()),
            Self::Scout(ScoutError::Ambiguous { candidates, .. }) => Advice::Candidates(candidates.clone()),
            Self::Scout(ScoutError::Checker(_) | ScoutError::Lsp(_)) | Self::Checker(_) => Advice::Setup,
            Self::Apply(ApplyError::Stale { .. }) => Advice::Scout,
            Self::Apply(ApplyError::ReadOnlyFile { .. } | ApplyError::ReadOnlyFolder { .. }) => Advice::Permissions,
            Self::Journal(JournalError::Folder { .. }) | Self::Apply(ApplyError::Journal(JournalError::Folder { .. })) => {
                Advice::Permissions
            }
            Self::Journal(JournalError::Locked { .. }) | Self::Apply(ApplyError::Journal(JournalError::Locked { .. })) => {
                Advice::Wait
            }
            _ => Advice::None,
        }
    }
}

fn scout_failure(error: &ScoutError) -> Failure {
    match error {
        ScoutError::NoWorkspace { .. }
        | ScoutError::Symbol(_)
        | ScoutError::Position { .. }
        | ScoutError::NoFile { .. }
        | ScoutError::Path(_) => Failure::Malformed,
        ScoutError::NoPython { .. }
        | ScoutError::NotFound { .. }
        | ScoutError::Ambiguous { .. }
        | ScoutError::NothingThere { .. }
        | ScoutError::Unreadable { .. }
        | ScoutError::Lsp(_)
        | ScoutError::Checker(_) => Failure::Impossible,
        ScoutError::Worklist(_) => Failure::Bug,
    }
}
