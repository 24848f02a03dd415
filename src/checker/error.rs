//! What can go wrong with the pyrefly program.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::Origin;

/// Why pyrefly gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckerError {
    #[error("pyrefly was not found (looked at {} places)", looked_at.len())]
    NotFound { looked_at: Vec<PathBuf> },
    #[error("the pyrefly named by {origin} isn't there: {program:?}")]
    NamedMissing { program: PathBuf, origin: Origin },
    #[error("{program:?} (named by {origin}) doesn't answer like pyrefly: {answer:?}")]
    NotPyrefly { program: PathBuf, origin: Origin, answer: String },
    #[error("{program:?} (found by {origin}) is pyrefly {version}; 1.0 or newer is needed")]
    TooOld { program: PathBuf, origin: Origin, version: String },
    #[error("{program:?} could not be started in {cwd:?}")]
    Start {
        program: PathBuf,
        cwd: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{command}` gave no answer within {} s", limit.as_secs())]
    TimedOut { command: String, limit: Duration },
    #[error("`{command}` crashed ({status}): {stderr}")]
    Crashed { command: String, status: String, stderr: String },
    #[error("`{command}` refused its arguments: {stderr}")]
    Usage { command: String, stderr: String },
    /// Never to be taken for an empty list of diagnostics.
    #[error("`{command}` gave no answer: {stderr}")]
    NoAnswer { command: String, stderr: String },
    #[error("`{command}` covers no Python file: {stderr}")]
    NothingCovered { command: String, stderr: String },
    #[error("`{command}` answered something that isn't its format")]
    Malformed {
        command: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("`{command}` answered without {missing}")]
    Incomplete { command: String, missing: &'static str },
    #[error("{path:?} can't be read or written")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("neither `uv` nor `python3` was found, and one of them is needed to install pyrefly")]
    NoInstaller,
    #[error("pyrefly {version} could not be installed with {with}: {stderr}")]
    Install { version: &'static str, with: &'static str, stderr: String },
}

impl CheckerError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
