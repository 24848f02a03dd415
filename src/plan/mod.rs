//! The nouns that cross rooms: data with invariants, no behaviour that reaches out.
//!
//! The words are those of the glossary in `AGENTS.md`: a *mention* is one occurrence of the name, a
//! *reference* a mention tied to the symbol, a *site* a reference that the task wants edited.

mod assignment;
mod evidence;
mod operation;
mod options;
mod reason;
mod roots;
mod site;
mod symbol;
mod verdict;
mod worklist;

pub(crate) use assignment::{Assignment, Feedback, Proposal, Reply};
pub(crate) use evidence::{Evidence, Heard, Rule, Statement};
pub(crate) use operation::Operation;
pub(crate) use options::{Effort, ScoutOptions};
pub(crate) use roots::ExtraRoots;
pub(crate) use site::{Opinion, Site, SiteId, SiteKind, Source};
pub(crate) use symbol::{Definition, Family, Symbol, SymbolKind, SymbolPath, SymbolPathError};
pub(crate) use verdict::{Finding, Verdict};
pub(crate) use worklist::{
    DocumentName, Extent, FileState, ListedFile, Mention, MentionClass, MentionKind, Near, Reason, Unresolvable,
    Worklist, WorklistError,
};
