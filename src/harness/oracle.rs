//! The task's own test of correctness, run in the shadow with `TAINIE_WORKSPACE` set to it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::HarnessError;

const TIME_LIMIT: Duration = Duration::from_mins(30);
const LAST_LINES: usize = 15;

/// What to run, and how a report calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Oracle {
    pub(super) command: String,
    program: Vec<String>,
}

/// What one run of it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OracleRun {
    pub(super) green: bool,
    /// The last lines of what it printed.
    pub(super) output: String,
}

impl Oracle {
    /// A command of the shell.
    pub(crate) fn shell(command: &str) -> Self {
        let program = if cfg!(windows) { ["cmd", "/C", command] } else { ["sh", "-c", command] };
        Self { command: command.to_owned(), program: program.map(str::to_owned).to_vec() }
    }

    /// The tests in an `oracle/` folder: with pytest where `path` has it, else each file by plain `python3`.
    pub(crate) fn folder(folder: &Path, path: Option<&OsStr>) -> Option<Self> {
        let mut tests: Vec<PathBuf> = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|file| file.extension().is_some_and(|extension| extension == "py"))
            .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test")))
            .collect();
        tests.sort();
        let quoted: Vec<String> = tests.iter().map(|test| quote(&test.to_string_lossy())).collect();
        if quoted.is_empty() {
            return None;
        }
        let has = |program: &str| {
            path.is_some_and(|path| std::env::split_paths(path).any(|folder| folder.join(program).is_file()))
        };
        let command = if has("pytest") {
            format!("pytest -q -p no:cacheprovider {}", quoted.join(" "))
        } else {
            let python = if has("python3") { "python3" } else { "python" };
            quoted.iter().map(|test| format!("{python} {test}")).collect::<Vec<_>>().join(" && ")
        };
        Some(Self::shell(&command))
    }

    /// Runs it with the workspace as the current folder.
    pub(super) async fn run(&self, workspace: &Path) -> Result<OracleRun, HarnessError> {
        let failed = |reason: String| HarnessError::Oracle { command: self.command.clone(), reason };
        let (program, arguments) = self.program.split_first().ok_or_else(|| failed("it is empty".to_owned()))?;
        #[expect(clippy::disallowed_methods, reason = "one of the files that start programs")]
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(workspace)
            .env("TAINIE_WORKSPACE", workspace)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(TIME_LIMIT, command.output())
            .await
            .map_err(|_| failed(format!("no end after {} minutes", TIME_LIMIT.as_secs() / 60)))?
            .map_err(|error| failed(error.to_string()))?;
        // The shell's own words for a command that isn't there or can't be started.
        if matches!(output.status.code(), Some(126 | 127)) && !cfg!(windows) {
            return Err(failed(last_lines(&String::from_utf8_lossy(&output.stderr))));
        }
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(OracleRun { green: output.status.success(), output: last_lines(&said) })
    }
}

fn quote(text: &str) -> String {
    if cfg!(windows) { format!("\"{text}\"") } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_workspace_is_named_and_current() {
        let folder = tempfile::tempdir().unwrap();
        let oracle = Oracle::shell("test \"$TAINIE_WORKSPACE\" = \"$(pwd -P)\" && echo fine");
        let root = folder.path().canonicalize().unwrap();
        let run = oracle.run(&root).await.unwrap();
        assert_eq!((run.green, run.output.as_str()), (true, "fine"));
        assert!(!Oracle::shell("exit 3").run(&root).await.unwrap().green);
    }
}
