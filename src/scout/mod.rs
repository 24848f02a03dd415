//! Finds every mention of a named symbol, and says of each what it is.
//!
//! [`resolve`] makes one declaration group of a name or a position; [`find`] lists every mention of it, asks the
//! sources, judges each by the table in `census`, and freezes a worklist whose classes add up. Nothing here can
//! name an editor or a model: scope is decided before either is asked.

mod census;
mod codebase;
mod describe;
mod discovery;
mod documents;
mod error;
mod family;
mod find;
mod group;
mod outside;
mod resolve;
mod roots;
mod texts;
mod tree;
mod variables;

pub(crate) use codebase::{Codebase, Fingerprint, SETTINGS};
pub(crate) use discovery::glean::Glean;
pub(crate) use discovery::remembered::{Facts, Remembered, Uses};
pub(crate) use discovery::server::{ServerDefinitions, ServerReferences};
pub(crate) use discovery::{Place, PlaceFile};
pub(crate) use error::{Candidate, ScoutError};
pub(crate) use family::with_overrides;
pub(crate) use find::{find, symbol_of, use_at};
pub(crate) use outside::mentions_outside;
pub(crate) use resolve::{Query, resolve};
pub(crate) use roots::{Standing, Unrooted, unrooted};

/// Somebody who is told how far a long scout has come.
pub(crate) trait Watch {
    /// A step begins; `total` pieces, 0 when that isn't known.
    fn step(&self, what: &str, total: usize);

    /// One piece of the step is done.
    fn tick(&self);
}
