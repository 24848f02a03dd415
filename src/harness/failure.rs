//! Why a command has no result, in kinds that the command line turns into exit codes and advice.

use crate::checker::CheckerError;
use crate::editor::EditorError;
use crate::gate::GateError;
use crate::lsp::LspError;
use crate::scout::{Candidate, ScoutError};
use crate::text::{EditError, PathError};

use super::{ApplyError, JournalError, StateError, TaskError, UndoError};

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
    /// Word the instruction exactly, or name a model server.
    WordOrModel,
    /// Name a model server.
    NameServer,
    /// Build the program with its model editor.
    BuildWithModel,
    /// How to say which symbol and what to do.
    NameSymbol,
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
    #[error("{file} can't be read: {reason}")]
    Unreadable { file: String, reason: String },
    #[error("the oracle `{command}` can't be run: {reason}")]
    Oracle { command: String, reason: String },
    #[error("the gate can't judge here")]
    Gate(#[from] GateError),
    #[error("the edits don't fit together")]
    Edits(#[from] EditError),
    #[error("the task file {file} can't be used")]
    Task { file: String, source: TaskError },
    #[error("the task file {file} names no symbol of the workspace{}", tried(names))]
    NoSymbol { file: String, names: Vec<String> },
    #[error("the instruction isn't one that rules can carry out: {reason}")]
    NotUnderstood { reason: String },
    #[error("there is no instruction")]
    NoInstruction,
    #[error("the model can't be asked")]
    Model(#[from] EditorError),
    #[error("no model server was named")]
    NoServer,
    #[error("this build has no model editor (the feature `openai` is off)")]
    NoModelBuilt,
    #[error("the worklist can't be used: {reason}")]
    Worklist { reason: String },
    #[error("{pattern:?} is no glob pattern: {reason}")]
    Glob { pattern: String, reason: String },
    #[error("no run {run:?}; `tainie history` numbers them")]
    NoRun { run: String },
    #[error("{path} can't be prepared: {reason}")]
    Demo { path: String, reason: String },
    #[error("{argument}: {reason}")]
    Argument { argument: String, reason: String },
}

impl HarnessError {
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::Scout(error) => scout_failure(error),
            Self::Checker(_)
            | Self::Lsp(_)
            | Self::State(_)
            | Self::Unreadable { .. }
            | Self::Oracle { .. }
            | Self::Gate(_)
            | Self::NotUnderstood { .. }
            | Self::NoServer
            | Self::NoModelBuilt
            | Self::Model(_)
            | Self::Demo { .. }
            | Self::NoRun { .. } => Failure::Impossible,
            Self::Journal(JournalError::Missing { .. } | JournalError::NoSuchRun { .. })
            | Self::Undo(UndoError::Nothing | UndoError::NotApplied { .. }) => Failure::Impossible,
            Self::Undo(UndoError::Journal(JournalError::Missing { .. } | JournalError::NoSuchRun { .. })) => {
                Failure::Impossible
            }
            Self::Journal(_) | Self::Apply(_) | Self::Undo(_) => Failure::Refused,
            Self::Path(_)
            | Self::Workspace { .. }
            | Self::Task { .. }
            | Self::NoSymbol { .. }
            | Self::NoInstruction
            | Self::Worklist { .. }
            | Self::Glob { .. }
            | Self::Argument { .. } => Failure::Malformed,
            Self::Edits(_) => Failure::Bug,
        }
    }

    pub(crate) fn advice(&self) -> Advice {
        match self {
            Self::Scout(ScoutError::NotFound { close, .. }) => Advice::CloseNames(close.clone()),
            Self::Scout(ScoutError::Ambiguous { candidates, .. }) => Advice::Candidates(candidates.clone()),
            Self::Scout(ScoutError::Checker(_) | ScoutError::Lsp(_)) | Self::Checker(_) => Advice::Setup,
            Self::Apply(ApplyError::Stale { .. }) => Advice::Scout,
            Self::Apply(ApplyError::ReadOnlyFile { .. } | ApplyError::ReadOnlyFolder { .. }) => Advice::Permissions,
            Self::Journal(JournalError::Folder { .. })
            | Self::Apply(ApplyError::Journal(JournalError::Folder { .. })) => Advice::Permissions,
            Self::Journal(JournalError::Locked { .. })
            | Self::Apply(ApplyError::Journal(JournalError::Locked { .. })) => Advice::Wait,
            Self::NotUnderstood { .. } => Advice::WordOrModel,
            Self::NoServer | Self::Model(_) => Advice::NameServer,
            Self::NoModelBuilt => Advice::BuildWithModel,
            Self::NoSymbol { .. } | Self::NoInstruction => Advice::NameSymbol,
            _ => Advice::None,
        }
    }
}

fn tried(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (tried: {})", names.join(", ")) }
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
