//! What is known of a workspace before a scout: its project, its import roots, and what there is to say about them.

use std::path::{Path, PathBuf};

use crate::checker::{CheckerError, Odd, ProjectConfig, Pyrefly};
use crate::plan::{Effort, ExtraRoots};
use crate::scout::{self, Codebase, Standing, Unrooted};
use crate::text::ProjectRoot;

use super::wire::name_of_root;
use super::{HarnessError, wiring};

/// How many imports that don't resolve are named.
const NAMED: usize = 3;

/// A workspace's project.
pub(super) struct Survey {
    /// `None` where the type checker covers none of the workspace's files.
    pub(super) project: Option<ProjectConfig>,
    pub(super) roots: ExtraRoots,
    /// One line each.
    pub(super) notes: Vec<String>,
}

impl Survey {
    /// What a language server searches; empty where it finds that out by itself.
    pub(super) fn search_path(&self) -> Vec<PathBuf> {
        search_path(self.project.as_ref(), &self.roots)
    }
}

/// Asks for the project around the workspace, and for the folders without which its imports don't resolve; names the
/// modules of `codebase` accordingly.
pub(super) async fn survey(
    pyrefly: &Pyrefly,
    workspace: &ProjectRoot,
    codebase: &mut Codebase,
    given: &[PathBuf],
    effort: Effort,
) -> Result<Survey, HarnessError> {
    let mut roots = ExtraRoots { given: given.to_vec(), found: Vec::new() };
    let mut project = configure(pyrefly, workspace, codebase, &roots).await?;
    let mut definitions = wiring::definitions(pyrefly, effort, &search_path(project.as_ref(), &roots));
    let unrooted = scout::unrooted(codebase, &mut definitions).await?;
    definitions.stop().await;
    for import in &unrooted {
        if let Standing::Root(folder) = &import.standing
            && !roots.found.contains(folder)
        {
            roots.found.push(folder.clone());
        }
    }
    if !roots.found.is_empty() {
        project = configure(pyrefly, workspace, codebase, &roots).await?;
    }
    let mut notes = notes_of(&unrooted, workspace);
    notes.extend(project.as_ref().and_then(|project| left_out_note(project, workspace, codebase)));
    Ok(Survey { project, roots, notes })
}

fn search_path(project: Option<&ProjectConfig>, roots: &ExtraRoots) -> Vec<PathBuf> {
    match project {
        _ if roots.is_empty() => Vec::new(),
        Some(project) => project.search_path.clone(),
        None => roots.given.iter().chain(&roots.found).cloned().collect(),
    }
}

async fn configure(
    pyrefly: &Pyrefly,
    workspace: &ProjectRoot,
    codebase: &mut Codebase,
    roots: &ExtraRoots,
) -> Result<Option<ProjectConfig>, HarnessError> {
    let odd = Odd { below: workspace.as_path(), paths: codebase.odd() };
    match pyrefly.dump_config(workspace.as_path(), &roots.given, &roots.found, Some(odd)).await {
        Ok(config) => {
            codebase.name_modules_from(&config.roots_for_files());
            Ok(Some(config))
        }
        Err(CheckerError::NothingCovered { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn notes_of(unrooted: &[Unrooted], workspace: &ProjectRoot) -> Vec<String> {
    let mut notes: Vec<String> = unrooted.iter().take(NAMED).map(|import| note_of(import, workspace)).collect();
    if unrooted.len() > NAMED {
        let more = unrooted.len() - NAMED;
        notes.push(format!("{more} more modules of the workspace don't resolve by the declared import roots"));
    }
    notes
}

fn note_of(import: &Unrooted, workspace: &ProjectRoot) -> String {
    let Unrooted { module, file, line, standing } = import;
    let shown = |folder: &Path| name_of_root(folder, workspace);
    let import = format!("{module} ({file}:{})", line + 1);
    match standing {
        Standing::Root(folder) => {
            let folder = shown(folder);
            format!(
                "no configuration names {folder} as an import root; it is used as one, for {import} doesn't resolve without it"
            )
        }
        Standing::Doubtful(folders) => {
            let folders: Vec<String> = folders.iter().map(|folder| shown(folder)).collect();
            let folders = folders.join(" or ");
            format!("{import} doesn't resolve, and may be below {folders}: --search-path chooses")
        }
        Standing::Hides(folder, hidden) => {
            let folder = shown(folder);
            format!(
                "{import} doesn't resolve; {folder} isn't used as its import root, for {hidden} would become another module: --search-path {folder} does so all the same"
            )
        }
    }
}

/// One line about the files that a configuration leaves out of checks.
fn left_out_note(project: &ProjectConfig, workspace: &ProjectRoot, codebase: &Codebase) -> Option<String> {
    let configuration = project.config_file.as_ref()?.file_name()?.display();
    let is_left_out = |path: &PathBuf| !project.covered.contains(path) && !project.obstacles.contains_key(path);
    let files: Vec<PathBuf> = codebase.checked_files().map(|file| workspace.join(file)).collect();
    let left_out: Vec<&PathBuf> = files.iter().filter(|path| is_left_out(path)).collect();
    let example = name_of_root(left_out.first()?, workspace);
    let (count, all) = (left_out.len(), files.len());
    Some(format!(
        "{configuration} leaves {count} of {all} Python files out of checks, such as {example}: edits there can't be checked"
    ))
}
