//! What the gate says.

use crate::text::{ByteSpan, Position};

/// One diagnostic of the type checker that the baseline doesn't have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the workspace where it lies inside, else to the project root with a leading `../`.
    pub(crate) file: String,
    /// In the file as proposed.
    pub(crate) position: Position,
    /// In the file as proposed; `None` when the file can't be read as text.
    pub(crate) span: Option<ByteSpan>,
    /// The rule's name, such as `unexpected-keyword`.
    pub(crate) rule: String,
    pub(crate) message: String,
}

/// The gate's answer about one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Checked, and nothing new.
    Accepted,
    /// Shape and goal hold, but the type checker can't judge this place.
    Unchecked { reason: String },
    /// It made something worse, or isn't what was asked.
    Rejected { reason: String, findings: Vec<Finding> },
}
