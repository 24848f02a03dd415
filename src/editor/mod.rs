//! One assignment to one reply: by rules, or by a model.
//!
//! An author sees an [`Assignment`](crate::plan::Assignment) and nothing else, so it can't widen its scope.

mod author;
mod contract;
mod error;
mod instruction;
mod prompt;
mod settled;
mod verify;

#[cfg(feature = "openai")]
pub(crate) use author::openai::{Model, ModelSettings};
pub(crate) use author::{Attempt, Author, Rules};
pub(crate) use error::EditorError;
pub(crate) use instruction::{Spared, Understood, understand};
pub(crate) use verify::verify;
