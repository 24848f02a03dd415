//! What the backends of a scout are asked: where something is defined, and what uses a group of declarations.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::plan::Source;
use crate::text::{ByteOffset, ByteSpan, RelPath};

use super::ScoutError;
use super::codebase::Codebase;

pub(super) mod glean;
pub(super) mod server;

/// A file of the workspace, or any other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlaceFile {
    Inside(RelPath),
    Outside(PathBuf),
}

/// A span in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: PlaceFile,
    pub(crate) span: ByteSpan,
}

/// What a declaration group looks like to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupQuestion {
    /// The name tokens of all members.
    pub(crate) members: Vec<Place>,
    pub(crate) candidates: BTreeSet<RelPath>,
}

/// The uses that a backend found, and what it can't promise.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) uses: BTreeSet<(RelPath, ByteSpan)>,
    pub(crate) notes: Vec<String>,
}

/// Answers where names are defined.
pub(crate) trait Definitions {
    /// One list per offset, in their order; the file is a loaded one of the workspace.
    async fn definitions(
        &mut self,
        codebase: &mut Codebase,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError>;
}

/// Answers what uses a declaration group: a cross-check of the census.
pub(crate) trait Discovery {
    fn source(&self) -> Source;

    async fn uses(&mut self, codebase: &mut Codebase, group: &GroupQuestion) -> Result<Found, ScoutError>;
}
