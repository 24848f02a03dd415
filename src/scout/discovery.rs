//! What the backends of a scout are asked: where something is defined, and what uses a group of declarations.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use crate::lsp::Question;
use crate::plan::Source;
use crate::text::{ByteOffset, ByteSpan, ProjectRoot, RelPath};

use super::ScoutError;
use super::codebase::{Codebase, Loaded};

pub(super) mod glean;
pub(super) mod remembered;
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

/// A member of a declaration group, with the file that it stands in.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Its name token.
    pub(crate) place: Place,
    pub(crate) loaded: Rc<Loaded>,
}

/// Who uses these declarations? Owns all that a backend needs, so that it can be asked while the census goes on.
#[derive(Debug, Clone)]
pub(crate) struct GroupQuestion {
    pub(crate) root: ProjectRoot,
    /// The folders that modules are named from, the deepest first.
    pub(crate) import_roots: Vec<PathBuf>,
    pub(crate) members: Vec<Member>,
    /// The files in which uses are looked for, by a backend that looks file by file.
    pub(crate) files: BTreeSet<RelPath>,
}

/// Answers where names are defined, and their types.
pub(crate) trait Definitions {
    /// One list per offset, in their order; the file is a loaded one of the workspace.
    async fn locate(
        &mut self,
        codebase: &mut Codebase,
        question: Question,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError>;

    /// Where the names are defined.
    async fn definitions(
        &mut self,
        codebase: &mut Codebase,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError> {
        self.locate(codebase, Question::Definition, file, at).await
    }
}

/// Answers what uses a declaration group: a cross-check of the census.
pub(crate) trait Discovery {
    /// What the backend says, in its own terms.
    type Answer;

    fn source(&self) -> Source;

    async fn ask(&self, question: &GroupQuestion) -> Result<Self::Answer, ScoutError>;

    /// The name tokens that the answer lists.
    fn uses(&self, codebase: &mut Codebase, answer: Self::Answer) -> BTreeSet<(RelPath, ByteSpan)>;
}
