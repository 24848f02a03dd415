//! Why there is no worklist.

use crate::checker::CheckerError;
use crate::lsp::LspError;
use crate::plan::{SymbolPathError, WorklistError};
use crate::text::{PathError, PositionError};

/// A symbol that a name could mean, with where it is defined (1-based, as people read it).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) symbol: String,
    /// `FILE:LINE`
    pub(crate) place: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ScoutError {
    #[error("the workspace {path} isn't there or isn't a folder")]
    NoWorkspace { path: String },
    #[error("the workspace {path} holds no Python files")]
    NoPython { path: String },
    #[error("no symbol `{symbol}` in {workspace}")]
    NotFound { symbol: String, workspace: String, close: Vec<Candidate> },
    #[error("`{symbol}` names {} symbols", candidates.len())]
    Ambiguous { symbol: String, candidates: Vec<Candidate> },
    #[error("nothing to look up at {place}: {reason}")]
    NothingThere { place: String, reason: String },
    #[error("no file {file} in {workspace}")]
    NoFile { file: String, workspace: String },
    #[error("{file} can't be read: {reason}")]
    Unreadable { file: String, reason: String },
    #[error(transparent)]
    Symbol(#[from] SymbolPathError),
    #[error("{place} doesn't exist")]
    Position { place: String, source: PositionError },
    #[error("a path in the workspace can't be used")]
    Path(#[from] PathError),
    #[error("the language server failed")]
    Lsp(#[from] LspError),
    #[error("the type checker failed")]
    Checker(#[from] CheckerError),
    #[error("this is a bug in tainie")]
    Worklist(#[from] WorklistError),
}
