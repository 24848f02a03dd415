//! `edit`: from a request to what was written.

use std::collections::BTreeMap;
use std::path::Path;

use crate::checker::Pyrefly;
use crate::editor::{self, Spared, Understood};
use crate::gate::GateMode;
use crate::plan::{ExtraRoots, ListedFile, MentionClass, Site, SiteKind, Symbol, SymbolPath, Worklist};
use crate::scout::{Query, ScoutError};
use crate::text::{RelPath, Revision, SourceText};

use super::chosen::Chosen;
use super::clock::Stopwatch;
use super::editing::{self, Edited};
use super::job::{Job, by_kind};
use super::journal::JOURNAL_FILE;
use super::opinion::Consulted;
use super::oracle::Oracle;
use super::readback;
use super::records::state_folder;
use super::request::{EditDone, EditRequest, EditorChoice, GateChoice, Target, Writing};
use super::scouting::{self, Progress, Tools};
use super::signature::signature;
use super::task::{Candidate as NamedSymbol, candidate_symbols};
use super::{Clock, Foreign, HarnessError, Journal, NewRun, RunId, Surroundings, Task, apply, recover, wiring};

/// Reads a task file.
pub(crate) fn read_task(path: &Path) -> Result<Task, HarnessError> {
    let file = path.display().to_string();
    let unreadable = |reason: String| HarnessError::NoInput { what: "task file", path: file.clone(), reason };
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = SourceText::from_bytes(bytes).map_err(|error| unreadable(error.to_string()))?;
    Task::parse(text.as_str()).map_err(|source| HarnessError::Task { file, source })
}

/// Finds the symbol, edits its sites, and writes what passed.
pub(crate) async fn edit(
    surroundings: &Surroundings,
    request: &EditRequest,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<EditDone, HarnessError> {
    let state = state_folder(surroundings, &request.workspace);
    let mut journal = None;
    let mut recovered = None;
    if request.writing == Writing::Apply && state.join(JOURNAL_FILE).exists() {
        let mut opened = Journal::open(&state)?;
        recovered = recover(&mut opened, &request.workspace, clock, Foreign::Refuse)?;
        journal = Some(opened);
    }
    let mut watch = Stopwatch::start(clock);
    let consulted = surroundings.consult(request.second_opinion.as_ref(), &request.workspace)?;
    let pyrefly = surroundings.pyrefly(request.workspace.as_path()).await?;
    let scouted = scouted(request, Tools { surroundings, pyrefly: &pyrefly }, consulted, progress).await?;
    let discovery = watch.lap();
    let chosen = scouted.chosen.clone();
    let job = job(request, surroundings, scouted)?;
    let mut edited = edit_with(request, job, &pyrefly, clock, progress).await?;
    edited.report.seconds.discovery = discovery;
    if request.writing == Writing::Apply && !edited.writes.is_empty() {
        progress.step("writing", 0);
        watch.lap();
        let mut journal = match journal {
            Some(journal) => journal,
            None => Journal::open(&state)?,
        };
        let run = NewRun {
            command: "edit".to_owned(),
            symbol: Some(edited.report.symbol.clone()),
            undoes: None,
            report: None,
        };
        let writes = std::mem::take(&mut edited.writes);
        let run = apply(&mut journal, &request.workspace, clock, &run, writes)?;
        edited.report.run = run.map(RunId::get);
        edited.report.seconds.apply = watch.lap();
        if let Some(run) = run {
            let report = serde_json::to_value(&edited.report).expect("the report has string keys only");
            journal.keep_report(run, &report)?;
        }
    }
    Ok(EditDone { report: edited.report, texts: edited.texts, recovered, chosen })
}

/// What an edit starts from.
struct ScoutedSites {
    symbol: Symbol,
    sites: Vec<Site>,
    files: Vec<ListedFile>,
    unresolved: usize,
    chosen: Option<String>,
    roots: ExtraRoots,
}

async fn scouted(
    request: &EditRequest,
    tools: Tools<'_>,
    consulted: Option<Consulted>,
    progress: &dyn Progress,
) -> Result<ScoutedSites, HarnessError> {
    let (queries, named_by) = match &request.target {
        Target::Worklist { file, json } => {
            let read = readback::worklist(&request.workspace, file, json)?;
            let (symbol, sites, files) = (read.symbol, read.sites, read.files);
            let mut roots = read.import_roots.below(&request.workspace);
            roots.given.extend_from_slice(&request.scout.search_path);
            return Ok(ScoutedSites { symbol, sites, files, unresolved: read.unresolved, chosen: None, roots });
        }
        Target::Asked(asked) => (vec![asked.query()?], Vec::new()),
        Target::Task => symbols_of_task(request)?,
    };
    // An instruction that can't be carried out is refused before anything is looked for.
    let accept = |symbol: &SymbolPath| understood(request, symbol).map(drop);
    let (workspace, options) = (&request.workspace, &request.scout);
    let (index, worklist) =
        match scouting::scout_first(tools, workspace, &queries, options, consulted.as_ref(), &accept, progress).await {
            Err(HarnessError::Scout(ScoutError::NotFound { .. })) if !named_by.is_empty() => {
                return Err(no_symbol(request, &named_by));
            }
            scouted => scouted?,
        };
    let chosen = named_by.get(index).zip(request.task.as_ref()).map(|(candidate, (file, task))| {
        format!("{} ({file}:{})", worklist.symbol.path, candidate.line + task.lines_before_prose)
    });
    let unresolved = worklist.accounting.of(MentionClass::Unresolved);
    let Worklist { symbol, sites, files, roots, .. } = worklist;
    Ok(ScoutedSites { symbol, sites, files, unresolved, chosen, roots })
}

/// The task's own symbol, else the names in its prose, of which the first one of the workspace counts.
fn symbols_of_task(request: &EditRequest) -> Result<(Vec<Query>, Vec<NamedSymbol>), HarnessError> {
    let Some((_, task)) = &request.task else { return Err(HarnessError::NoInstruction) };
    if let Some(symbol) = &task.symbol {
        return Ok((vec![Query::Name(SymbolPath::parse(symbol).map_err(ScoutError::from)?)], Vec::new()));
    }
    let candidates = candidate_symbols(&task.prose);
    let (queries, candidates): (Vec<Query>, Vec<NamedSymbol>) = candidates
        .into_iter()
        .filter_map(|candidate| Some((Query::Name(SymbolPath::parse(&candidate.name).ok()?), candidate)))
        .unzip();
    if queries.is_empty() { Err(no_symbol(request, &[])) } else { Ok((queries, candidates)) }
}

fn no_symbol(request: &EditRequest, candidates: &[NamedSymbol]) -> HarnessError {
    let file = request.task.as_ref().map(|(file, _)| file.clone()).unwrap_or_default();
    HarnessError::NoSymbol { file, names: candidates.iter().map(|candidate| candidate.name.clone()).collect() }
}

/// The operation in the instruction; `None` where only a model can read it.
fn understood(request: &EditRequest, symbol: &SymbolPath) -> Result<Option<Understood>, HarnessError> {
    let (operation, prose) = (operation_of(request), prose_of(request));
    if prose.trim().is_empty() && operation.is_none() {
        return Err(HarnessError::NoInstruction);
    }
    match editor::understand(operation, prose, symbol) {
        Ok(understood) => Ok(Some(understood)),
        // What was meant to be exact is not handed to a model to guess at.
        Err(refusal) if refusal.mistake().is_some() => {
            let argument = refusal.mistake().unwrap_or_default().to_owned();
            Err(HarnessError::Argument { argument, reason: refusal.to_string() })
        }
        Err(_) if request.editor != EditorChoice::Rules && request.model.base_url.is_some() => Ok(None),
        Err(refusal) => Err(HarnessError::NotUnderstood { reason: refusal.to_string() }),
    }
}

fn operation_of(request: &EditRequest) -> Option<&str> {
    request.operation.as_deref().or_else(|| request.task.as_ref()?.1.operation.as_deref())
}

fn prose_of(request: &EditRequest) -> &str {
    let of_task = request.task.as_ref().map(|(_, task)| task.prose.as_str());
    request.instruction.as_deref().or(of_task).unwrap_or_default()
}

/// The job that a request comes to, once the sites are known.
fn job<'j>(
    request: &'j EditRequest,
    surroundings: &Surroundings,
    scouted: ScoutedSites,
) -> Result<Job<'j>, HarnessError> {
    let task = request.task.as_ref().map(|(_, task)| task);
    let understood = understood(request, &scouted.symbol.path)?;
    let revisions: BTreeMap<RelPath, Revision> =
        scouted.files.iter().map(|file| (file.file.clone(), file.revision.clone())).collect();
    let chosen = Chosen::new(request, task, &scouted.files)?;
    let (sites, mut left) = chosen.split(scouted.sites);
    let of_task: &[SiteKind] = task.map_or(&[], |task| &task.sites);
    let wanted = if request.kinds.is_empty() { of_task } else { &request.kinds };
    let (sites, others) = by_kind(sites, wanted);
    left.extend(others);
    let prose = prose_of(request);
    let instruction = operation_of(request).filter(|_| prose.trim().is_empty()).unwrap_or(prose).to_owned();
    Ok(Job {
        workspace: &request.workspace,
        signature: signature(&request.workspace, &scouted.symbol),
        symbol: scouted.symbol,
        instruction,
        understood,
        sites,
        revisions,
        left,
        attempts: request.model.attempts,
        strict: request.strict,
        show_file: request.show_file,
        oracle: oracle(request, task, surroundings),
        unresolved: scouted.unresolved,
        roots: scouted.roots,
    })
}

/// The oracle that was named, else the one beside a fixture's `work/`.
fn oracle(request: &EditRequest, task: Option<&Task>, surroundings: &Surroundings) -> Option<Oracle> {
    if let Some(command) = request.oracle.as_ref().or_else(|| task?.oracle.as_ref()) {
        return Some(Oracle::shell(command));
    }
    let around = request.workspace.as_path().parent()?;
    let is_fixture = around.join("task.md").is_file() && request.workspace.as_path() == around.join("work");
    // With the gate off there is no shadow to run it in, and nobody asked for it.
    let has_shadow = request.gate != GateChoice::Off;
    (is_fixture && has_shadow).then(|| Oracle::folder(&around.join("oracle"), surroundings.path.as_deref())).flatten()
}

async fn edit_with(
    request: &EditRequest,
    job: Job<'_>,
    pyrefly: &Pyrefly,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<Edited, HarnessError> {
    let mode = match request.gate {
        GateChoice::Project => GateMode::Project,
        GateChoice::File => GateMode::File,
        GateChoice::Off => GateMode::Off,
    };
    let spared = job.understood.as_ref().map_or_else(Spared::default, |Understood { spared, .. }| spared.clone());
    let by_rules = job.understood.is_some() && request.editor != EditorChoice::Model;
    if by_rules {
        let author = wiring::rules(spared);
        editing::edit(job, &author, pyrefly, mode, clock, progress).await
    } else {
        let author = wiring::model(&request.model, spared).await?;
        editing::edit(job, &author, pyrefly, mode, clock, progress).await
    }
}
