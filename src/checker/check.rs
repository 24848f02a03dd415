//! The diagnostics of a project.
//!
//! The flags make pyrefly see as much as it can, whatever the project's own settings hide: a diagnostic that is
//! there before and after an edit costs nothing, one that a setting hides can't veto. Deliberately absent: a path
//! argument for a whole project (it changes module names) and pyrefly's own baseline (it matches by column).

#[cfg(test)]
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::obstacles::pattern;
use super::run::{Answer, run};
use super::{CheckerError, Pyrefly};
use crate::text::Position;

/// Rules that are errors here even where the project's configuration turns them off.
const ALWAYS_ERRORS: &str = "unexpected-keyword,bad-keyword-argument,missing-argument,bad-argument-count,\
bad-argument-type,missing-attribute,missing-module-attribute,missing-import,unknown-name,no-matching-overload,\
bad-override,bad-override-param-name,bad-return,bad-assignment,parse-error,invalid-syntax,\
unexpected-positional-argument,not-callable,bad-unpacking,bad-index,not-iterable,unsupported-operation";

/// Where pyrefly gets the Python version, the platform and the site packages from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Environment {
    /// pyrefly looks for an interpreter and asks it.
    #[default]
    Discovered,
    /// Nobody is asked: what is passed here and as site packages is all there is.
    Given { version: Option<String>, platform: Option<String> },
}

/// What a check looks at, beyond what the project's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CheckOptions {
    /// Import roots that come before all others; each must exist.
    pub(crate) search_path: Vec<PathBuf>,
    /// In place of those that the configuration names, and before those of the interpreter.
    pub(crate) site_packages: Vec<PathBuf>,
    pub(crate) environment: Environment,
    /// Check files that an ignore file such as `.gitignore` names, too.
    pub(crate) ignored_too: bool,
    /// Patterns of files that are left out, see [`pattern`].
    pub(crate) exclude: Vec<String>,
    /// The whole project when empty. Module names then come from the import roots alone.
    pub(crate) files: Vec<PathBuf>,
}

impl CheckOptions {
    /// The flags that `check` and `dump-config` share.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        // A preset on the command line also keeps pyrefly from reading mypy's and pyright's settings.
        let mut arguments: Vec<OsString> = vec!["-p".into(), "default".into()];
        let mut push = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
        for root in &self.search_path {
            push("--search-path", root.into());
        }
        for root in &self.site_packages {
            push("--site-package-path", root.into());
        }
        for pattern in &self.exclude {
            push("--extend-project-excludes", pattern.into());
        }
        if self.ignored_too {
            push("--use-ignore-files", "false".into());
        }
        match &self.environment {
            Environment::Discovered => {}
            Environment::Given { version, platform } => {
                if let Some(version) = version {
                    push("--python-version", version.into());
                }
                if let Some(platform) = platform {
                    push("--python-platform", platform.into());
                }
                arguments.push("--skip-interpreter-query".into());
            }
        }
        // `--flag value` of a flag whose value is optional would take the value for a file.
        join_optional(arguments)
    }
}

/// Writes `--use-ignore-files false` as the one word that pyrefly wants.
fn join_optional(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut joined = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--use-ignore-files" {
            let mut word = argument;
            word.push("=");
            word.push(arguments.next().unwrap_or_default());
            joined.push(word);
        } else {
            joined.push(argument);
        }
    }
    joined
}

/// How bad pyrefly finds it; anything milder is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Warning,
    Error,
}

/// One diagnostic of pyrefly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Diagnostic {
    /// Absolute, with symbolic links as pyrefly met them.
    pub(crate) path: PathBuf,
    /// The number of a notebook's cell, to which the positions then belong.
    pub(crate) cell: Option<u64>,
    pub(crate) start: Position,
    /// Exclusive.
    pub(crate) end: Position,
    /// Such as `unexpected-keyword`.
    pub(crate) rule: String,
    /// One line, without the places that were searched.
    pub(crate) concise: String,
    pub(crate) description: String,
    pub(crate) severity: Severity,
}

/// All diagnostics of a check, sorted by path and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckOutput {
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Pyrefly {
    /// Checks the project that `cwd` belongs to, or the given files of it.
    pub(crate) async fn check(&self, cwd: &Path, options: &CheckOptions) -> Result<CheckOutput, CheckerError> {
        let cwd = cwd.canonicalize().map_err(CheckerError::io(cwd))?;
        let mut arguments: Vec<OsString> =
            ["check", "--output-format", "json", "--summary=none"].map(Into::into).into();
        arguments
            .extend(["--error", ALWAYS_ERRORS, "--enabled-ignores", "ty", "--min-severity", "warn"].map(Into::into));
        arguments.extend(
            [
                "--baseline-error-level",
                "error",
                "--check-unannotated-defs=true",
                "--infer-return-types",
                "checked",
                "--ignore-errors-in-generated-code=false",
            ]
            .map(Into::into),
        );
        arguments.extend(options.arguments());
        arguments.extend(options.files.iter().map(|file| pattern(&cwd.join(file)).into()));
        let answer = self.ask(&arguments, &cwd).await?;
        parse(&answer, &cwd)
    }

    /// One run of the program; anything but a sound answer is an error.
    pub(super) async fn ask(&self, arguments: &[OsString], cwd: &Path) -> Result<Answer, CheckerError> {
        let missing = || CheckerError::NamedMissing { program: self.program().into(), origin: self.origin() };
        run(self.program(), arguments, cwd, self.limit).await?.ok_or_else(missing)?.sound()
    }
}

#[derive(Deserialize)]
struct Report {
    errors: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    line: usize,
    column: usize,
    stop_line: usize,
    stop_column: usize,
    path: String,
    name: String,
    description: String,
    concise_description: String,
    severity: String,
    #[serde(default)]
    cell: Option<u64>,
}

/// An empty answer is none: pyrefly writes `{"errors": []}` when there is nothing to say.
fn parse(answer: &Answer, cwd: &Path) -> Result<CheckOutput, CheckerError> {
    if answer.stdout.iter().all(u8::is_ascii_whitespace) {
        let (command, stderr) = (answer.command.clone(), answer.last_lines());
        return Err(if stderr.contains("No Python files matched") {
            CheckerError::NothingCovered { command, stderr }
        } else {
            CheckerError::NoAnswer { command, stderr }
        });
    }
    let malformed = |source| CheckerError::Malformed { command: answer.command.clone(), source };
    let report: Report = serde_json::from_slice(&answer.stdout).map_err(malformed)?;
    let mut diagnostics: Vec<Diagnostic> =
        report.errors.into_iter().filter_map(|entry| diagnostic(entry, cwd)).collect();
    diagnostics.sort();
    Ok(CheckOutput { diagnostics })
}

/// pyrefly counts lines and columns from 1; a place "0" would be one that it doesn't know.
fn diagnostic(entry: Entry, cwd: &Path) -> Option<Diagnostic> {
    let severity = match entry.severity.as_str() {
        "error" => Severity::Error,
        "warn" => Severity::Warning,
        _ => return None,
    };
    let position = |line: usize, column: usize| Position::new(line.saturating_sub(1), column.saturating_sub(1));
    Some(Diagnostic {
        path: normalized(&cwd.join(&entry.path)),
        cell: entry.cell,
        start: position(entry.line, entry.column),
        end: position(entry.stop_line, entry.stop_column),
        rule: entry.name,
        concise: entry.concise_description,
        description: entry.description,
        severity,
    })
}

/// Takes `.` and `..` out by the text alone: links in the path stay as they are.
pub(super) fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(component),
        }
    }
    out
}

#[cfg(test)]
impl CheckOutput {
    /// The files that the diagnostics are about.
    pub(crate) fn files(&self) -> BTreeSet<&Path> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.path.as_path()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::{Tree, block_on, pyrefly};

    fn check(tree: &Tree) -> Vec<(String, String, (usize, usize))> {
        let output = block_on(pyrefly().check(tree.path(), &CheckOptions::default())).unwrap();
        let name = |d: &Diagnostic| d.path.strip_prefix(tree.path()).unwrap().to_str().unwrap().to_owned();
        output.diagnostics.iter().map(|d| (name(d), d.rule.clone(), (d.start.line(), d.start.column()))).collect()
    }

    #[test]
    fn places_are_counted_from_zero_in_characters_without_the_byte_order_mark() {
        let tree = Tree::new(&[("a.py", "\u{feff}xx\r\n'é😀'; yy\rzz\n")]);
        let places: Vec<_> = check(&tree).into_iter().map(|(_, _, place)| place).collect();
        assert_eq!(places, [(0, 0), (1, 6), (2, 0)]);
    }

    #[test]
    fn suppression_comments_hide_nothing() {
        let tree = Tree::new(&[(
            "a.py",
            "# pyrefly: ignore-errors\ndef f(x: int) -> int: return x\nf(1, y=2)  # type: ignore\nf(1, z=2)  # pyrefly: ignore\n",
        )]);
        assert_eq!(check(&tree).len(), 2);
    }

    #[test]
    fn settings_of_the_project_hide_nothing() {
        let tree = Tree::new(&[
            ("lib.py", "def f(x: int) -> int: return x\n"),
            (
                "a.py",
                "# @generated\nfrom typing import cast\nfrom lib import f\ndef g():\n    return f('', y=1)\ndef h(x: int):\n    return cast(int, x)\n",
            ),
            (
                "pyrefly.toml",
                "check-unannotated-defs = false\nmin-severity = 'error'\nignore-errors-in-generated-code = true\n\
                 preset = 'off'\nbaseline = 'base.json'\n[errors]\nbad-argument-type = false\nunexpected-keyword = 'ignore'\nredundant-cast = 'warn'\n",
            ),
            (
                "base.json",
                r#"{"errors": [{"line": 5, "column": 18, "stop_line": 5, "stop_column": 19, "path": "a.py", "code": -2,
                "name": "unexpected-keyword", "severity": "error", "description": "",
                "concise_description": "Unexpected keyword argument `y` in function `lib.f`"}]}"#,
            ),
        ]);
        let rules: Vec<_> = check(&tree).into_iter().map(|(_, rule, _)| rule).collect();
        assert_eq!(rules, ["bad-argument-type", "unexpected-keyword", "redundant-cast"]);
    }

    #[test]
    fn a_configuration_named_by_the_environment_of_the_user_is_not_read() {
        // The variable is taken out of the child's environment; the list says so without touching our own.
        assert!(crate::checker::run::REMOVED_ENVIRONMENT.contains(&"PYREFLY_CONFIG"));
    }

    #[test]
    fn a_check_from_a_sub_folder_names_files_of_the_whole_project() {
        let tree = Tree::new(&[("pyproject.toml", ""), ("top.py", "xx\n"), ("sub/a.py", "yy\n")]);
        let output = block_on(pyrefly().check(&tree.path().join("sub"), &CheckOptions::default())).unwrap();
        let files: Vec<_> =
            output.files().into_iter().map(|f| f.strip_prefix(tree.path()).unwrap().to_owned()).collect();
        assert_eq!(files, [Path::new("sub/a.py"), Path::new("top.py")]);
    }

    #[test]
    fn no_answer_is_an_error_and_not_an_empty_list() {
        let tree = Tree::new(&[("readme.txt", "")]);
        let output = block_on(pyrefly().check(tree.path(), &CheckOptions::default()));
        assert!(matches!(output, Err(CheckerError::NothingCovered { .. })), "{output:?}");
    }

    #[cfg(unix)]
    #[test]
    fn an_empty_answer_a_crash_and_silence_are_told_apart() {
        let tree = Tree::new(&[]);
        let with = |body: &str| {
            let program = tree.program(
                "pyrefly",
                &format!("#!/bin/sh\n[ \"$1\" = --version ] && echo pyrefly 1.5.0 && exit\n{body}\n"),
            );
            let found = block_on(Pyrefly::at(&program, crate::checker::Origin::Flag)).unwrap();
            let found = found.with_time_limit(std::time::Duration::from_secs(2));
            block_on(found.check(tree.path(), &CheckOptions::default())).unwrap_err()
        };
        assert!(matches!(with("exit 0"), CheckerError::NoAnswer { .. }));
        assert!(matches!(with("echo why >&2; kill -9 $$"), CheckerError::Crashed { stderr, .. } if stderr == "why"));
        assert!(matches!(with("echo PANIC sorry >&2; exit 1"), CheckerError::Crashed { .. }));
        assert!(matches!(with("exit 101"), CheckerError::Crashed { .. }));
        assert!(
            matches!(with("echo bad flag >&2; exit 2"), CheckerError::Usage { stderr, .. } if stderr == "bad flag")
        );
        assert!(matches!(with("echo '{\"errors\": ['"), CheckerError::Malformed { .. }));
        assert!(matches!(with("exec sleep 60"), CheckerError::TimedOut { .. }));
    }
}
