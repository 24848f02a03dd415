//! One assignment to one reply: by rules, or by a model.
//!
//! An author sees an [`Assignment`](crate::plan::Assignment) and nothing else, so it can't widen its scope.

mod author;
#[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "only a model's client reads and asks for answers"))]
mod contract;
#[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "only a model's client fails in most of these ways"))]
mod error;
mod instruction;
mod probe;
#[cfg(feature = "openai")]
mod prompt;
#[cfg(feature = "openai")]
mod settled;
mod verify;

#[cfg(feature = "openai")]
pub(crate) use author::openai::{Model, ModelSettings};
pub(crate) use author::rules::shown_text;
pub(crate) use author::{Attempt, Author, Rules};
pub(crate) use error::EditorError;
pub(crate) use instruction::{Spared, Understood, understand};
pub(crate) use probe::probe;
pub(crate) use verify::verify;
