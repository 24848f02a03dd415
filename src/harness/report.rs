//! What an edit came to, as a value: printed as JSON, kept in the journal, told as text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Finding;

use super::wire::{SCHEMA_VERSION, WireSite, WireTool};

/// How a site ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// Edited, and the type checker has nothing new to say.
    Applied,
    /// It was as the instruction asks for already.
    Already,
    /// Edited, but nothing could check it.
    Unchecked,
    /// Every attempt was rejected.
    Skipped,
    /// A person has to decide.
    Left,
}

impl Outcome {
    pub(crate) const ALL: [Self; 5] = [Self::Applied, Self::Already, Self::Unchecked, Self::Skipped, Self::Left];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Already => "already",
            Self::Unchecked => "unchecked",
            Self::Skipped => "skipped",
            Self::Left => "left",
        }
    }

    /// Whether the site's text changes.
    pub(crate) const fn changes(self) -> bool {
        matches!(self, Self::Applied | Self::Unchecked)
    }
}

/// A diagnostic that an attempt brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedFinding {
    pub(crate) file: String,
    /// 0-based.
    pub(crate) line: usize,
    /// 0-based, in characters.
    pub(crate) column: usize,
    pub(crate) rule: String,
    pub(crate) message: String,
}

impl From<&Finding> for ReportedFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            file: finding.file.clone(),
            line: finding.position.line(),
            column: finding.position.column(),
            rule: finding.rule.clone(),
            message: finding.message.clone(),
        }
    }
}

/// Tokens as the server counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedTokens {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
}

/// One answer of an author and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedAttempt {
    pub(crate) author: String,
    /// The region as proposed, in its own layout where that says the same; null when the answer couldn't be read.
    pub(crate) new_text: Option<String>,
    pub(crate) rationale: Option<String>,
    /// `accepted`, `unchecked`, or `rejected`.
    pub(crate) verdict: String,
    /// Why it was rejected or can't be checked.
    pub(crate) reason: Option<String>,
    pub(crate) diagnostics: Vec<ReportedFinding>,
    pub(crate) tokens: Option<ReportedTokens>,
    pub(crate) seconds: f64,
}

impl ReportedAttempt {
    /// An attempt of which nothing is known yet.
    pub(super) fn new(author: &str) -> Self {
        Self {
            author: author.to_owned(),
            new_text: None,
            rationale: None,
            verdict: String::new(),
            reason: None,
            diagnostics: Vec::new(),
            tokens: None,
            seconds: 0.0,
        }
    }
}

/// A site and how it ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedSite {
    #[serde(flatten)]
    pub(crate) site: WireSite,
    pub(crate) result: Outcome,
    /// The region before and after, where it changes.
    pub(crate) change_summary: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) attempts: Vec<ReportedAttempt>,
}

/// What the gate did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedGate {
    /// `project`, `file` or `off`.
    pub(crate) mode: String,
    /// Runs of the type checker beside the baseline.
    pub(crate) checks: usize,
    /// Diagnostics that the project had before.
    pub(crate) baseline: usize,
    /// Diagnostics that rejected attempts would have brought.
    pub(crate) new: Vec<ReportedFinding>,
}

/// What the oracle said; `true` is green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedOracle {
    pub(crate) command: String,
    pub(crate) before: bool,
    /// Null when there was nothing to try.
    pub(crate) after: Option<bool>,
    /// Its last lines, when it is red after the edits.
    pub(crate) output: Option<String>,
}

/// A file that changes, with its revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportedFile {
    pub(crate) file: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// How many sites ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Totals {
    pub(crate) sites: usize,
    pub(crate) applied: usize,
    pub(crate) already: usize,
    pub(crate) unchecked: usize,
    pub(crate) skipped: usize,
    pub(crate) left: usize,
    pub(crate) model_calls: usize,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Seconds {
    pub(crate) discovery: f64,
    pub(crate) editor: f64,
    pub(crate) gate: f64,
    pub(crate) apply: f64,
}

/// The report of an edit, version 1.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Report {
    pub(crate) schema_version: u32,
    pub(crate) tool: WireTool,
    /// The journal's number; null when nothing was written.
    pub(crate) run: Option<i64>,
    pub(crate) workspace: String,
    pub(crate) symbol: String,
    pub(crate) instruction: String,
    /// Which author was asked: `rules` or the model's name.
    pub(crate) editor: String,
    pub(crate) gate: ReportedGate,
    pub(crate) oracle: Option<ReportedOracle>,
    pub(crate) sites: Vec<ReportedSite>,
    pub(crate) files: Vec<ReportedFile>,
    /// Mentions that nobody could tie to anything: they may be the symbol, and weren't edited.
    pub(crate) unresolved: usize,
    pub(crate) totals: Totals,
    pub(crate) seconds: Seconds,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl Report {
    pub(super) const VERSION: u32 = SCHEMA_VERSION;

    /// Counts the outcomes.
    pub(super) fn totals(sites: &[ReportedSite], model_calls: usize) -> Totals {
        let count = |outcome| sites.iter().filter(|site| site.result == outcome).count();
        Totals {
            sites: sites.len(),
            applied: count(Outcome::Applied),
            already: count(Outcome::Already),
            unchecked: count(Outcome::Unchecked),
            skipped: count(Outcome::Skipped),
            left: count(Outcome::Left),
            model_calls,
        }
    }

    /// Whether every site was handled and no oracle objects.
    pub(crate) fn is_complete(&self) -> bool {
        self.totals.skipped == 0 && self.totals.left == 0 && !self.vetoed()
    }

    /// Whether the oracle is red after the edits, so that nothing was written.
    pub(crate) fn vetoed(&self) -> bool {
        self.oracle.as_ref().is_some_and(|oracle| oracle.after == Some(false))
    }
}

/// The JSON Schema of a report.
pub(crate) fn report_schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
