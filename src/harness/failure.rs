//! Why a command has no result, in kinds that the command line turns into exit codes and advice.

use crate::checker::CheckerError;
use crate::editor::EditorError;
use crate::gate::GateError;
use crate::lsp::LspError;
use crate::scout::{Candidate, ScoutError};
use crate::text::{EditError, PathError, RelPath};

use super::{ApplyError, JournalError, RunId, StateError, TaskError, UndoError};

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
    /// No name stands at the place.
    AnotherPlace,
    /// There is no usable pyrefly.
    Setup,
    /// pyrefly says what in the project stops it.
    MendProject,
    /// pyrefly can't be installed here.
    Installer,
    /// The files changed since they were read.
    Scout,
    /// They changed since the worklist was made: only a new one is of use.
    ScoutAgain {
        symbol: String,
    },
    /// The files of a run hold something else by now.
    BringBack {
        run: RunId,
    },
    /// Name another folder.
    NameWorkspace,
    /// Another process is at work.
    Wait,
    /// A file of the project can't be written.
    FileWritable {
        file: String,
    },
    /// The folder of a file of the project can't be written.
    FolderWritable {
        folder: String,
    },
    /// The journal can't be kept where it is.
    StateWritable,
    /// The journal can't be read.
    MoveJournal {
        path: String,
    },
    /// No program can be given the folder's name.
    RenameFolder,
    /// Word the instruction exactly, or name a model server.
    WordOrModel,
    /// Name a model server.
    NameServer,
    /// Let the model server take longer, or name another one.
    GiveTime,
    /// Build the program with its model editor.
    BuildWithModel,
    /// The folders in which a journal was looked for.
    Looked(Vec<String>),
    /// How to say which symbol.
    NameSymbol,
    /// How to say what to do.
    SayWhat,
    /// A second opinion comes from a server that is installed, with this command where it is a known one.
    InstallServer(Option<String>),
}

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HarnessError {
    #[error(transparent)]
    Scout(#[from] ScoutError),
    #[error("{}", if matches!(.0, CheckerError::NoAnswer { .. }) { "the type checker can't read this project" } else { "no usable type checker" })]
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
    #[error("{path} can't be used as a workspace: the path isn't UTF-8, and the type checker can't be given another")]
    WorkspaceName { path: String },
    #[error("{file} can't be read: {reason}")]
    Unreadable { file: String, reason: String },
    #[error("the oracle `{command}` can't be run: {reason}")]
    Oracle { command: String, reason: String },
    #[error("the oracle `{command}` changed what it is to judge: {}; nothing was written", files.join(", "))]
    OracleMeddles { command: String, files: Vec<String> },
    #[error("the gate can't judge here")]
    Gate(#[from] GateError),
    #[error("the edits don't fit together")]
    Edits(#[from] EditError),
    #[error("the {what} {path} can't be read: {reason}")]
    NoInput { what: &'static str, path: String, reason: String },
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
    #[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "only a build with the client needs a server"))]
    NoServer,
    #[cfg_attr(feature = "openai", expect(dead_code, reason = "this build has one"))]
    #[error("this build has no model editor (the feature `openai` is off)")]
    NoModelBuilt,
    #[error("the worklist {file} can't be used: {reason}")]
    Worklist { file: String, reason: String },
    #[error("the worklist {file} is refused: {reason}")]
    WorklistRefused { file: String, reason: String },
    #[error("the worklist {file} is of files that changed since: {}", list(files))]
    WorklistStale { file: String, symbol: String, files: Vec<RelPath> },
    #[error("none of the files of the worklist {file} is in {workspace} as it was; it was made in {made_in}")]
    WorklistElsewhere { file: String, workspace: String, made_in: String },
    #[error("{pattern:?} is no glob pattern: {reason}")]
    Glob { pattern: String, reason: String },
    #[error("no run {run:?}; `tainie history` numbers them")]
    NoRun { run: String },
    #[error("{path} can't be prepared: {reason}")]
    Demo { path: String, reason: String },
    #[error("no language server `{server}` to ask for a second opinion")]
    NoOpinion { server: String, install: Option<String> },
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
            | Self::WorkspaceName { .. }
            | Self::Oracle { .. }
            | Self::OracleMeddles { .. }
            | Self::Gate(_)
            | Self::NotUnderstood { .. }
            | Self::NoServer
            | Self::NoModelBuilt
            | Self::Model(_)
            | Self::Demo { .. }
            | Self::NoRun { .. }
            | Self::NoOpinion { .. }
            | Self::Journal(JournalError::Missing { .. } | JournalError::NoSuchRun { .. })
            | Self::Undo(
                UndoError::Nothing
                | UndoError::NotApplied { .. }
                | UndoError::Journal(JournalError::Missing { .. } | JournalError::NoSuchRun { .. }),
            ) => Failure::Impossible,
            // The task is well formed, but none of its names is one of this workspace.
            Self::NoSymbol { names, .. } if !names.is_empty() => Failure::Impossible,
            Self::Journal(_)
            | Self::Apply(_)
            | Self::Undo(_)
            | Self::WorklistRefused { .. }
            | Self::WorklistStale { .. } => Failure::Refused,
            Self::Path(_)
            | Self::Workspace { .. }
            | Self::NoInput { .. }
            | Self::Task { .. }
            | Self::NoSymbol { .. }
            | Self::NoInstruction
            | Self::Worklist { .. }
            | Self::WorklistElsewhere { .. }
            | Self::Glob { .. }
            | Self::Argument { .. } => Failure::Malformed,
            Self::Edits(_) => Failure::Bug,
        }
    }

    pub(crate) fn advice(&self) -> Advice {
        match self {
            Self::Scout(ScoutError::NotFound { close, .. }) => Advice::CloseNames(close.clone()),
            Self::Scout(ScoutError::Ambiguous { candidates, .. }) => Advice::Candidates(candidates.clone()),
            Self::Scout(ScoutError::Position { .. } | ScoutError::NothingThere { .. }) => Advice::AnotherPlace,
            Self::Checker(CheckerError::NoInstaller | CheckerError::Install { .. }) => Advice::Installer,
            // A program that is there and says nothing about this project isn't mended by installing it again.
            Self::Scout(ScoutError::Checker(CheckerError::NoAnswer { .. }))
            | Self::Checker(CheckerError::NoAnswer { .. }) => Advice::MendProject,
            Self::Scout(ScoutError::Checker(_) | ScoutError::Lsp(_)) | Self::Checker(_) => Advice::Setup,
            Self::WorklistStale { symbol, .. } => Advice::ScoutAgain { symbol: symbol.clone() },
            Self::Undo(UndoError::Changed { run, .. }) => Advice::BringBack { run: *run },
            Self::Workspace { .. }
            | Self::WorklistElsewhere { .. }
            | Self::Scout(ScoutError::NoPython { .. } | ScoutError::NoWorkspace { .. }) => Advice::NameWorkspace,
            Self::WorkspaceName { .. } => Advice::RenameFolder,
            Self::Apply(error) | Self::Undo(UndoError::Apply(error)) => apply_advice(error),
            Self::Journal(error) | Self::Undo(UndoError::Journal(error)) => journal_advice(error),
            Self::State(StateError::NoJournal { looked, .. }) => {
                Advice::Looked(looked.iter().map(|folder| folder.display().to_string()).collect())
            }
            Self::NotUnderstood { .. } => Advice::WordOrModel,
            Self::Model(EditorError::Timeout { .. }) => Advice::GiveTime,
            Self::NoServer | Self::Model(_) => Advice::NameServer,
            Self::NoModelBuilt => Advice::BuildWithModel,
            Self::NoSymbol { .. } => Advice::NameSymbol,
            Self::NoInstruction => Advice::SayWhat,
            Self::NoOpinion { install, .. } => Advice::InstallServer(install.clone()),
            Self::Scout(_)
            | Self::Lsp(_)
            | Self::Undo(_)
            | Self::Path(_)
            | Self::Unreadable { .. }
            | Self::Oracle { .. }
            | Self::OracleMeddles { .. }
            | Self::Gate(_)
            | Self::Edits(_)
            | Self::Task { .. }
            | Self::NoInput { .. }
            | Self::Worklist { .. }
            | Self::WorklistRefused { .. }
            | Self::Glob { .. }
            | Self::NoRun { .. }
            | Self::Demo { .. }
            | Self::Argument { .. } => Advice::None,
        }
    }
}

fn apply_advice(error: &ApplyError) -> Advice {
    match error {
        ApplyError::Stale { .. } => Advice::Scout,
        ApplyError::ReadOnlyFile { file } => Advice::FileWritable { file: file.to_string() },
        ApplyError::ReadOnlyFolder { file } => {
            let folder = file.as_str().rsplit_once('/').map_or(".", |(folder, _)| folder);
            Advice::FolderWritable { folder: folder.to_owned() }
        }
        ApplyError::Journal(error) => journal_advice(error),
        ApplyError::Unfinished { .. }
        | ApplyError::Contract { .. }
        | ApplyError::Read { .. }
        | ApplyError::Write { .. }
        | ApplyError::Unverified { .. }
        | ApplyError::Foreign { .. }
        | ApplyError::NotRestored { .. } => Advice::None,
    }
}

fn journal_advice(error: &JournalError) -> Advice {
    match error {
        JournalError::Folder { .. } => Advice::StateWritable,
        JournalError::Locked { .. } => Advice::Wait,
        JournalError::Damaged { path, .. } => Advice::MoveJournal { path: path.display().to_string() },
        JournalError::Newer { .. }
        | JournalError::Missing { .. }
        | JournalError::Database { .. }
        | JournalError::NoSuchRun { .. } => Advice::None,
    }
}

fn list(files: &[RelPath]) -> String {
    files.iter().map(RelPath::as_str).collect::<Vec<_>>().join(", ")
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
