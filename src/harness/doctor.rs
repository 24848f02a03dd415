//! What is there, what is missing, why it matters, and the command that mends it; and the installation of what is
//! missing most, the type checker.
//!
//! A thing that is merely absent is no fault: only what is there and doesn't work makes a checkup unhealthy.
//! Deliberately absent: any look at a host that the user didn't name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::checker::{self, CheckerError, FindOptions, InstallStep, Origin, Outcome, Pyrefly, Search};
use crate::editor::{Author, EditorError, Spared};
use crate::scout::{Codebase, ScoutError};
use crate::text::{ProjectRoot, RelPath};

use super::journal::{History, JOURNAL_FILE, Journal};
use super::opinion::KNOWN;
use super::records::recorded;
use super::request::ModelRequest;
use super::scouting::Progress;
use super::wire::SCHEMA_VERSION;
use super::{HarnessError, JournalError, RunState, StateError, Surroundings, wiring};

mod programs;

use programs::{Program, installer_of, probe, quoted};

/// A server that a person waits for answers sooner than one that writes code.
const MODEL_PATIENCE: Duration = Duration::from_secs(10);
/// More names of files say nothing more.
const NAMED_FILES: usize = 5;

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckState {
    Ok,
    /// Absent; what needs it can't be done, the rest can.
    Missing,
    /// There, and it doesn't work.
    Broken,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) state: CheckState,
    /// What was found; further lines give the particulars.
    pub(crate) detail: String,
    pub(crate) why: &'static str,
    /// The command that mends it, where there is one.
    pub(crate) fix: Option<String>,
}

/// Everything that was looked at, version 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Checkup {
    pub(crate) schema_version: u32,
    pub(crate) healthy: bool,
    pub(crate) checks: Vec<Check>,
}

impl Checkup {
    fn new(checks: Vec<Check>) -> Self {
        let healthy = checks.iter().all(|check| check.state != CheckState::Broken);
        Self { schema_version: SCHEMA_VERSION, healthy, checks }
    }
}

/// What a checkup is about.
pub(crate) struct CheckupRequest {
    /// The current folder.
    pub(crate) folder: PathBuf,
    /// The workspace that was named, else the current folder where it looks like one.
    pub(crate) workspace: Option<ProjectRoot>,
    /// Whether the workspace was named on the command line.
    pub(crate) named: bool,
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<String>,
}

/// Looks at everything.
pub(crate) async fn doctor(surroundings: &Surroundings, request: &CheckupRequest) -> Checkup {
    let options = surroundings.find_options(request.workspace.as_ref().map(ProjectRoot::as_path));
    let search = checker::search(&options).await;
    let path = surroundings.path.as_deref();
    let (python, uv) = (programs::python(path).await, probe(path, &["uv"], &["--version"]).await);
    let pytest = probe(path, &["pytest"], &["--version"]).await;
    let mut checks = vec![pyrefly_check(&search)];
    checks.push(python_check(&python, uv.is_there() || search.found.is_some(), path));
    checks.push(uv_check(&uv, &python, path));
    checks.push(pytest_check(&pytest, &python));
    if let Some(workspace) = &request.workspace {
        checks.push(workspace_check(workspace, search.found.as_ref()).await);
    }
    checks.push(opinion_check(&options));
    checks.push(model_check(request).await);
    checks.push(journal_check(surroundings, request));
    Checkup::new(checks)
}

/// Whether a folder looks like a workspace at a glance: without a walk, which in a home folder would take minutes.
pub(crate) fn looks_like_workspace(folder: &Path) -> bool {
    const MARKS: [&str; 5] = ["pyproject.toml", "pyrefly.toml", "setup.py", "setup.cfg", "task.md"];
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_python = |path: &Path| path.extension().is_some_and(|end| end == "py" || end == "pyi");
    let has_python = |folder: &Path| entries(folder).any(|path| is_python(&path));
    MARKS.iter().any(|mark| folder.join(mark).is_file())
        || has_python(folder)
        || entries(folder).any(|path| path.join("__init__.py").is_file())
        || has_python(&folder.join("src"))
}

/// The pinned pyrefly in tainie's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    pub(crate) program: PathBuf,
    pub(crate) version: String,
}

/// Installs the pinned pyrefly, unless it is there already.
pub(crate) async fn setup(surroundings: &Surroundings, progress: &dyn Progress) -> Result<Installed, HarnessError> {
    let tell = |step| progress.step(&told(step), 0);
    let pyrefly = checker::install(&surroundings.cache, tell).await?;
    Ok(Installed { program: pyrefly.program().to_owned(), version: pyrefly.version().to_owned() })
}

/// Sees to it that there is a pyrefly. One that the user named and that doesn't work is an error: nothing stands in.
pub(crate) async fn provision(surroundings: &Surroundings, progress: &dyn Progress) -> Result<(), HarnessError> {
    let options = surroundings.find_options(None);
    let search = checker::search(&options).await;
    if search.found.is_none() {
        match search.mend {
            Some(_) => drop(setup(surroundings, progress).await?),
            None => drop(Pyrefly::find(&options).await?),
        }
    }
    Ok(())
}

fn told(step: InstallStep) -> String {
    match step {
        InstallStep::Preparing { with } => format!("preparing an environment with {with}"),
        InstallStep::Fetching { version } => format!("fetching pyrefly {version}"),
        InstallStep::Verifying => "trying the new pyrefly".to_owned(),
    }
}

fn pyrefly_check(search: &Search) -> Check {
    let mut places = vec!["looked at:".to_owned()];
    for place in &search.candidates {
        let found = match &place.outcome {
            Outcome::Usable { version } => format!("{version}, used"),
            Outcome::Missing => "not there".to_owned(),
            Outcome::Broken(error) => with_causes(error),
        };
        places.push(format!("  {} ({}): {found}", place.program.display(), place.origin));
    }
    let broken = search.candidates.iter().find(|place| matches!(place.outcome, Outcome::Broken(_)));
    let (state, summary) = match (&search.found, broken) {
        (Some(found), _) => {
            let (version, origin) = (found.version(), found.origin());
            (CheckState::Ok, format!("{version}, {} ({origin})", found.program().display()))
        }
        (None, Some(place)) => (CheckState::Broken, format!("the one of {} doesn't work", place.origin)),
        (None, None) => (CheckState::Missing, "not found".to_owned()),
    };
    // A program that was named stands before all others: installing one wouldn't help.
    let fix = match (state, broken.map(|place| place.origin), search.mend) {
        (CheckState::Ok, ..) => None,
        (_, Some(Origin::EnvironmentVariable), None) => Some("unset TAINIE_PYREFLY".to_owned()),
        (.., mend) => mend.map(str::to_owned),
    };
    Check {
        name: "pyrefly",
        state,
        detail: format!("{summary}\n{}", places.join("\n")),
        why: "the type checker finds the references and vetoes edits; nothing but `undo` works without",
        fix,
    }
}

fn python_check(python: &Program, installs_otherwise: bool, path: Option<&OsStr>) -> Check {
    let why =
        "it runs the oracles, tells the type checker where packages are, and installs pyrefly where uv isn't there";
    let mut check = program_check("python3", python, why);
    match python {
        Program::Missing => check.fix = installer_of("python3", path),
        Program::Answers { said, .. } if said.ends_with(programs::WITHOUT_VENV) && !installs_otherwise => {
            check.state = CheckState::Missing;
            check.fix = installer_of("python3-venv", path);
        }
        Program::Answers { .. } | Program::Fails { .. } => {}
    }
    check
}

fn uv_check(uv: &Program, python: &Program, path: Option<&OsStr>) -> Check {
    let why = "`tainie setup` takes it before python3's venv and pip; one of the two is enough";
    let mut check = program_check("uv", uv, why);
    if matches!(uv, Program::Missing) {
        let by_python = python.is_there().then(|| "python3 -m pip install uv".to_owned());
        check.fix = installer_of("uv", path).or(by_python);
    }
    check
}

fn pytest_check(pytest: &Program, python: &Program) -> Check {
    let why = "an oracle folder is run with it; without, each of its files is run by plain python3";
    let mut check = program_check("pytest", pytest, why);
    if matches!(pytest, Program::Missing) && python.is_there() {
        check.fix = Some("python3 -m pip install pytest".to_owned());
    }
    check
}

fn program_check(name: &'static str, program: &Program, why: &'static str) -> Check {
    let (state, detail) = match program {
        Program::Missing => (CheckState::Missing, "not on PATH".to_owned()),
        Program::Answers { program, said } => (CheckState::Ok, format!("{said}, {}", program.display())),
        Program::Fails { program, reason } => {
            (CheckState::Broken, format!("{} doesn't work: {reason}", program.display()))
        }
    };
    Check { name, state, detail, why, fix: None }
}

/// The other language servers that are there. They aren't started: one takes seconds to say its version.
fn opinion_check(options: &FindOptions) -> Check {
    let found = KNOWN.iter().map(|known| (known, checker::find_program(options, known.program)));
    let told = found.clone().map(|(known, program)| {
        let name = known.opinion.as_str();
        program.map_or_else(|| format!("{name}: not there"), |program| format!("{name}: {}", program.display()))
    });
    let is_there = found.clone().any(|(_, program)| program.is_some());
    Check {
        name: "second opinion",
        state: if is_there { CheckState::Ok } else { CheckState::Missing },
        detail: told.collect::<Vec<_>>().join("; "),
        why: "`--second-opinion` asks another type checker about each mention; nothing needs it",
        fix: (!is_there).then(|| KNOWN[0].installer()),
    }
}

async fn workspace_check(workspace: &ProjectRoot, pyrefly: Option<&Pyrefly>) -> Check {
    let (state, detail) = match Codebase::open(workspace) {
        Ok(codebase) => {
            let files: Vec<RelPath> = codebase.checked_files().cloned().collect();
            covered(workspace, &files, pyrefly).await
        }
        Err(ScoutError::NoPython { .. }) => (CheckState::Missing, "no Python file".to_owned()),
        Err(error) => (CheckState::Broken, with_causes(&error)),
    };
    Check {
        name: "workspace",
        state,
        detail: format!("{workspace}: {detail}"),
        why: "the project's configuration says where imports come from and which files the type checker reads; in a \
              file that isn't covered, edits can't be checked",
        fix: None,
    }
}

/// What the type checker says of the workspace's files.
async fn covered(workspace: &ProjectRoot, files: &[RelPath], pyrefly: Option<&Pyrefly>) -> (CheckState, String) {
    let count = match files.len() {
        1 => "1 Python file".to_owned(),
        count => format!("{count} Python files"),
    };
    let Some(pyrefly) = pyrefly else {
        return (CheckState::Ok, format!("{count}; without pyrefly nobody can say which are covered"));
    };
    let config = match pyrefly.dump_config(workspace.as_path(), &[], &[], None).await {
        Ok(config) => config,
        Err(CheckerError::NothingCovered { .. }) => {
            return (CheckState::Broken, format!("{count}, and the type checker covers none of them"));
        }
        Err(error) => return (CheckState::Broken, format!("{count}; {}", with_causes(&error))),
    };
    let uncovered: Vec<&RelPath> =
        files.iter().filter(|file| !config.covered.contains(&workspace.join(file))).collect();
    let summary = if uncovered.is_empty() {
        format!("{count}, all covered by the type checker")
    } else {
        format!("{count}, {} of them not covered by the type checker", uncovered.len())
    };
    let configuration =
        config.config_file.as_ref().map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    let roots: Vec<String> = config.roots_for_files().iter().map(|root| root.display().to_string()).collect();
    let mut lines =
        vec![summary, format!("configuration: {configuration}"), format!("import roots: {}", roots.join(", "))];
    if !uncovered.is_empty() {
        let named: Vec<&str> = uncovered.iter().take(NAMED_FILES).map(|file| file.as_str()).collect();
        let more = if uncovered.len() > NAMED_FILES { ", …" } else { "" };
        lines.push(format!("not covered: {}{more}", named.join(", ")));
    }
    (CheckState::Ok, lines.join("\n"))
}

async fn model_check(request: &CheckupRequest) -> Check {
    let (state, detail, fix) = match &request.base_url {
        None => (
            CheckState::Missing,
            "none named (TAINIE_BASE_URL, OPENAI_BASE_URL), so none was looked for".to_owned(),
            Some("export TAINIE_BASE_URL=http://127.0.0.1:11434/v1".to_owned()),
        ),
        Some(base_url) => {
            let asked = ModelRequest {
                base_url: Some(base_url.clone()),
                model: None,
                api_key: request.api_key.clone(),
                attempts: 1,
                time_limit: MODEL_PATIENCE,
            };
            let answer = wiring::model(&asked, Spared::default()).await;
            let (state, detail) = answered(base_url, answer.as_ref().map(Author::name));
            (state, detail, None)
        }
    };
    let why = "instructions that the built-in rules can't read exactly need a model; the others don't";
    Check { name: "model server", state, detail, why, fix }
}

/// A server that isn't running is absent; one that is, and gives no sound answer, is broken.
fn answered(base_url: &str, answer: Result<&str, &HarnessError>) -> (CheckState, String) {
    match answer {
        Ok(model) => (CheckState::Ok, format!("{base_url} answers; the first model that it offers is {model}")),
        Err(HarnessError::Model(error @ (EditorError::Unreachable { .. } | EditorError::NoModel { .. }))) => {
            (CheckState::Missing, error.to_string())
        }
        Err(HarnessError::Model(error)) => (CheckState::Broken, error.to_string()),
        Err(error) => (CheckState::Missing, error.to_string()),
    }
}

fn journal_check(surroundings: &Surroundings, request: &CheckupRequest) -> Check {
    let named = request.workspace.as_ref().filter(|_| request.named);
    let check = |state, detail: String, fix| Check {
        name: "journal",
        state,
        detail,
        why: "it holds the bytes before each run; `undo` and the recovery after a crash read it",
        fix,
    };
    let (workspace, state) = match recorded(surroundings, &request.folder, named) {
        Ok(found) => found,
        Err(HarnessError::State(StateError::NoJournal { .. })) => {
            return check(CheckState::Missing, "no run yet, here or in any folder above".to_owned(), None);
        }
        Err(error) => return check(CheckState::Broken, with_causes(&error), None),
    };
    let undo = match named {
        Some(_) => format!("tainie undo --workspace {}", quoted(workspace.as_path())),
        None => "tainie undo".to_owned(),
    };
    match read_journal(&state) {
        Ok(read) => {
            let known = format!("{}: {} recorded, {} applied", state.display(), read.runs, read.applied);
            match read.interrupted {
                None => check(CheckState::Ok, known, None),
                Some(run) if read.is_busy => {
                    check(CheckState::Ok, format!("{known}; run {run} is being written just now"), None)
                }
                Some(run) => {
                    let detail = format!("{known}; run {run} was interrupted, and its files may be half-written");
                    check(CheckState::Broken, detail, Some(undo))
                }
            }
        }
        Err(JournalError::Missing { .. }) => check(CheckState::Missing, format!("no run yet in {workspace}"), None),
        Err(error @ JournalError::Newer { .. }) => check(CheckState::Broken, with_causes(&error), None),
        Err(error) => {
            let file = state.join(JOURNAL_FILE);
            let aside = state.join(format!("{JOURNAL_FILE}.damaged"));
            // Runs from before can't be undone then, and new ones can be recorded again.
            let fix = format!("mv {} {}", quoted(&file), quoted(&aside));
            check(CheckState::Broken, with_causes(&error), Some(fix))
        }
    }
}

struct ReadJournal {
    runs: usize,
    applied: usize,
    interrupted: Option<String>,
    is_busy: bool,
}

/// Reads all of it, pre-images too: one that can't be read back is found before it is needed.
fn read_journal(state: &Path) -> Result<ReadJournal, JournalError> {
    let history = History::open(state)?;
    let runs = history.runs()?;
    let applied: Vec<_> = runs.iter().filter(|run| run.state == RunState::Applied).collect();
    for run in runs.iter().filter(|run| matches!(run.state, RunState::Applied | RunState::Intended)) {
        for file in &run.files {
            history.pre_image(run.id, file)?;
        }
    }
    let interrupted = history.unfinished()?.map(|run| run.to_string());
    // A run that is under way looks like an interrupted one, but its process holds the lock.
    let is_busy = interrupted.is_some() && matches!(Journal::open_existing(state), Err(JournalError::Locked { .. }));
    Ok(ReadJournal { runs: runs.len(), applied: applied.len(), interrupted, is_busy })
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests;
