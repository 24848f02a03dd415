//! Drives an edit: from a worklist to proposals, verdicts, one transaction and a report.
//!
//! Results are computed by workers (authors, the gate) and kept here, by site; nothing is written before the last
//! verdict is in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::checker::Pyrefly;
use crate::editor::{self, Author, EditorError, Understood};
use crate::gate::{Gate, GateMode, Judgement};
use crate::plan::{Assignment, Operation, Proposal, Reply, Site, SiteKind, Symbol};
use crate::python;
use crate::text::{ByteSpan, EditSet, ProjectRoot, RelPath, Revision, SourceText};

use super::clock::{Clock, Stopwatch};
use super::declared::lowest_minor;
use super::oracle::{Oracle, OracleRun};
use super::report::{
    Outcome, Report, ReportedAttempt, ReportedFile, ReportedFinding, ReportedGate, ReportedOracle, ReportedSite,
    Seconds,
};
use super::rounds::{self, Standing};
use super::scouting::Progress;
use super::wire::WireTool;
use super::work::{Proposed, Work, proposal};
use super::{ApplyError, HarnessError, PlannedWrite, wiring};

/// Everything about an edit that doesn't depend on who writes it.
pub(super) struct Job<'j> {
    pub(super) workspace: &'j ProjectRoot,
    pub(super) symbol: Symbol,
    pub(super) instruction: String,
    pub(super) understood: Option<Understood>,
    /// The sites to edit, in worklist order.
    pub(super) sites: Vec<Site>,
    /// The revisions that were scouted.
    pub(super) revisions: BTreeMap<RelPath, Revision>,
    /// Sites that are listed as left to a person from the start, with the reason.
    pub(super) left: Vec<(Site, String)>,
    pub(super) signature: Option<String>,
    pub(super) attempts: usize,
    pub(super) strict: bool,
    pub(super) show_file: bool,
    pub(super) oracle: Option<Oracle>,
    pub(super) unresolved: usize,
}

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
        run.gate = Some(Gate::open(pyrefly, run.job.workspace.as_path(), &files, mode).await?);
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

    async fn oracle_before(&mut self) -> Result<Option<OracleRun>, HarnessError> {
        let Some(oracle) = &self.job.oracle else { return Ok(None) };
        let no_shadow = || HarnessError::Oracle {
            command: oracle.command.clone(),
            reason: "it runs in the shadow, and with --gate off there is none".to_owned(),
        };
        let gate = self.gate.as_ref().ok_or_else(no_shadow)?;
        let shadow = gate.shadow_workspace().ok_or_else(no_shadow)?.to_owned();
        gate.complete_shadow()?;
        Ok(Some(run_oracle(oracle, gate, &shadow).await?))
    }

    /// Finds the sites whose call the type checker doesn't look at: there, "nothing new" proves nothing.
    async fn probe(&mut self) -> Result<(), HarnessError> {
        let Some(Understood { operation, .. }) = self.job.understood.clone() else { return Ok(()) };
        let mut probes = Vec::new();
        let mut untried = Vec::new();
        for index in 0..self.work.len() {
            let Some((assignment, _)) = self.assignment(index, Some(operation.clone())) else { continue };
            let Some(work) = self.work.get(index).filter(|work| work.is_open()) else { continue };
            let Some(probe) = editor::probe(&assignment) else {
                untried.push(work.site.id.clone());
                continue;
            };
            let edits = probe.edits.iter().map(|edit| edit.shifted(work.site.region.start())).collect();
            if let Ok(edits) = EditSet::within(work.site.region, edits) {
                probes.push((proposal(&work.site, edits), probe.needle));
            }
        }
        let Some(gate) = self.gate.as_mut().filter(|gate| gate.mode() != GateMode::Off) else { return Ok(()) };
        untried.iter().for_each(|site| gate.distrust(site));
        if !probes.is_empty() {
            self.checks += 1;
            gate.probe(&self.sources, &probes).await?;
        }
        Ok(())
    }

    async fn rounds<A: Author>(
        &mut self,
        author: &A,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<(), HarnessError> {
        let open: Vec<usize> = (0..self.work.len()).filter(|&i| self.work.get(i).is_some_and(Work::is_open)).collect();
        progress.step("editing", open.len());
        let levels = if author.composes() {
            vec![open]
        } else {
            let regions: Vec<_> =
                open.iter().filter_map(|&i| self.work.get(i)).map(|w| (&w.site.file, w.site.region)).collect();
            let levels = rounds::levels(&regions);
            levels.iter().map(|level| level.iter().filter_map(|&i| open.get(i).copied()).collect()).collect()
        };
        for level in levels {
            self.level(&level, author, clock, progress).await?;
            // Whoever never said anything is no author.
            if let Some(failure) = self.failure.take_if(|_| !self.answered) {
                return Err(failure.into());
            }
        }
        Ok(())
    }

    /// Settles the sites of one level: asks, judges, and asks again about what was rejected.
    async fn level<A: Author>(
        &mut self,
        level: &[usize],
        author: &A,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<(), HarnessError> {
        let mut pending = level.to_vec();
        let attempts = if author.composes() { 1 } else { self.job.attempts };
        for attempt in 0..attempts {
            let mut watch = Stopwatch::start(clock);
            let mut proposed = Vec::new();
            for &index in &pending {
                if let Some(proposal) = self.ask(index, attempt, author).await {
                    proposed.push((index, proposal));
                }
                if attempt == 0 {
                    progress.tick();
                }
            }
            self.seconds.editor += watch.lap();
            self.judge(&proposed).await?;
            self.seconds.gate += watch.lap();
            pending.retain(|&i| self.work.get(i).is_some_and(Work::is_open));
            if pending.is_empty() || self.gone.is_some() {
                break;
            }
        }
        for index in pending {
            let gone = self.gone.clone();
            if let Some(work) = self.work.get_mut(index) {
                let last = work.attempts.last().and_then(|attempt| attempt.reason.clone());
                work.outcome = Some((Outcome::Skipped, gone.or(last)));
            }
        }
        Ok(())
    }

    /// One question to the author about one site; a proposal when the answer has the right shape.
    async fn ask<A: Author>(&mut self, index: usize, attempt: usize, author: &A) -> Option<Proposed> {
        if self.gone.is_some() {
            return None;
        }
        let operation = self.job.understood.as_ref().map(|understood| understood.operation.clone());
        let Some((mut assignment, standing)) = self.assignment(index, operation) else {
            self.settle(index, Outcome::Left, "its region can't be read");
            return None;
        };
        assignment.attempt = attempt;
        let answer = author.propose(&assignment).await;
        if !author.composes() {
            self.model_calls += 1;
        }
        match answer {
            Ok(answer) => {
                (self.answered, self.timeouts_in_a_row, self.failures_in_a_row) = (true, 0, 0);
                let work = self.work.get_mut(index)?;
                let source = self.sources.get(&work.site.file)?;
                let mut proposed = work.take(answer, author.name(), &assignment, &standing, source)?;
                if proposed.unchecked.is_none() && !python::parses(source.as_str(), false) {
                    proposed.unchecked = Some("the file doesn't parse, with the edit or without".to_owned());
                }
                Some(proposed)
            }
            Err(error) => {
                self.no_answer(index, author.name(), error);
                None
            }
        }
    }

    /// A failed attempt of the server, not of the answer.
    fn no_answer(&mut self, index: usize, author: &str, error: EditorError) {
        let reason = error.to_string();
        self.timeouts_in_a_row = if error.is_timeout() { self.timeouts_in_a_row + 1 } else { 0 };
        self.failures_in_a_row = if error.is_of_server() { self.failures_in_a_row + 1 } else { 0 };
        if error.is_final() || self.timeouts_in_a_row > 1 || self.failures_in_a_row > 2 {
            self.gone = Some(format!("{reason}; nobody was asked any more"));
        }
        self.failure = Some(error);
        if let Some(work) = self.work.get_mut(index) {
            work.reject(ReportedAttempt::new(author), reason);
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

    async fn finish<A: Author>(
        mut self,
        author: &A,
        pyrefly: &Pyrefly,
        mode: GateMode,
        before: Option<OracleRun>,
        clock: &dyn Clock,
    ) -> Result<Edited, HarnessError> {
        let mut watch = Stopwatch::start(clock);
        let accepted = self.accepted();
        let oracle = self.oracle_after(before, &accepted).await?;
        self.seconds.gate += watch.lap();
        let vetoed = oracle.as_ref().is_some_and(|oracle| oracle.after == Some(false));
        let texts = if vetoed { BTreeMap::new() } else { new_texts(&self.sources, &accepted)? };
        let mut writes = Vec::new();
        let mut files = Vec::new();
        for (file, (_, after)) in &texts {
            let Some(source) = self.sources.get(file) else { continue };
            let after_bytes = after.clone().into_bytes();
            files.push(ReportedFile {
                file: file.to_string(),
                before: source.revision().to_string(),
                after: Revision::of(&after_bytes).to_string(),
            });
            writes.push(PlannedWrite {
                file: file.clone(),
                before: source.revision().clone(),
                before_bytes: source.as_str().as_bytes().to_vec(),
                after_bytes,
            });
        }
        let fqn = self.job.symbol.path.to_string();
        let veto = vetoed.then_some("the oracle is red after the edits, so nothing was written");
        let sites: Vec<ReportedSite> = self.work.into_iter().map(|work| work.reported(&fqn, veto)).collect();
        let mut notes = author.remarks();
        if let Some(unused) = self.job.oracle.as_ref().filter(|_| oracle.is_none()) {
            notes.push(format!("the oracle wasn't run, since there is nothing to edit ({})", unused.command));
        }
        if oracle.as_ref().is_some_and(|oracle| oracle.before) {
            notes.push("the oracle is green before the edits, so it doesn't show that they do anything".to_owned());
        }
        let report = Report {
            schema_version: Report::VERSION,
            tool: WireTool::new(pyrefly.version()),
            run: None,
            workspace: folder_name(self.job.workspace.as_path()),
            symbol: fqn,
            instruction: self.job.instruction,
            editor: author.name().to_owned(),
            gate: ReportedGate {
                mode: mode_name(mode).to_owned(),
                checks: self.checks,
                baseline: self.gate.as_ref().map_or(0, Gate::baseline),
                new: self.objections,
            },
            oracle,
            totals: Report::totals(&sites, self.model_calls),
            sites,
            files,
            unresolved: self.job.unresolved,
            seconds: self.seconds,
            notes,
        };
        Ok(Edited { report, writes, texts })
    }

    async fn oracle_after(
        &mut self,
        before: Option<OracleRun>,
        accepted: &[Proposal],
    ) -> Result<Option<ReportedOracle>, HarnessError> {
        let (Some(oracle), Some(before)) = (&self.job.oracle, before) else { return Ok(None) };
        let command = oracle.command.clone();
        if accepted.is_empty() {
            return Ok(Some(ReportedOracle { command, before: before.green, after: None, output: None }));
        }
        // The shadow holds exactly what was accepted.
        let Some(gate) = &self.gate else { return Ok(None) };
        let Some(shadow) = gate.shadow_workspace() else { return Ok(None) };
        let after = run_oracle(oracle, gate, shadow).await?;
        let output = (!after.green).then_some(after.output);
        Ok(Some(ReportedOracle { command, before: before.green, after: Some(after.green), output }))
    }
}

/// Runs the oracle in the shadow. One that changes the code there judges something else than what would be written.
async fn run_oracle(oracle: &Oracle, gate: &Gate, shadow: &Path) -> Result<OracleRun, HarnessError> {
    let before = gate.shadow_revisions()?;
    let run = oracle.run(shadow).await?;
    let after = gate.shadow_revisions()?;
    let changed = before.iter().filter(|(file, revision)| after.get(*file) != Some(revision));
    let files: Vec<String> = changed.map(|(file, _)| file.clone()).collect();
    if files.is_empty() { Ok(run) } else { Err(HarnessError::OracleMeddles { command: oracle.command.clone(), files }) }
}

/// The files' texts before and after all accepted proposals.
fn new_texts(
    sources: &BTreeMap<RelPath, SourceText>,
    accepted: &[Proposal],
) -> Result<BTreeMap<RelPath, (String, String)>, HarnessError> {
    let mut texts = BTreeMap::new();
    for (file, source) in sources {
        let edits = accepted.iter().filter(|proposal| proposal.file == *file).flat_map(|p| p.edits.edits().to_vec());
        let edits = EditSet::new(edits.collect())?;
        if !edits.is_empty() {
            texts.insert(file.clone(), (source.as_str().to_owned(), edits.apply(source)?));
        }
    }
    Ok(texts)
}

/// The texts of the files with sites, which must be those that were scouted.
fn read_sources(job: &Job<'_>) -> Result<BTreeMap<RelPath, SourceText>, HarnessError> {
    let mut sources = BTreeMap::new();
    let mut stale = BTreeSet::new();
    let left = job.left.iter().map(|(site, _)| site);
    for file in job.sites.iter().chain(left).map(|site| &site.file) {
        if sources.contains_key(file) {
            continue;
        }
        let unreadable = |reason: String| HarnessError::Unreadable { file: file.to_string(), reason };
        let bytes = std::fs::read(job.workspace.join(file)).map_err(|error| unreadable(error.to_string()))?;
        let source = SourceText::from_bytes(bytes).map_err(|error| unreadable(error.to_string()))?;
        if job.revisions.get(file) != Some(source.revision()) {
            stale.insert(file.clone());
        }
        sources.insert(file.clone(), source);
    }
    if stale.is_empty() { Ok(sources) } else { Err(ApplyError::Stale { files: stale.into_iter().collect() }.into()) }
}

/// Splits sites into those whose kind the instruction concerns, and the others with why not.
pub(super) fn by_kind(sites: Vec<Site>, wanted: &[SiteKind]) -> (Vec<Site>, Vec<(Site, String)>) {
    let calls = [SiteKind::Call, SiteKind::Decorator];
    let concerned =
        |site: &Site| if wanted.is_empty() { calls.contains(&site.kind) } else { wanted.contains(&site.kind) };
    let (mine, others): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(concerned);
    let others = if wanted.is_empty() { others } else { Vec::new() };
    let why = |site: &Site| match site.kind {
        SiteKind::Value => "passed as a value: whoever calls it chooses the arguments".to_owned(),
        SiteKind::Call
        | SiteKind::Annotation
        | SiteKind::Base
        | SiteKind::Decorator
        | SiteKind::AttributeAssignment
        | SiteKind::Import
        | SiteKind::ReExport
        | SiteKind::String
        | SiteKind::KeywordLabel => format!("used as {}, not called", site.kind.as_str()),
    };
    (mine, others.into_iter().map(|site| (site.clone(), why(&site))).collect())
}

fn numbered(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        write!(out, "{:4}  {line}", number + 1).expect("writing to a string can't fail");
    }
    out
}

const fn mode_name(mode: GateMode) -> &'static str {
    match mode {
        GateMode::Project => "project",
        GateMode::File => "file",
        GateMode::Off => "off",
    }
}

fn folder_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}
