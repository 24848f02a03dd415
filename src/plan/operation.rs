//! What an instruction asks for, where it can be read exactly.

use std::fmt;

/// An edit that rules can make without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Pass `name=value` in every call.
    AddKeyword { name: String, value: String },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddKeyword { name, value } => write!(f, "add-keyword {name}={value}"),
        }
    }
}
