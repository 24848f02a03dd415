//! What one author may see, and what it answers. An assignment holds no path and a reply no address, so
//! an author has nothing with which it could widen its scope: the harness alone knows which site it gave out.

use crate::python::Interpolated;
use crate::text::{ByteSpan, Edit, EditSet, RelPath};

use super::{Operation, SiteId, SiteKind};

/// One region to rewrite, as shown to an author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The task's prose, whole.
    pub(crate) instruction: String,
    /// What the prose asks for, where it could be read exactly.
    pub(crate) operation: Option<Operation>,
    /// The symbol's fully qualified name.
    pub(crate) symbol: String,
    pub(crate) kind: SiteKind,
    /// The region's text as it now stands.
    pub(crate) region: String,
    /// The name within `region`, in bytes of it.
    pub(crate) name: ByteSpan,
    /// Dotted name of the definition around the region.
    pub(crate) enclosing: String,
    /// The parameter list of the symbol's definition as written, from `(` to `)`: a method's `self` included,
    /// a constructor's left out, since calling the class always fills it.
    /// `None` where it couldn't be read.
    pub(crate) signature: Option<String>,
    /// The f-strings and t-strings in which the region stands, outermost first.
    pub(crate) strings: Vec<Interpolated>,
    /// Whether every Python that the project is for reads anything inside an f-string: 3.12 and later do.
    pub(crate) nests_strings: bool,
    /// Spans of `region` that earlier rounds settled; their text must come back unchanged.
    pub(crate) settled: Vec<ByteSpan>,
    /// The file with line numbers, where the user asked for it.
    pub(crate) context: Option<String>,
    /// This author's earlier attempts at the region, oldest first.
    pub(crate) feedback: Vec<Feedback>,
    /// 0 for the first attempt.
    pub(crate) attempt: usize,
}

/// An earlier attempt, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// `None` where the reply couldn't be read.
    pub(crate) new_text: Option<String>,
    pub(crate) objection: String,
}

/// An author's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Insertions and deletions at token borders, offsets relative to the region; they compose with those of regions inside.
    /// `unchecked` says what the type checker can't see about the result: such a place is never counted as proven.
    Edits { edits: Vec<Edit>, rationale: String, unchecked: Option<String> },
    /// A new text for the whole region.
    #[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "only a model answers so"))]
    Text { new_text: String, rationale: String, unchecked: Option<String> },
    /// The region already is what the instruction asks for.
    Already { reason: String },
    /// A person has to decide.
    Left { reason: String },
}

/// A reply tied to its site: the only thing the gate judges and the writer writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub(crate) site: SiteId,
    pub(crate) file: RelPath,
    /// In the file as it was scouted.
    pub(crate) region: ByteSpan,
    /// Inside `region`, offsets of the file as it was scouted.
    pub(crate) edits: EditSet,
}
