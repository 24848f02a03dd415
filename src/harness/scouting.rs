//! `scout` and `resolve`: from what was asked to a frozen worklist.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::checker::{ProjectConfig, Pyrefly};
use crate::plan::{Effort, ExtraRoots, Family, ScoutOptions, SymbolPath, Worklist};
use crate::scout::{self, Codebase, Facts, Query, Remembered, ScoutError, Watch};
use crate::text::{ProjectRoot, RelPath};

use super::cache::{Cache, Configured, Kept};
use super::opinion::{Consulted, OpinionRequest, consult};
use super::survey::{Survey, survey};
use super::{HarnessError, Surroundings, wiring};

/// Somebody who is told how far a long command has come.
pub(crate) trait Progress {
    /// A step begins; `total` pieces, 0 when that isn't known.
    fn step(&self, what: &str, total: usize);

    /// One piece of the step is done.
    fn tick(&self);
}

pub(super) struct Watching<'p>(pub(super) &'p dyn Progress);

impl Watch for Watching<'_> {
    fn step(&self, what: &str, total: usize) {
        self.0.step(what, total);
    }

    fn tick(&self) {
        self.0.tick();
    }
}

/// What the user asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A dotted name.
    Name(String),
    /// A file of the workspace, a 0-based line, and a 0-based column in characters where one was given.
    Place { file: RelPath, line: usize, column: Option<usize> },
}

impl Asked {
    pub(super) fn query(&self) -> Result<Query, ScoutError> {
        Ok(match self {
            Self::Name(name) => Query::Name(SymbolPath::parse(name)?),
            Self::Place { file, line, column } => Query::Place { file: file.clone(), line: *line, column: *column },
        })
    }
}

/// A worklist with the tools that made it.
#[derive(Debug)]
pub(crate) struct Scouted {
    pub(crate) worklist: Worklist,
    pub(crate) pyrefly_version: String,
}

/// What a name or a position means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolution {
    pub(crate) symbol: String,
    pub(crate) kind: &'static str,
    /// `FILE:LINE:COLUMN`, 1-based.
    pub(crate) definitions: Vec<String>,
}

impl Surroundings {
    /// Who gives the second opinion that was asked for; said first, since a missing server ends the command.
    pub(super) fn consult(
        &self,
        request: Option<&OpinionRequest>,
        workspace: &ProjectRoot,
    ) -> Result<Option<Consulted>, HarnessError> {
        request.map(|request| consult(request, &self.find_options(Some(workspace.as_path())))).transpose()
    }
}

/// Lists every mention of a symbol of the workspace.
pub(crate) async fn scout(
    surroundings: &Surroundings,
    workspace: &ProjectRoot,
    asked: &Asked,
    options: &ScoutOptions,
    opinion: Option<&OpinionRequest>,
    progress: &dyn Progress,
) -> Result<Scouted, HarnessError> {
    let query = asked.query()?;
    let consulted = surroundings.consult(opinion, workspace)?;
    progress.step("reading the project's configuration", 0);
    let pyrefly = surroundings.pyrefly(workspace.as_path()).await?;
    let tools = Tools { surroundings, pyrefly: &pyrefly };
    let (_, worklist) =
        scout_first(tools, workspace, &[query], options, consulted.as_ref(), &|_| Ok(()), progress).await?;
    Ok(Scouted { worklist, pyrefly_version: pyrefly.version().to_owned() })
}

/// What a scout works with.
#[derive(Clone, Copy)]
pub(super) struct Tools<'t> {
    pub(super) surroundings: &'t Surroundings,
    pub(super) pyrefly: &'t Pyrefly,
}

/// Scouts the symbol of the first query that names one; says which query that was. References, which cost most,
/// are looked for only once the symbol is accepted.
pub(super) async fn scout_first(
    tools: Tools<'_>,
    workspace: &ProjectRoot,
    queries: &[Query],
    options: &ScoutOptions,
    consulted: Option<&Consulted>,
    accept: &dyn Fn(&SymbolPath) -> Result<(), HarnessError>,
    progress: &dyn Progress,
) -> Result<(usize, Worklist), HarnessError> {
    let pyrefly = tools.pyrefly;
    let Opened { mut codebase, project, search_path, roots, notes, cache, configured, facts } =
        open_remembered(tools, workspace, options).await?;
    let (effort, facts) = (options.effort, RefCell::new(facts));
    let mut definitions = Remembered::new(&facts, wiring::definitions(pyrefly, effort, &search_path));
    progress.step("resolving the symbol", 0);
    let mut found = None;
    for (index, query) in queries.iter().enumerate() {
        match scout::resolve(&mut codebase, &mut definitions, query).await {
            Err(ScoutError::NotFound { .. }) if index + 1 < queries.len() => {}
            resolved => {
                found = Some((index, resolved?));
                break;
            }
        }
    }
    let (index, group) = found.expect("there is at least one query, and the last one ends the search");
    accept(&group.path)?;
    let group = match options.family {
        Family::Exact => group,
        Family::Overrides => scout::with_overrides(&mut codebase, &mut definitions, group).await?,
    };
    let glean = Remembered::new(&facts, wiring::glean(pyrefly, effort));
    let references = Remembered::new(&facts, wiring::references(pyrefly, effort, &search_path));
    // An index that was never built answers with nothing, which must not look like "no references".
    let references = project.as_ref().is_none_or(|project| !project.index_fails).then_some(&references);
    let (mut second, unheard) = match consulted {
        Some(Consulted::Server(opinion, server)) => {
            (Some((*opinion, wiring::second_opinion(server.clone(), &search_path))), None)
        }
        Some(Consulted::Nobody(note)) => (None, Some(note.clone())),
        None => (None, None),
    };
    let opinion = second.as_mut().map(|(opinion, server)| (*opinion, server));
    let watch = Watching(progress);
    let found = scout::find(&mut codebase, group, &mut definitions, (&glean, references), opinion, effort, &watch);
    // Boxed, since it is the larger part of every command's future.
    let mut worklist = Box::pin(found).await?;
    definitions.into_backend().stop().await;
    if let Some((_, server)) = &mut second {
        server.stop().await;
    }
    if let Some((cache, configured)) = cache.zip(configured) {
        if !cache.is_of(&codebase) && !options.afresh {
            // A file changed between two looks at it, so that old answers may have met a new text.
            let afresh = ScoutOptions { afresh: true, ..options.clone() };
            return Box::pin(scout_first(tools, workspace, queries, &afresh, consulted, accept, progress)).await;
        }
        cache.write(&configured, &facts.borrow(), &codebase);
    }
    worklist.roots = roots;
    worklist.notes.extend(unheard);
    worklist.notes.extend(notes);
    if let Some(project) = project {
        worklist.notes.extend(outside_note(workspace, &project.root, worklist.symbol.path.name())?);
        worklist.notes.extend(obstacles_note(&project));
    }
    Ok((index, worklist))
}

/// A workspace with what is known of it.
struct Opened {
    codebase: Codebase,
    /// `None` where a cache speaks for it, or where the type checker covers none of its files.
    project: Option<ProjectConfig>,
    /// What a language server searches, where it can't find that out by itself.
    search_path: Vec<PathBuf>,
    roots: ExtraRoots,
    notes: Vec<String>,
    cache: Option<Cache>,
    configured: Option<Configured>,
    facts: Facts,
}

async fn open_remembered(
    tools: Tools<'_>,
    workspace: &ProjectRoot,
    options: &ScoutOptions,
) -> Result<Opened, HarnessError> {
    let mut codebase = list(workspace)?;
    let given = &options.search_path;
    let cache = Cache::of(tools.surroundings, tools.pyrefly, workspace, given, &codebase);
    if let Some(Kept { configured, facts }) = cache.as_ref().filter(|_| !options.afresh).and_then(Cache::read) {
        codebase.name_modules_from(&configured.import_roots);
        let roots = ExtraRoots { given: given.clone(), found: configured.found_roots.clone() };
        let search_path = if roots.is_empty() { Vec::new() } else { configured.import_roots.clone() };
        let (project, notes, configured) = (None, configured.notes.clone(), Some(configured));
        return Ok(Opened { codebase, project, search_path, roots, notes, cache, configured, facts });
    }
    let surveyed = survey(tools.pyrefly, workspace, &mut codebase, given, options.effort).await?;
    let search_path = surveyed.search_path();
    let Survey { project, roots, notes } = surveyed;
    let configured = project.as_ref().and_then(|config| Configured::of(config, &roots.found, &notes, workspace));
    Ok(Opened { codebase, project, search_path, roots, notes, cache, configured, facts: Facts::default() })
}

/// One line about the mentions that the workspace leaves out of its project.
fn outside_note(workspace: &ProjectRoot, project: &Path, name: &str) -> Result<Option<String>, HarnessError> {
    let outside = scout::mentions_outside(project, workspace, name)?;
    if outside == 0 {
        return Ok(None);
    }
    let below = workspace.as_path().strip_prefix(project).unwrap_or(workspace.as_path()).display();
    let up = workspace.as_path().strip_prefix(project).map_or(1, |below| below.components().count());
    let up = vec![".."; up].join("/");
    let mentions = if outside == 1 { "mention" } else { "mentions" };
    Ok(Some(format!("{outside} {mentions} outside {below}/; run on {up} to include them")))
}

/// One line about what the type checker can't pass, for the project's checks leave it out.
fn obstacles_note(project: &ProjectConfig) -> Option<String> {
    const NAMED: usize = 3;
    if project.obstacles.is_empty() {
        return None;
    }
    let shown = |path: &Path| path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
    let named = project.obstacles.iter().take(NAMED).map(|(path, why)| format!("{} ({})", shown(path), why.as_str()));
    let more = project.obstacles.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let named = named.collect::<Vec<_>>().join(", ");
    let index = if project.index_fails {
        "; its index of references isn't built beside them and was not asked: remove them to have that cross-check too"
    } else {
        ""
    };
    Some(format!("the type checker can't pass these, and checks leave them out: {named}{more}{index}"))
}

/// Says what a name or a position means.
pub(crate) async fn resolve(
    surroundings: &Surroundings,
    workspace: &ProjectRoot,
    asked: &Asked,
    search_path: &[PathBuf],
) -> Result<Resolution, HarnessError> {
    let query = asked.query()?;
    let pyrefly = surroundings.pyrefly(workspace.as_path()).await?;
    let mut codebase = list(workspace)?;
    let effort = Effort::default();
    let surveyed = survey(&pyrefly, workspace, &mut codebase, search_path, effort).await?;
    let mut definitions = wiring::definitions(&pyrefly, effort, &surveyed.search_path());
    let group = scout::resolve(&mut codebase, &mut definitions, &query).await?;
    definitions.stop().await;
    let symbol = scout::symbol_of(&mut codebase, &group);
    Ok(Resolution {
        symbol: symbol.path.to_string(),
        kind: symbol.kind.as_str(),
        definitions: symbol
            .definitions
            .iter()
            .map(|d| format!("{}:{}:{}", d.file, d.position.line() + 1, d.position.column() + 1))
            .collect(),
    })
}

/// What can be said without asking pyrefly is said first: it has no words for a folder without Python.
fn list(workspace: &ProjectRoot) -> Result<Codebase, HarnessError> {
    if workspace.as_path().to_str().is_none() {
        return Err(HarnessError::WorkspaceName { path: workspace.to_string() });
    }
    Ok(Codebase::open(workspace)?)
}

/// Makes a folder the root of a workspace: absolute, symbolic links resolved.
pub(crate) fn workspace_root(path: &Path) -> Result<ProjectRoot, HarnessError> {
    let refused = |reason: String| HarnessError::Workspace { path: path.display().to_string(), reason };
    let canonical = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    if !canonical.is_dir() {
        return Err(refused("it isn't a folder".to_owned()));
    }
    Ok(ProjectRoot::from_canonical(canonical))
}
