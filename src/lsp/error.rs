//! What can go wrong between us and a language server.

use std::io;
use std::time::Duration;

use crate::text::{PositionError, RelPath};

/// Why bytes from the server aren't messages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FramingError {
    #[error("no message header, but {found:?}")]
    NotAHeader { found: String },
    #[error("a message header longer than {limit} bytes")]
    HeaderTooLong { limit: usize },
    #[error("a message header without one usable Content-Length")]
    NoLength,
    #[error("a message of {length} bytes, over the limit of {limit}")]
    BodyTooLong { length: usize, limit: usize },
    #[error("a message body that is not JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("a JSON value that is no message: {found}")]
    NotAMessage { found: String },
}

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("the server sent something that is no message")]
    Framing(#[from] FramingError),
    #[error("the server closed its output before it answered {method}")]
    Closed { method: &'static str },
    #[error("no answer to {method} within {limit:?}")]
    Silent { method: &'static str, limit: Duration },
    #[error("the server refused {method}: {message} (code {code})")]
    Refused { method: &'static str, code: i64, message: String },
    #[error("the answer to {method} has another shape than the protocol says")]
    BadAnswer {
        method: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("reading from the server failed")]
    Read(#[source] io::Error),
}

/// Why the language server couldn't tell.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LspError {
    #[error("{program} could not be started as a language server")]
    Start {
        program: String,
        #[source]
        source: io::Error,
    },
    /// `stderr` holds the last lines that the server wrote there, `status` how it ended if it did.
    #[error("the language server {program} failed{}", obituary(status.as_deref(), stderr))]
    Server {
        program: String,
        status: Option<String>,
        stderr: Vec<String>,
        #[source]
        source: Box<ClientError>,
    },
    #[error("{file} is not open in the language server, which would answer nothing")]
    NotOpen { file: RelPath },
    #[error("{file} was opened in the language server with another text")]
    OtherText { file: RelPath },
    #[error("{file} has no such place")]
    NoSuchPlace {
        file: RelPath,
        #[source]
        source: PositionError,
    },
    #[error("references were asked of a language server that was started for definitions only")]
    NoIndex,
    #[error("{program} counts positions in {encoding}, which was not offered to it")]
    Encoding { program: String, encoding: String },
    #[error("the path {path:?} can't be written as a URI")]
    NoUri { path: String },
}

fn obituary(status: Option<&str>, stderr: &[String]) -> String {
    let mut parts = Vec::new();
    parts.extend(status.map(str::to_owned));
    if !stderr.is_empty() {
        parts.push(format!("its last words: {}", stderr.join(" | ")));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}
