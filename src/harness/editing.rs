//! Drives an edit: from a worklist to proposals, verdicts, one transaction and a report.
//!
//! Results are computed by workers (authors, the gate) and kept here, by site; nothing is written before the last
//! verdict is in.

mod asking;
mod finish;
mod proving;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::checker::Pyrefly;
use crate::editor::{self, Author, EditorError};
use crate::gate::{Gate, GateMode, Judgement};
use crate::plan::{Assignment, Operation, Proposal, Reply};
use crate::python;
use crate::text::{ByteSpan, RelPath, SourceText};

use super::clock::{Clock, Stopwatch};
use super::declared::lowest_minor;
use super::job::{Job, read_sources};
use super::report::{Outcome, Report, ReportedFinding, Seconds};
use super::rounds::Standing;
use super::scouting::Progress;
use super::work::{Proposed, Work};
use super::{HarnessError, PlannedWrite, wiring};

/// What an edit came to before anything is written.
pub(super) struct Edited {
    pub(super) report: Report,
    pub(super) writes: Vec<PlannedWrite>,
    /// New texts by file, for a diff.
    pub(super) texts: BTreeMap<RelPath, (String, String)>,
}

/// Carries the job out, up to the last verdict.
pub(super) async fn edit<A: Author>(
    job: Job<'_>,
    author: &A,
    pyrefly: &Pyrefly,
    mode: GateMode,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<Edited, HarnessError> {
    let sources = read_sources(&job)?;
    let mut run = Run::new(job, sources);
    run.settle_without_asking();
    let mut watch = Stopwatch::start(clock);
    let mut before = None;
    if run.is_open() {
        progress.step("taking the baseline", 0);
        let files: BTreeSet<RelPath> = run.sources.keys().cloned().collect();
        run.gate = Some(Gate::open(pyrefly, run.job.workspace.as_path(), &files, mode, &run.job.roots).await?);
        before = run.oracle_before().await?;
        run.probe().await?;
        run.seconds.gate += watch.lap();
        run.rounds(author, clock, progress).await?;
    }
    run.finish(author, pyrefly, mode, before, clock).await
}

struct Run<'j> {
    job: Job<'j>,
    sources: BTreeMap<RelPath, SourceText>,
    /// Opened only when there is something to judge.
    gate: Option<Gate>,
    work: Vec<Work>,
    seconds: Seconds,
    checks: usize,
    model_calls: usize,
    /// Diagnostics that rejected attempts would have brought.
    objections: Vec<ReportedFinding>,
    /// The server is gone: nobody is asked any more.
    gone: Option<String>,
    timeouts_in_a_row: usize,
    failures_in_a_row: usize,
    /// The last one.
    failure: Option<EditorError>,
    /// Whether the author ever said anything.
    answered: bool,
    /// Whether the project's Python is 3.12 or later.
    nests_strings: bool,
}

impl<'j> Run<'j> {
    fn new(mut job: Job<'j>, sources: BTreeMap<RelPath, SourceText>) -> Self {
        let sites = std::mem::take(&mut job.sites).into_iter();
        let mut work: Vec<Work> = sites
            .map(|site| {
                let source = sources.get(&site.file);
                Work::new(site, source)
            })
            .collect();
        work.extend(std::mem::take(&mut job.left).into_iter().map(|(site, reason)| Work::left(site, reason)));
        work.sort_by(|a, b| a.site.file.cmp(&b.site.file).then(b.site.span.cmp(&a.site.span)));
        let (seconds, objections) = (Seconds::default(), Vec::new());
        let nests_strings = lowest_minor(job.workspace).is_some_and(|minor| minor >= 12);
        Self {
            job,
            sources,
            gate: None,
            work,
            seconds,
            checks: 0,
            model_calls: 0,
            objections,
            gone: None,
            timeouts_in_a_row: 0,
            failures_in_a_row: 0,
            failure: None,
            answered: false,
            nests_strings,
        }
    }

    fn is_open(&self) -> bool {
        self.work.iter().any(Work::is_open)
    }

    /// Where the operation was read exactly, a site that is already so or needs a person is known without an author.
    fn settle_without_asking(&mut self) {
        let Some(understood) = self.job.understood.clone() else { return self.settle_shown_text() };
        let rules = wiring::rules(understood.spared);
        for index in 0..self.work.len() {
            if self.work.get(index).is_none_or(|work| !work.is_open()) {
                continue;
            }
            let Some((assignment, _)) = self.assignment(index, Some(understood.operation.clone())) else { continue };
            match rules.answer(&assignment) {
                Reply::Already { reason } => self.settle(index, Outcome::Already, &reason),
                Reply::Left { reason } => self.settle(index, Outcome::Left, &reason),
                Reply::Edits { .. } | Reply::Text { .. } => {}
            }
        }
    }

    /// What no author can do, whatever it is asked.
    fn settle_shown_text(&mut self) {
        for work in self.work.iter_mut().filter(|work| work.is_open()) {
            if let Some(reason) = editor::shown_text(&work.strings) {
                work.settle(Outcome::Left, reason);
            }
        }
    }

    fn settle(&mut self, index: usize, outcome: Outcome, reason: &str) {
        if let Some(work) = self.work.get_mut(index) {
            work.settle(outcome, reason);
        }
    }

    /// Asks the gate about the round's proposals, on top of what earlier rounds accepted.
    async fn judge(&mut self, proposed: &[(usize, Proposed)]) -> Result<(), HarnessError> {
        if proposed.is_empty() {
            return Ok(());
        }
        let already = self.accepted();
        let proposals: Vec<Proposal> = proposed.iter().map(|(_, proposed)| proposed.proposal.clone()).collect();
        let judgement = self.ask_gate(&already, &proposals).await?;
        for (index, proposed) in proposed {
            let verdict = judgement.verdicts.get(&proposed.proposal.site);
            if let (Some(verdict), Some(work)) = (verdict, self.work.get_mut(*index)) {
                self.objections.extend(work.take_verdict(proposed, verdict, self.job.strict));
            }
        }
        Ok(())
    }

    async fn ask_gate(&mut self, already: &[Proposal], proposals: &[Proposal]) -> Result<Judgement, HarnessError> {
        let parses = |text: &str| python::parses(text, false);
        let gate = self.gate.as_mut().expect("the gate is opened before anything is proposed");
        let judgement = gate.judge(&self.sources, already, proposals, parses).await?;
        self.checks += judgement.checks;
        Ok(judgement)
    }

    fn accepted(&self) -> Vec<Proposal> {
        self.work.iter().filter_map(|work| work.proposal.clone()).collect()
    }

    /// What an author is shown of a site, and how its region stands. The first attempt's; the caller counts.
    fn assignment(&self, index: usize, operation: Option<Operation>) -> Option<(Assignment, Standing)> {
        let work = self.work.get(index)?;
        let site = &work.site;
        let source = self.sources.get(&site.file)?;
        let accepted: Vec<&Proposal> = self
            .work
            .iter()
            .filter(|other| other.site.file == site.file)
            .filter_map(|other| other.proposal.as_ref())
            .collect();
        let inner: Vec<ByteSpan> = self
            .work
            .iter()
            .filter(|other| other.site.file == site.file && other.outcome.is_some())
            .map(|other| other.site.region)
            .filter(|region| *region != site.region && site.region.contains(*region))
            .collect();
        let standing = Standing::new(source, site.region, site.span, &inner, &accepted)?;
        let assignment = Assignment {
            instruction: self.job.instruction.clone(),
            operation,
            symbol: self.job.symbol.path.to_string(),
            kind: site.kind,
            region: standing.text.clone(),
            name: standing.name,
            enclosing: site.enclosing.clone(),
            signature: self.job.signature.clone(),
            strings: work.strings.clone(),
            nests_strings: self.nests_strings,
            settled: standing.settled.clone(),
            context: self.job.show_file.then(|| numbered(source.as_str())),
            feedback: work.feedback.clone(),
            attempt: 0,
        };
        Some((assignment, standing))
    }
}

fn numbered(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        write!(out, "{:4}  {line}", number + 1).expect("writing to a string can't fail");
    }
    out
}
