//! Both sides under the type checker: the original once, the shadow as often as it takes.
//!
//! Both sides are checked under the same flags: the environment of the original named instead of asked for, all
//! import roots of the project as `--search-path` (those of editable installs included), ignore files switched off
//! and what they leave out named instead. So nothing depends on where the copy stands, and nothing leads back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::diagnostics::{Found, new_findings};
use super::shadow::{Shadow, is_environment, left_out};
use super::{GateError, GateMode};
use crate::checker::{CheckOptions, CheckOutput, Inspection, ProjectConfig, Pyrefly, pattern};
use crate::plan::ExtraRoots;
use crate::text::{RelPath, SourceText};

/// The shadow, the flags and what the project says without any edit.
#[derive(Debug)]
pub(super) struct Judging {
    pyrefly: Pyrefly,
    pub(super) shadow: Shadow,
    options: CheckOptions,
    pub(super) baseline: Vec<Found>,
    /// Absolute paths in the shadow.
    covered: BTreeSet<PathBuf>,
    pub(super) uncovered: BTreeSet<RelPath>,
    /// Texts in the shadow that differ from the original's.
    written: BTreeMap<RelPath, String>,
}

impl Judging {
    pub(super) async fn open(
        pyrefly: &Pyrefly,
        workspace: &Path,
        files: &BTreeSet<RelPath>,
        mode: GateMode,
        roots: &ExtraRoots,
    ) -> Result<Self, GateError> {
        let workspace = workspace.canonicalize().map_err(GateError::io(workspace))?;
        let project = pyrefly.dump_config(&workspace, &roots.given, &roots.found, None).await?;
        let shadow = Shadow::new(&project, &workspace)?;
        let original = flags(&project, files, &workspace, mode);
        let mut options = moved(&original, &shadow);
        let mut covered: BTreeSet<PathBuf> = match mode {
            GateMode::File => options.files.iter().cloned().collect(),
            GateMode::Project | GateMode::Off => project.covered.iter().map(|file| shadow.twin(file)).collect(),
        };
        let mut seen = pyrefly.inspect(shadow.workspace(), &options).await?;
        let is_copy = |file: &&PathBuf| file.starts_with(shadow.root());
        let extra: BTreeSet<PathBuf> = seen.covered.difference(&covered).filter(is_copy).cloned().collect();
        if !extra.is_empty() {
            options.exclude.extend(left_out(shadow.root(), &covered, &extra));
            seen = pyrefly.inspect(shadow.workspace(), &options).await?;
        }
        let missing: Vec<String> = covered.difference(&seen.covered).map(|file| file.display().to_string()).collect();
        if !missing.is_empty() {
            return Err(GateError::ShadowCovers { missing });
        }
        nothing_leads_back(&seen, &project, &options, &shadow)?;

        let in_shadow = pyrefly.check(shadow.workspace(), &options).await?;
        let mut original = original;
        original.exclude = rerooted(&options.exclude, shadow.root(), &project.root);
        let in_original = pyrefly.check(&workspace, &original).await?;
        // A link and its target are one file.
        covered = covered.iter().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone())).collect();
        let baseline = findings(&in_shadow, shadow.root(), &covered, shadow.root());
        let twins = |file: &PathBuf| project.root.join(file.strip_prefix(shadow.root()).unwrap_or(file));
        let reference = findings(&in_original, &project.root, &covered.iter().map(twins).collect(), shadow.root());
        must_be_equal(&reference, &baseline)?;
        let mut judging = Self {
            pyrefly: pyrefly.clone(),
            shadow,
            options,
            baseline,
            covered,
            uncovered: BTreeSet::new(),
            written: BTreeMap::new(),
        };
        judging.uncovered = files.iter().filter(|file| !judging.covers(file)).cloned().collect();
        Ok(judging)
    }

    pub(super) fn covers(&self, file: &RelPath) -> bool {
        self.covered.contains(&self.real_path(file))
    }

    fn real_path(&self, file: &RelPath) -> PathBuf {
        let path = self.shadow.workspace().join(file.as_str());
        path.canonicalize().unwrap_or(path)
    }

    /// The name under which findings of this file of the workspace go.
    pub(super) fn name_of(&self, file: &RelPath) -> String {
        name_in(&self.real_path(file), self.shadow.root())
    }

    /// Makes the shadow hold these texts and the original's everywhere else.
    pub(super) fn put(
        &mut self,
        texts: &BTreeMap<RelPath, String>,
        sources: &BTreeMap<RelPath, SourceText>,
    ) -> Result<(), GateError> {
        let touched: BTreeSet<RelPath> = self.written.keys().chain(texts.keys()).cloned().collect();
        for file in touched {
            let source = sources.get(&file).ok_or_else(|| GateError::NoSource { file: file.clone() })?;
            let held = self.written.get(&file).map_or(source.as_str(), String::as_str);
            let wanted = texts.get(&file).map_or(source.as_str(), String::as_str);
            if held == wanted {
                continue;
            }
            if !self.written.contains_key(&file) {
                let path = self.shadow.workspace().join(file.as_str());
                let copied = std::fs::read(&path).map_err(GateError::io(&path))?;
                if copied != source.as_str().as_bytes() {
                    return Err(GateError::SourceChanged { file });
                }
            }
            self.shadow.write(&file, wanted)?;
            self.written.insert(file, wanted.to_owned());
        }
        self.written.retain(|file, text| texts.get(file) == Some(text));
        Ok(())
    }

    pub(super) async fn check(&self) -> Result<Vec<Found>, GateError> {
        let output = self.pyrefly.check(self.shadow.workspace(), &self.options).await?;
        Ok(findings(&output, self.shadow.root(), &self.covered, self.shadow.root()))
    }
}

/// The flags for the original; those for the shadow differ by the place alone.
fn flags(project: &ProjectConfig, files: &BTreeSet<RelPath>, workspace: &Path, mode: GateMode) -> CheckOptions {
    let mut options = CheckOptions { ignored_too: true, ..project.options() };
    if mode == GateMode::File {
        options.search_path = project.roots_for_files();
        options.files = files.iter().map(|file| workspace.join(file.as_str())).collect();
    }
    options
}

fn moved(options: &CheckOptions, shadow: &Shadow) -> CheckOptions {
    // Packages of a virtual environment inside the project aren't copied; nobody edits them.
    let package = |path: &PathBuf| {
        let twin = shadow.twin(path);
        if twin.is_dir() && !path.ancestors().any(is_environment) { twin } else { path.clone() }
    };
    let twin = |path: &PathBuf| shadow.twin(path);
    CheckOptions {
        search_path: options.search_path.iter().map(twin).collect(),
        site_packages: options.site_packages.iter().map(package).collect(),
        files: options.files.iter().map(twin).collect(),
        exclude: rerooted(&options.exclude, shadow.original(), shadow.root()),
        ..options.clone()
    }
}

/// Patterns of paths below one root as patterns of paths below another.
fn rerooted(patterns: &[String], from: &Path, to: &Path) -> Vec<String> {
    let (from, to) = (pattern(from), pattern(to));
    patterns.iter().map(|found| found.replacen(&from, &to, 1)).collect()
}

/// Imports and configuration of the shadow may come from the shadow, or from outside of the project. A root that the
/// configuration names with an absolute path does no harm where its twin is asked first.
fn nothing_leads_back(
    seen: &Inspection,
    project: &ProjectConfig,
    options: &CheckOptions,
    shadow: &Shadow,
) -> Result<(), GateError> {
    let inside = |path: &&PathBuf| path.starts_with(&project.root) && !path.ancestors().any(is_environment);
    let asked_first = |path: &&PathBuf| !options.search_path.contains(&shadow.twin(path));
    let expected = project.config_file.as_deref().map(|file| shadow.twin(file));
    if seen.config_file != expected {
        let path = seen.config_file.clone().or(expected).unwrap_or_else(|| shadow.root().to_owned());
        return Err(GateError::LeadsBack { path });
    }
    match seen.roots.iter().filter(inside).find(asked_first) {
        Some(path) => Err(GateError::LeadsBack { path: path.clone() }),
        None => Ok(()),
    }
}

/// Diagnostics in terms that are the same in the original and in the shadow.
fn findings(output: &CheckOutput, root: &Path, covered: &BTreeSet<PathBuf>, shadow_root: &Path) -> Vec<Found> {
    let mut real_paths: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut found = Vec::new();
    for diagnostic in &output.diagnostics {
        let path = diagnostic.path.clone();
        let real =
            real_paths.entry(path).or_insert_with_key(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
        if !covered.contains(real) {
            continue;
        }
        // Some messages name the file that they are about.
        let (own, stand_in) = (format!("{}/", root.display()), format!("{}/", shadow_root.display()));
        found.push(Found {
            file: name_in(real, root),
            cell: diagnostic.cell,
            start: diagnostic.start,
            end: diagnostic.end,
            rule: diagnostic.rule.clone(),
            message: diagnostic.concise.replace(&stand_in, "").replace(&own, ""),
        });
    }
    found.sort();
    found
}

pub(super) fn name_in(path: &Path, root: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(inside) => inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

fn must_be_equal(original: &[Found], shadow: &[Found]) -> Result<(), GateError> {
    let none = BTreeMap::new();
    let shown = |found: Vec<&Found>| -> Vec<String> {
        found.into_iter().map(|f| format!("{}:{}: {} ({})", f.file, f.start.line() + 1, f.message, f.rule)).collect()
    };
    let only_shadow = shown(new_findings(original, shadow, &none));
    let only_original = shown(new_findings(shadow, original, &none));
    if only_original.is_empty() && only_shadow.is_empty() {
        return Ok(());
    }
    Err(GateError::ShadowDiffers { only_original, only_shadow })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::{Tree, block_on, pyrefly};

    #[test]
    fn a_root_inside_the_original_leads_back_unless_its_twin_is_asked_first() {
        let tree = Tree::new(&[("pyproject.toml", ""), ("lib/a.py", "")]);
        let project = block_on(pyrefly().dump_config(tree.path(), &[], &[], None)).unwrap();
        let shadow = Shadow::new(&project, tree.path()).unwrap();
        let check = |roots: &[&Path], search_path: &[&Path], config: &Path| {
            let own = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect::<Vec<_>>();
            let seen = Inspection { config_file: Some(config.to_owned()), roots: own(roots), covered: BTreeSet::new() };
            let options = CheckOptions { search_path: own(search_path), ..CheckOptions::default() };
            nothing_leads_back(&seen, &project, &options, &shadow)
        };
        let (original, twin) = (tree.path().join("lib"), shadow.root().join("lib"));
        let config = shadow.root().join("pyproject.toml");
        assert!(matches!(check(&[&original], &[], &config), Err(GateError::LeadsBack { path }) if path == original));
        assert!(check(&[&original], &[&twin], &config).is_ok());
        assert!(check(&[&twin, Path::new("/usr")], &[], &config).is_ok());
        let stray = shadow.root().parent().unwrap().join("pyproject.toml");
        assert!(matches!(check(&[], &[], &stray), Err(GateError::LeadsBack { path }) if path == stray));
    }
}
