//! Programs on `PATH`: where they are, whether they answer, and what would install them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

const PATIENCE: Duration = Duration::from_secs(20);
/// Some systems ship an interpreter that can't make an environment.
pub(super) const WITHOUT_VENV: &str = "without venv and pip";
/// `-I` keeps modules of the current folder out.
const PYTHON_ARGUMENTS: [&str; 3] = [
    "-I",
    "-c",
    "import sys; from importlib.util import find_spec as f; \
     print('%d.%d.%d' % sys.version_info[:3] + ('' if f('venv') and f('ensurepip') else ' without venv and pip'))",
];

/// A program that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    Missing,
    Answers {
        program: PathBuf,
        /// The first line of its answer.
        said: String,
    },
    Fails {
        program: PathBuf,
        reason: String,
    },
}

impl Program {
    pub(super) const fn is_there(&self) -> bool {
        matches!(self, Self::Answers { .. })
    }
}

/// The Python that oracles are run with.
pub(super) async fn python(path: Option<&OsStr>) -> Program {
    probe(path, &["python3", "python"], &PYTHON_ARGUMENTS).await
}

/// Asks the first of the named programs that is there.
pub(super) async fn probe(path: Option<&OsStr>, names: &[&str], arguments: &[&str]) -> Program {
    let Some(program) = names.iter().find_map(|name| find_program(path, name)) else { return Program::Missing };
    match ask(&program, arguments).await {
        Ok(said) => Program::Answers { program, said },
        Err(reason) => Program::Fails { program, reason },
    }
}

async fn ask(program: &Path, arguments: &[&str]) -> Result<String, String> {
    #[expect(clippy::disallowed_methods, reason = "one of the files that start programs")]
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output())
        .await
        .map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?
        .map_err(|error| error.to_string())?;
    let first = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.split(['\n', '\r']).map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    };
    let said = first(&output.stdout).or_else(|| first(&output.stderr));
    match (output.status.success(), said) {
        (true, Some(said)) => Ok(said),
        (true, None) => Err("it says nothing".to_owned()),
        (false, said) => Err(said.unwrap_or_else(|| output.status.to_string())),
    }
}

/// The first file of that name on `PATH` that can be run.
pub(super) fn find_program(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    // A relative folder would mean another program for each current folder.
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(&file)).find(|program| is_executable(program))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The command of this system's package manager that installs it.
pub(super) fn installer_of(package: &str, path: Option<&OsStr>) -> Option<String> {
    const COMMANDS: [(&str, &str, &str); 11] = [
        ("python3", "apt-get", "sudo apt-get install python3 python3-venv"),
        ("python3", "dnf", "sudo dnf install python3"),
        ("python3", "pacman", "sudo pacman -S python"),
        ("python3", "apk", "sudo apk add python3"),
        ("python3", "brew", "brew install python"),
        ("python3", "winget", "winget install Python.Python.3.13"),
        ("python3-venv", "apt-get", "sudo apt-get install python3-venv"),
        ("uv", "brew", "brew install uv"),
        ("uv", "pacman", "sudo pacman -S uv"),
        ("uv", "winget", "winget install astral-sh.uv"),
        ("uv", "pipx", "pipx install uv"),
    ];
    let found = COMMANDS.iter().find(|(what, manager, _)| *what == package && find_program(path, manager).is_some());
    found.map(|(.., command)| (*command).to_owned())
}

/// A path as a shell takes it, quoted where it needs to be.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
