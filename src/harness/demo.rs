//! The main job on an embedded fixture, in a copy of its own: scout, edit, gate, oracle, undo, and the proof that
//! nothing but the sites changed.
//!
//! The proof doesn't rely on the report: it compares the files as they were embedded with the files on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::checker::Scratch;
use crate::plan::{MentionClass, ScoutOptions, Site, SymbolPath, Worklist};
use crate::python;
use crate::scout::ScoutError;
use crate::text::{ByteSpan, ProjectRoot, RelPath};

use super::clock::Stopwatch;
use super::request::{EditRequest, EditorChoice, GateChoice, ModelRequest, Target, Writing};
use super::scouting::{self, Asked, Progress};
use super::task::candidate_symbols;
use super::{
    Clock, HarnessError, Report, STATE_FOLDER, Surroundings, Task, fixture_files, read_task, run, undo_run,
    workspace_root,
};

mod untouched;

use untouched::{Region, gaps, new_texts};

const TASK: &str = "task.md";
const WORK: &str = "work";

/// Files by their `/`-separated paths.
type Tree = BTreeMap<String, Vec<u8>>;

/// A fixture in a folder of its own, removed when the value is dropped.
pub(crate) struct Demo {
    fixture: &'static str,
    folder: PathBuf,
    workspace: ProjectRoot,
    surroundings: Surroundings,
    task: Task,
    _scratch: Scratch,
}

/// What a demo came to.
pub(crate) struct Demonstration {
    pub(crate) fixture: &'static str,
    pub(crate) report: Report,
    pub(crate) others: Others,
    /// Files that undo didn't bring back byte for byte.
    pub(crate) not_undone: Vec<String>,
    pub(crate) seconds: f64,
}

/// Everything outside the sites, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Others {
    /// Bytes outside the sites' regions, over all files.
    pub(crate) bytes: usize,
    /// Files that changed outside the sites' regions, came, or went.
    pub(crate) changed: Vec<String>,
    /// Decoys, mentions in strings and comments, and longer names.
    pub(crate) lookalikes: usize,
    pub(crate) untouched: usize,
}

impl Demonstration {
    /// What went otherwise than it must, one line each.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let totals = &self.report.totals;
        if totals.sites == 0 || totals.applied != totals.sites {
            problems.push(format!("{} of {} sites were applied", totals.applied, totals.sites));
        }
        match &self.report.oracle {
            None => problems.push("no oracle was run".to_owned()),
            Some(oracle) => {
                if oracle.before {
                    problems.push("the oracle was green before the edits".to_owned());
                }
                if oracle.after != Some(true) {
                    problems.push("the oracle wasn't green after the edits".to_owned());
                }
            }
        }
        problems.extend(self.others.changed.iter().map(|file| format!("{file} changed outside the sites")));
        if self.others.untouched != self.others.lookalikes {
            problems.push("something that merely looks like a site was touched".to_owned());
        }
        problems.extend(self.not_undone.iter().map(|file| format!("undo didn't bring {file} back")));
        problems
    }
}

impl Demo {
    /// Copies the fixture.
    pub(crate) fn prepare(surroundings: &Surroundings, fixture: &'static str) -> Result<Self, HarnessError> {
        let parent = folder_for_copies(&std::env::temp_dir());
        let scratch = Scratch::new_in(&parent, "tainie-demo")?;
        let canonical = scratch.path().canonicalize().map_err(failed(scratch.path()))?;
        let folder = canonical.join(fixture);
        for file in fixture_files(fixture) {
            write(&folder.join(file.path), file.bytes)?;
        }
        let task = read_task(&folder.join(TASK))?;
        // A record elsewhere would outlive the copy.
        let surroundings = Surroundings { state_dir: None, ..surroundings.clone() };
        let workspace = workspace_root(&folder.join(WORK))?;
        Ok(Self { fixture, folder, workspace, surroundings, task, _scratch: scratch })
    }

    /// The first line of the task.
    pub(crate) fn headline(&self) -> &str {
        self.task.prose.split(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or_default()
    }

    /// The worklist of the symbol that the task names.
    pub(crate) async fn scout(&self, progress: &dyn Progress) -> Result<Worklist, HarnessError> {
        let candidates = candidate_symbols(&self.task.prose);
        for candidate in &candidates {
            if SymbolPath::parse(&candidate.name).is_err() {
                continue;
            }
            let asked = Asked::Name(candidate.name.clone());
            let options = ScoutOptions::default();
            match scouting::scout(&self.surroundings, &self.workspace, &asked, &options, None, progress).await {
                Ok(scouted) => return Ok(scouted.worklist),
                Err(HarnessError::Scout(ScoutError::NotFound { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let names = candidates.into_iter().map(|candidate| candidate.name).collect();
        Err(HarnessError::NoSymbol { file: TASK.to_owned(), names })
    }

    /// Carries the task out, looks at every byte, takes the run back, and looks again.
    pub(crate) async fn edit(
        &self,
        worklist: &Worklist,
        model: &ModelRequest,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<Demonstration, HarnessError> {
        let request = self.request(model);
        let mut watch = Stopwatch::start(clock);
        let done = run::edit(&self.surroundings, &request, clock, progress).await?;
        let seconds = watch.lap();
        let before = embedded(self.fixture);
        let others = compare(&before, &self.tree()?, worklist);
        if done.report.run.is_some() {
            undo_run(&self.surroundings, &self.folder, Some(&self.workspace), None, clock)?;
        }
        let not_undone = differences(&before, &self.tree()?);
        Ok(Demonstration { fixture: self.fixture, report: done.report, others, not_undone, seconds })
    }

    fn request(&self, model: &ModelRequest) -> EditRequest {
        EditRequest {
            workspace: self.workspace.clone(),
            target: Target::Task,
            scout: ScoutOptions::default(),
            second_opinion: None,
            task: Some((TASK.to_owned(), self.task.clone())),
            instruction: None,
            operation: None,
            editor: if model.base_url.is_some() { EditorChoice::Model } else { EditorChoice::Rules },
            model: model.clone(),
            gate: GateChoice::Project,
            kinds: Vec::new(),
            strict: false,
            include: Vec::new(),
            exclude: Vec::new(),
            // The one beside `work/` is found.
            oracle: None,
            show_file: false,
            writing: Writing::Apply,
        }
    }

    /// Every file of the copy, except tainie's own record.
    fn tree(&self) -> Result<Tree, HarnessError> {
        let record = self.workspace.as_path().join(STATE_FOLDER);
        let mut tree = Tree::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(failed(&folder))? {
                let path = entry.map_err(failed(&folder))?.path();
                if path.is_dir() && path != record {
                    folders.push(path);
                } else if path.is_file() {
                    let bytes = fs::read(&path).map_err(failed(&path))?;
                    let below = path.strip_prefix(&self.folder).expect("the walk stays below the folder");
                    tree.insert(RelPath::from_path(below)?.to_string(), bytes);
                }
            }
        }
        Ok(tree)
    }
}

fn embedded(fixture: &str) -> Tree {
    fixture_files(fixture).map(|file| (file.path.to_owned(), file.bytes.to_vec())).collect()
}

/// The folder for temporary files, or another one where that lies below a hidden folder, which type checkers skip.
fn folder_for_copies(usual: &Path) -> PathBuf {
    let fits = |folder: &Path| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        folder.is_dir() && !folder.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    };
    let others = ["/var/tmp", "/tmp"].map(PathBuf::from);
    [usual.to_owned()].into_iter().chain(others).find(|folder| fits(folder)).unwrap_or_else(|| usual.to_owned())
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> HarnessError {
    let path = path.display().to_string();
    move |error| HarnessError::Demo { path, reason: error.to_string() }
}

#[expect(clippy::disallowed_methods, reason = "the demo writes its own copy of a fixture, no project file")]
fn write(path: &Path, bytes: &[u8]) -> Result<(), HarnessError> {
    let folder = path.parent().expect("a file of a fixture stands in a folder");
    fs::create_dir_all(folder).map_err(failed(folder))?;
    fs::write(path, bytes).map_err(failed(path))
}

/// Paths whose bytes differ, or that only one side has.
fn differences(before: &Tree, after: &Tree) -> Vec<String> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// Compares all files outside the regions of the worklist's sites.
fn compare(before: &Tree, after: &Tree, worklist: &Worklist) -> Others {
    let mut others = Others::default();
    for path in differences(before, after) {
        let (Some(old), Some(new)) = (before.get(&path), after.get(&path)) else {
            others.changed.push(path);
            continue;
        };
        let regions = regions_of(&path, &worklist.sites);
        let is_site = |old: &[u8], region: Region, new: &[u8]| stays_a_call(old, region, new);
        if regions.is_empty() || new_texts(old, new, &regions, &is_site).is_none() {
            others.changed.push(path);
        }
    }
    for (path, bytes) in before {
        let gaps = gaps(bytes.len(), &regions_of(path, &worklist.sites));
        others.bytes += gaps.iter().map(ExactSizeIterator::len).sum::<usize>();
    }
    let decoys = worklist.mentions.iter().filter(|m| matches!(m.class, MentionClass::Decoy | MentionClass::Text));
    let near = worklist.near.iter().map(|near| (&near.file, near.span));
    for (file, span) in decoys.map(|mention| (&mention.file, mention.span)).chain(near) {
        let path = in_work(file);
        others.lookalikes += 1;
        let inside = regions_of(&path, &worklist.sites).iter().any(|region| region.whole.contains(span));
        if !inside && !others.changed.contains(&path) {
            others.untouched += 1;
        }
    }
    others
}

fn in_work(file: &RelPath) -> String {
    format!("{WORK}/{file}")
}

/// The outermost regions of the sites of one file, ascending.
fn regions_of(path: &str, sites: &[Site]) -> Vec<Region> {
    let of_file = sites.iter().filter(|site| in_work(&site.file) == path);
    untouched::outermost(of_file.map(|site| Region { whole: site.region, name: site.span }).collect())
}

/// Whether a region's new text is one expression that begins like the old one, its name included.
fn stays_a_call(old: &[u8], region: Region, new: &[u8]) -> bool {
    let head = ByteSpan::new(region.whole.start().get(), region.name.end().get());
    let rest = old.get(head.start().get()..head.end().get()).and_then(|head| new.strip_prefix(head));
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let begins_alike = rest.is_some_and(|rest| !rest.first().copied().is_some_and(goes_on));
    let is_expression = std::str::from_utf8(new).is_ok_and(|text| python::parses(&format!("(\n{text}\n)"), false));
    begins_alike && is_expression
}

#[cfg(test)]
mod tests;
