//! Why an author has no answer at all. A reply that can't be used is no error but a
//! [`ReplyFault`](super::contract::ReplyFault): the next attempt may be better.

/// Why no attempt could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditorError {
    #[error("`{address}` is no address of a model server: {message}")]
    Address { address: String, message: String },
    #[error("the API key holds characters that no HTTP header can carry")]
    Key,
    #[error("can't reach the model server at {address}: {message}")]
    Unreachable { address: String, message: String },
    #[error("the model server at {address} didn't answer within {seconds} s")]
    Timeout { address: String, seconds: u64 },
    #[error("the model server at {address} answered with HTTP status {status}: {message}")]
    Status { address: String, status: u16, message: String },
    #[error("the model server at {address} refused: {message}")]
    Refused { address: String, message: String },
    #[error("what answers at {address} doesn't speak the chat protocol: {message}")]
    Nonsense { address: String, message: String },
    #[error("the model server at {address} offers no model")]
    NoModel { address: String },
}

impl EditorError {
    /// Whether the server was silent for too long.
    pub(crate) const fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// Whether it says something of the server, and nothing of what it was asked.
    pub(crate) const fn is_of_server(&self) -> bool {
        match self {
            Self::Status { status, .. } => *status == 429 || *status >= 500,
            Self::Unreachable { .. } | Self::Timeout { .. } | Self::Nonsense { .. } => true,
            Self::Address { .. } | Self::Key | Self::Refused { .. } | Self::NoModel { .. } => false,
        }
    }

    /// Whether asking again about another site would fail in the same way.
    pub(crate) const fn is_final(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Key | Self::Unreachable { .. } | Self::NoModel { .. } => true,
            // The key isn't taken, or there is no such model or path.
            Self::Status { status, .. } => matches!(status, 401 | 403 | 404),
            Self::Timeout { .. } | Self::Refused { .. } | Self::Nonsense { .. } => false,
        }
    }
}
