//! One assignment to one reply: by rules, or by a model.
//!
//! An author sees an [`Assignment`](crate::plan::Assignment) and nothing else, so it can't widen its scope.

mod instruction;

pub(crate) use instruction::{Refusal, Understood, parse_operation, understand};
