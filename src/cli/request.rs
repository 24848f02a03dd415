//! What was typed, as what it means here: the environment and the current folder are read in this file alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::harness::{Asked, HarnessError, Surroundings, workspace_of, workspace_root};
use crate::plan::SiteKind;
use crate::text::{ProjectRoot, RelPath};

use super::args::{Global, ModelArgs, Roots};

/// What a type checker may look at to find an interpreter, its packages, and settings of its own.
fn of_the_interpreter((name, value): (OsString, OsString)) -> Option<(String, OsString)> {
    const BEGINNINGS: [&str; 7] = ["PATH", "HOME", "PYTHON", "PYREFLY", "PYENV", "CONDA", "VIRTUAL_ENV"];
    let name = name.into_string().ok()?;
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)).then_some((name, value))
}

/// Where the program was started and with what around it.
pub(super) struct Here {
    pub(super) folder: PathBuf,
    pub(super) surroundings: Surroundings,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<String>,
}

impl Here {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment and the current folder")]
    pub(super) fn read(global: &Global) -> anyhow::Result<Self> {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let cache = etcetera::choose_base_strategy().map(|base| base.cache_dir().join("tainie"));
        Ok(Self {
            folder: std::env::current_dir()?,
            surroundings: Surroundings {
                pyrefly_flag: global.pyrefly.clone(),
                pyrefly_env: path("TAINIE_PYREFLY"),
                virtual_env: path("VIRTUAL_ENV"),
                path: std::env::var_os("PATH"),
                cache: path("TAINIE_CACHE_DIR").map_or(cache, Ok)?,
                state_dir: path("TAINIE_STATE_DIR"),
                interpreter: std::env::vars_os().filter_map(of_the_interpreter).collect(),
            },
            base_url: text("TAINIE_BASE_URL").or_else(|| text("OPENAI_BASE_URL")),
            api_key: text("OPENAI_API_KEY"),
        })
    }

    /// The workspace of an argument, else the current folder; a folder with `task.md` and `work/` means its `work/`.
    pub(super) fn workspace(&self, path: Option<&Path>) -> Result<ProjectRoot, HarnessError> {
        let folder = path.map_or_else(|| self.folder.clone(), |path| self.folder.join(path));
        workspace_root(&workspace_of(&folder))
    }

    /// What stands before the path of a file of the workspace where it is named from the current folder: what an
    /// editor or a build server that was started here can open.
    pub(super) fn prefix(&self, workspace: &ProjectRoot) -> String {
        let root = workspace.as_path();
        let folder = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        let slashed = |path: &Path| path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        match (root.strip_prefix(&folder), folder.strip_prefix(root)) {
            (Ok(below), _) if below.as_os_str().is_empty() => String::new(),
            (Ok(below), _) => format!("{}/", slashed(below)),
            (Err(_), Ok(above)) => "../".repeat(above.components().count()),
            (Err(_), Err(_)) => format!("{}/", slashed(root).trim_end_matches('/')),
        }
    }

    /// Folders to import from, which must be there.
    pub(super) fn import_roots(&self, roots: &Roots) -> Result<Vec<PathBuf>, HarnessError> {
        let folder = |named: &PathBuf| {
            let refused =
                |reason| HarnessError::Argument { argument: format!("--search-path {}", named.display()), reason };
            let folder = self.folder.join(named).canonicalize().map_err(|error| refused(error.to_string()))?;
            if folder.is_dir() { Ok(folder) } else { Err(refused("it isn't a folder".to_owned())) }
        };
        roots.search_path.iter().map(folder).collect()
    }

    /// The address of the model server, where one was given.
    pub(super) fn base_url(&self, args: &ModelArgs) -> Option<String> {
        args.base_url.clone().or_else(|| self.base_url.clone())
    }

    /// A symbol argument: a place when it ends in a number, else a name.
    pub(super) fn asked(&self, symbol: &str, workspace: &ProjectRoot) -> Result<Asked, HarnessError> {
        let malformed = |reason| HarnessError::Argument { argument: symbol.to_owned(), reason };
        let Some((file, line, column)) = split_place(symbol) else {
            return match no_name(symbol) {
                Some(reason) => Err(malformed(reason)),
                None => Ok(Asked::Name(symbol.to_owned())),
            };
        };
        let line = line.checked_sub(1).ok_or_else(|| {
            malformed(format!("read as line 0 of {file}, but lines are counted from 1; the first is {file}:1"))
        })?;
        let no_column = || {
            let place = format!("{file}:{}", line + 1);
            malformed(format!(
                "read as column 0 of {place}, but columns are counted from 1; write {place}:1 for the first, or {place}"
            ))
        };
        let column = column.map(|column| column.checked_sub(1).ok_or_else(no_column)).transpose()?;
        let here = self.folder.join(file);
        let file = if here.exists() {
            // Found from the current folder; it may still be named through a link, and must lie in the workspace.
            let folder = here.parent().and_then(|parent| parent.canonicalize().ok());
            let absolute =
                folder.zip(here.file_name()).map_or_else(|| here.clone(), |(folder, name)| folder.join(name));
            match workspace.relativize(&absolute) {
                Ok(file) => file,
                Err(_) => RelPath::new(file)?,
            }
        } else {
            RelPath::new(file.trim_start_matches("./"))?
        };
        Ok(Asked::Place { file, line, column })
    }
}

/// The kinds of reference that were named.
pub(super) fn site_kinds(names: &[String]) -> Result<Vec<SiteKind>, HarnessError> {
    let unknown = |name: &String| HarnessError::Argument {
        argument: name.clone(),
        reason: format!("no kind of reference; the kinds are {}", SiteKind::ALL.map(SiteKind::as_str).join(", ")),
    };
    names.iter().map(|name| SiteKind::parse(name).ok_or_else(|| unknown(name))).collect()
}

/// `FILE:LINE` or `FILE:LINE:COL`: the last one or two `:N` are numbers.
fn split_place(text: &str) -> Option<(&str, usize, Option<usize>)> {
    let (rest, last) = text.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    match rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<usize>().ok()?))) {
        Some((file, line)) if !file.is_empty() => Some((file, line, Some(last))),
        _ if !rest.is_empty() => Some((rest, last, None)),
        _ => None,
    }
}

/// Why a text that is no place can't be a name either, where it looks like an attempt at a place.
fn no_name(text: &str) -> Option<String> {
    let is_number = |part: &str| part.parse::<usize>().is_ok();
    let Some((rest, last)) = text.rsplit_once(':') else {
        let is_file = [".py", ".pyi", ".pyw"].iter().any(|ending| text.ends_with(ending));
        let how =
            || format!("read as a file, which is no symbol; write {text}:LINE, or the dotted name of what you mean");
        return is_file.then(how);
    };
    let (file, form, part) = match rest.rsplit_once(':') {
        Some((file, line)) if is_number(line) => (file, "FILE:LINE:COL", "column"),
        _ => (rest, "FILE:LINE", "line"),
    };
    let stem = file.trim_start_matches("./").split(".py").next().unwrap_or(file).replace(['/', ':'], ".");
    let is_word = last.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let dotted = if is_word && part == "line" { format!(", or the dotted name {stem}.{last}") } else { String::new() };
    Some(format!("read as {form}, but `{last}` is no {part} number; write {form} with numbers counted from 1{dotted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_or_two_numbers_are_line_and_column() {
        assert_eq!(split_place("a/b.py:3"), Some(("a/b.py", 3, None)));
        assert_eq!(split_place("a/b.py:3:14"), Some(("a/b.py", 3, Some(14))));
        assert_eq!(split_place("odd:1.py:3"), Some(("odd:1.py", 3, None)));
        assert_eq!(split_place("pkg.mod.f"), None);
        assert_eq!(split_place("a.py:x"), None);
    }

    #[test]
    fn what_is_neither_place_nor_name_is_told_from_a_name() {
        let said = |text| no_name(text).unwrap_or_default();
        assert_eq!(no_name("pkg.mod.f"), None);
        assert!(said("pkg/m.py:foo").ends_with("or the dotted name pkg.m.foo"), "{}", said("pkg/m.py:foo"));
        assert!(said("m:foo").ends_with("or the dotted name m.foo"));
        assert!(said("m.py:-1").contains("`-1` is no line number"));
        assert!(said("m.py:").contains("`` is no line number"));
        assert!(said("m.py:1:x").contains("`x` is no column number"));
        assert!(said("m.py").contains("m.py:LINE"));
    }
}
