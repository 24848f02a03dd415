//! One assignment to one reply: by rules, or by a model.
//!
//! An author sees an [`Assignment`](crate::plan::Assignment) and nothing else, so it can't widen its scope.

mod author;
mod instruction;
mod verify;

pub(crate) use instruction::{Refusal, Spared, Understood, parse_operation, understand};
pub(crate) use verify::{Objection, Verified, verify};
