//! One site on its way to an outcome: what was answered, what the gate said, what a report tells of it.
//!
//! Asking and judging are in `editing`; here a reply becomes a proposal, and a verdict an outcome.

use crate::editor::{self, Attempt};
use crate::plan::{Assignment, Feedback, Proposal, Reply, Site, Verdict};
use crate::python::{Interpolated, strings_around};
use crate::text::{EditSet, SourceText};

use super::report::{Outcome, ReportedAttempt, ReportedFinding, ReportedSite, ReportedTokens};
use super::rounds::Standing;
use super::wire::wire_site;

/// A site and how it stands.
pub(super) struct Work {
    pub(super) site: Site,
    /// The f-strings and t-strings around the site, outermost first.
    pub(super) strings: Vec<Interpolated>,
    pub(super) outcome: Option<(Outcome, Option<String>)>,
    pub(super) attempts: Vec<ReportedAttempt>,
    pub(super) feedback: Vec<Feedback>,
    /// What was accepted.
    pub(super) proposal: Option<Proposal>,
}

/// A reply that may be judged.
pub(super) struct Proposed {
    pub(super) proposal: Proposal,
    /// What the type checker can't see about it.
    pub(super) unchecked: Option<String>,
}

/// Why a reply can't be judged.
struct Unusable {
    new_text: Option<String>,
    rationale: Option<String>,
    objection: String,
}

impl Work {
    pub(super) fn new(site: Site, source: Option<&SourceText>) -> Self {
        let strings = source.map(|source| strings_around(source.as_str(), site.span)).unwrap_or_default();
        Self { site, strings, outcome: None, attempts: Vec::new(), feedback: Vec::new(), proposal: None }
    }

    /// A site that nobody is asked about.
    pub(super) fn left(site: Site, reason: String) -> Self {
        let mut work = Self::new(site, None);
        work.outcome = Some((Outcome::Left, Some(reason)));
        work
    }

    pub(super) const fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    pub(super) fn settle(&mut self, outcome: Outcome, reason: &str) {
        self.outcome = Some((outcome, Some(reason.to_owned())));
    }

    /// Makes a proposal of an answer, or notes what is wrong with it.
    pub(super) fn take(
        &mut self,
        answer: Attempt,
        author: &str,
        assignment: &Assignment,
        standing: &Standing,
        source: &SourceText,
    ) -> Option<Proposed> {
        let mut attempt = ReportedAttempt::new(author);
        attempt.tokens = answer.tokens.map(|t| ReportedTokens { prompt: t.prompt, completion: t.completion });
        attempt.seconds = answer.seconds;
        let read = match answer.reply {
            Ok(Reply::Already { reason }) => {
                self.settle(Outcome::Already, &reason);
                return None;
            }
            Ok(Reply::Left { reason }) => {
                self.settle(Outcome::Left, &reason);
                return None;
            }
            Ok(Reply::Edits { edits, rationale, unchecked }) => {
                let edits = edits.iter().map(|edit| edit.shifted(self.site.region.start())).collect();
                self.propose(edits, rationale, unchecked, source)
            }
            Ok(Reply::Text { new_text, rationale, unchecked }) => {
                self.fit(&new_text, rationale, unchecked, assignment, standing, source)
            }
            Err(fault) => Err(Unusable { new_text: None, rationale: None, objection: fault.to_string() }),
        };
        match read {
            Ok((proposed, new_text, rationale)) => {
                (attempt.new_text, attempt.rationale) = (Some(new_text), Some(rationale));
                self.attempts.push(attempt);
                Some(proposed)
            }
            Err(unusable) => {
                (attempt.new_text, attempt.rationale) = (unusable.new_text, unusable.rationale);
                self.reject(attempt, unusable.objection);
                None
            }
        }
    }

    /// Fits a new text for the whole region around what was settled inside it.
    fn fit(
        &self,
        new_text: &str,
        rationale: String,
        unchecked: Option<String>,
        assignment: &Assignment,
        standing: &Standing,
        source: &SourceText,
    ) -> Result<(Proposed, String, String), Unusable> {
        let unusable = |objection: String| Unusable {
            new_text: Some(new_text.to_owned()),
            rationale: Some(rationale.clone()),
            objection,
        };
        let verified = editor::verify(assignment, new_text).map_err(|objection| unusable(objection.to_string()))?;
        let edits = standing
            .fit(source, &verified.new_text)
            .ok_or_else(|| unusable("a call inside that was settled before came back changed".to_owned()))?;
        let edits = EditSet::within(self.site.region, edits).map_err(|error| unusable(error.to_string()))?;
        let unchecked = unchecked.or(verified.unchecked);
        Ok((Proposed { proposal: proposal(&self.site, edits), unchecked }, verified.new_text, rationale))
    }

    fn propose(
        &self,
        edits: Vec<crate::text::Edit>,
        rationale: String,
        unchecked: Option<String>,
        source: &SourceText,
    ) -> Result<(Proposed, String, String), Unusable> {
        let unusable = |objection: String| Unusable { new_text: None, rationale: Some(rationale.clone()), objection };
        let edits = EditSet::within(self.site.region, edits).map_err(|error| unusable(error.to_string()))?;
        let after = edits.apply(source).map_err(|error| unusable(error.to_string()))?;
        let region = edits.map_span(self.site.region).and_then(|region| after.get(region.range()));
        let new_text = region.ok_or_else(|| unusable("its edits leave the region".to_owned()))?.to_owned();
        Ok((Proposed { proposal: proposal(&self.site, edits), unchecked }, new_text, rationale))
    }

    /// Notes a failed attempt; its author is told at the next one.
    pub(super) fn reject(&mut self, mut attempt: ReportedAttempt, objection: String) {
        self.feedback.push(Feedback { new_text: attempt.new_text.clone(), objection: objection.clone() });
        "rejected".clone_into(&mut attempt.verdict);
        attempt.reason = Some(objection);
        self.attempts.push(attempt);
    }

    /// Turns the gate's verdict on the last attempt into an outcome; the new diagnostics that it brought, if any.
    pub(super) fn take_verdict(
        &mut self,
        proposed: &Proposed,
        verdict: &Verdict,
        strict: bool,
    ) -> Vec<ReportedFinding> {
        let Some(mut attempt) = self.attempts.pop() else { return Vec::new() };
        let unchecked = match (verdict, &proposed.unchecked) {
            (Verdict::Rejected { reason, findings }, _) => {
                attempt.diagnostics = findings.iter().map(ReportedFinding::from).collect();
                let said: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
                let told = if said.is_empty() { reason.clone() } else { said.join("; ") };
                let brought = attempt.diagnostics.clone();
                self.reject(attempt, told);
                if let Some(last) = self.attempts.last_mut() {
                    last.reason = Some(reason.clone());
                }
                return brought;
            }
            (Verdict::Unchecked { reason }, _) | (Verdict::Accepted, Some(reason)) => Some(reason.clone()),
            (Verdict::Accepted, None) => None,
        };
        if unchecked.is_some() { "unchecked" } else { "accepted" }.clone_into(&mut attempt.verdict);
        attempt.reason.clone_from(&unchecked);
        self.attempts.push(attempt);
        self.outcome = Some(match unchecked {
            Some(reason) if strict => {
                (Outcome::Skipped, Some(format!("{reason}, and --strict keeps only what is checked")))
            }
            Some(reason) => (Outcome::Unchecked, Some(reason)),
            None => (Outcome::Applied, None),
        });
        if self.outcome.as_ref().is_some_and(|(outcome, _)| outcome.changes()) {
            self.proposal = Some(proposed.proposal.clone());
        }
        Vec::new()
    }

    /// What a report tells of the site; `veto` is why nothing was written after all.
    pub(super) fn reported(self, fqn: &str, veto: Option<&str>) -> ReportedSite {
        let (mut result, mut reason) = self.outcome.unwrap_or((Outcome::Skipped, None));
        let mut change_summary = None;
        match veto {
            Some(veto) if result.changes() => (result, reason) = (Outcome::Skipped, Some(veto.to_owned())),
            _ if result.changes() => {
                let after = self.attempts.last().and_then(|attempt| attempt.new_text.clone()).unwrap_or_default();
                change_summary = Some(format!("{} -> {after}", self.site.text));
            }
            _ => {}
        }
        ReportedSite { site: wire_site(&self.site, fqn), result, change_summary, reason, attempts: self.attempts }
    }
}

/// A reply's edits tied to their site.
pub(super) fn proposal(site: &Site, edits: EditSet) -> Proposal {
    Proposal { site: site.id.clone(), file: site.file.clone(), region: site.region, edits }
}
