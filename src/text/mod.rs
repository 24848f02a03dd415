//! One source text and changes to it: no I/O, no async, no clock.
//!
//! Every number that names a place has a type of its own ([`units`]), and every conversion between two
//! of them goes through the [`SourceText`] it is about and fails instead of clamping.

mod diff;
mod edit;
mod error;
mod line_index;
mod path;
mod source;
mod units;

pub(crate) use diff::unified_diff;
pub(crate) use edit::{Edit, EditSet};
pub(crate) use error::{EditError, PathError, PositionError, SourceError};
pub(crate) use path::{ProjectRoot, RelPath};
pub(crate) use source::{Revision, SourceText};
pub(crate) use units::{ByteOffset, ByteSpan, Position, Utf16Position};
