//! One run of a program: its answer, its talk, a time limit. The program dies with whoever waits for it.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::CheckerError;

/// Settings that would make pyrefly read another configuration than the one of the folder it runs in.
pub(super) const REMOVED_ENVIRONMENT: [&str; 2] = ["PYREFLY_CONFIG", "PYREFLY_VERBOSE"];

/// What a run left behind.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) command: String,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    /// `None` when a signal ended it.
    pub(super) code: Option<i32>,
    status: String,
}

impl Answer {
    /// The last lines of the talk: enough to see the reason, not a whole backtrace.
    pub(super) fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.stderr.split(['\n', '\r']).map(str::trim_end).filter(|l| !l.is_empty()).collect();
        lines.get(lines.len().saturating_sub(8)..).unwrap_or_default().join("\n")
    }

    /// Sorts out the ends that are no answer: a signal, a panic, refused arguments.
    pub(super) fn sound(self) -> Result<Self, CheckerError> {
        let panicked = self.stderr.contains("Thread panicked") || self.stderr.contains("PANIC ");
        match self.code {
            Some(0 | 1) if !panicked => Ok(self),
            Some(2) if !panicked => Err(CheckerError::Usage { stderr: self.last_lines(), command: self.command }),
            Some(_) | None => {
                Err(CheckerError::Crashed { stderr: self.last_lines(), status: self.status, command: self.command })
            }
        }
    }
}

/// Runs a program to its end. `None` instead of an answer when there is no such program.
pub(super) async fn run(
    program: &Path,
    arguments: &[OsString],
    cwd: &Path,
    limit: Duration,
) -> Result<Option<Answer>, CheckerError> {
    #[expect(clippy::disallowed_methods, reason = "this is the checker's shell file for programs")]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd);
    let failed = |source| CheckerError::Start { program: program.into(), cwd: cwd.into(), source };
    // Not a pipe: pyrefly writes each of thousands of lines by itself, and would wake up its reader for each.
    let mut answer = tempfile::tempfile().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(answer.try_clone().map_err(failed)?).stderr(Stdio::piped()).kill_on_drop(true);
    for name in REMOVED_ENVIRONMENT {
        command.env_remove(name);
    }
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let shown = [program.to_string_lossy()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
    let child = match spawn(&mut command).await {
        Ok(child) => child,
        // The folder may be what is missing; only a missing program is an ordinary answer.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && cwd.is_dir() => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    let ended = tokio::time::timeout(limit, child.wait_with_output()).await;
    let output = ended.map_err(|_| CheckerError::TimedOut { command: shorten(&shown), limit })?.map_err(failed)?;
    let mut stdout = Vec::new();
    answer.rewind().and_then(|()| answer.read_to_end(&mut stdout)).map_err(failed)?;
    Ok(Some(Answer {
        command: shorten(&shown),
        stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        status: output.status.to_string(),
    }))
}

/// Starts the program. One that was written a moment ago can still be "busy", held open by a process that some
/// other thread is just starting.
async fn spawn(command: &mut Command) -> std::io::Result<Child> {
    for _ in 0..20 {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => return other,
        }
    }
    command.spawn()
}

/// A command line as a message can hold it.
fn shorten(command: &str) -> String {
    const LONGEST: usize = 200;
    match command.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", command.get(..at).expect("char_indices gives character borders")),
        None => command.to_owned(),
    }
}
