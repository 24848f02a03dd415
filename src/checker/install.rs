//! The pinned pyrefly, put into tainie's own folder with `uv` or with `python3 -m venv` and pip.
//!
//! The program is one self-contained file, so that file is all that is kept. It is built up in a folder of its
//! own and then renamed into place: whoever looks sees all of it or nothing, and two processes at once don't meet.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::program::EXECUTABLE;
use super::run::{Answer, run};
use super::{CheckerError, Origin, Pyrefly, Scratch};

/// The version that everything measured here was measured with.
pub(crate) const PINNED: &str = "1.5.0";
const INSTALL_LIMIT: Duration = Duration::from_mins(10);

/// What an installation is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallStep {
    /// Making an empty environment.
    Preparing { with: &'static str },
    /// Fetching pyrefly from the package index.
    Fetching { version: &'static str },
    /// Asking the new program for its version.
    Verifying,
}

/// Where the pinned pyrefly stands in tainie's own folder, whether or not it is there yet.
pub(crate) fn installed_program(cache: &Path) -> PathBuf {
    cache.join(format!("pyrefly-{PINNED}")).join(EXECUTABLE)
}

/// Installs the pinned pyrefly, unless a working one is there already.
pub(crate) async fn install(cache: &Path, progress: impl Fn(InstallStep)) -> Result<Pyrefly, CheckerError> {
    let program = installed_program(cache);
    if let Ok(present) = Pyrefly::at(&program, Origin::Cache).await {
        return Ok(present);
    }
    let scratch = Scratch::new_in(cache, "installing")?;
    let environment = scratch.path().join("environment");
    let fetched = match with_uv(scratch.path(), &environment, &progress).await? {
        Some(fetched) => fetched,
        None => with_pip(scratch.path(), &environment, &progress).await?,
    };
    let staged = scratch.path().join("staged");
    fs::create_dir(&staged).map_err(CheckerError::io(&staged))?;
    fs::copy(&fetched, staged.join(EXECUTABLE)).map_err(CheckerError::io(&fetched))?;
    progress(InstallStep::Verifying);
    Pyrefly::at(&staged.join(EXECUTABLE), Origin::Cache).await?;
    put_in_place(&staged, &program)?;
    Pyrefly::at(&program, Origin::Cache).await
}

/// Renames the finished folder to its final name. A folder that stands there already is either the work of
/// another process that was quicker, which the caller then finds usable, or a broken one, which makes way.
fn put_in_place(staged: &Path, program: &Path) -> Result<(), CheckerError> {
    let target = program.parent().expect("the installed program stands in a folder");
    if rename(staged, target).is_ok() || same_length(&staged.join(EXECUTABLE), program) {
        return Ok(());
    }
    let aside = staged.with_file_name("aside");
    rename(target, &aside).map_err(CheckerError::io(target))?;
    rename(staged, target).map_err(CheckerError::io(target))
}

fn same_length(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| fs::metadata(path).map(|metadata| metadata.len()).ok();
    length(one).is_some() && length(one) == length(other)
}

#[expect(clippy::disallowed_methods, reason = "tainie's own folder holds no project files")]
fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::rename(from, to)
}

/// `None` when there is no uv.
async fn with_uv(
    cwd: &Path,
    environment: &Path,
    progress: &impl Fn(InstallStep),
) -> Result<Option<PathBuf>, CheckerError> {
    // Whether it is there is asked first: nobody should read of a uv that isn't.
    if run(Path::new("uv"), &["--version".into()], cwd, INSTALL_LIMIT).await?.is_none() {
        return Ok(None);
    }
    progress(InstallStep::Preparing { with: "uv" });
    let arguments = ["venv".into(), "--no-project".into(), environment.into()];
    let Some(made) = run(Path::new("uv"), &arguments, cwd, INSTALL_LIMIT).await? else { return Ok(None) };
    succeeded(&made, "uv")?;
    progress(InstallStep::Fetching { version: PINNED });
    let python = venv_program(environment, "python");
    let arguments: [OsString; 5] =
        ["pip".into(), "install".into(), "--python".into(), python.into(), format!("pyrefly=={PINNED}").into()];
    let fetched = run(Path::new("uv"), &arguments, cwd, INSTALL_LIMIT).await?.ok_or(CheckerError::NoInstaller)?;
    succeeded(&fetched, "uv")?;
    Ok(Some(venv_program(environment, "pyrefly")))
}

async fn with_pip(cwd: &Path, environment: &Path, progress: &impl Fn(InstallStep)) -> Result<PathBuf, CheckerError> {
    const WITH: &str = "python3 -m venv and pip";
    progress(InstallStep::Preparing { with: "python3 -m venv" });
    let mut made = None;
    for python in ["python3", "python"] {
        let arguments = ["-m".into(), "venv".into(), environment.into()];
        made = run(Path::new(python), &arguments, cwd, INSTALL_LIMIT).await?;
        if made.is_some() {
            break;
        }
    }
    succeeded(&made.ok_or(CheckerError::NoInstaller)?, WITH)?;
    progress(InstallStep::Fetching { version: PINNED });
    let arguments: Vec<OsString> =
        ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"]
            .into_iter()
            .map(Into::into)
            .chain([format!("pyrefly=={PINNED}").into()])
            .collect();
    let python = venv_program(environment, "python");
    let fetched = run(&python, &arguments, cwd, INSTALL_LIMIT).await?.ok_or(CheckerError::NoInstaller)?;
    succeeded(&fetched, WITH)?;
    Ok(venv_program(environment, "pyrefly"))
}

fn venv_program(environment: &Path, name: &str) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join(format!("{name}.exe"))
    } else {
        environment.join("bin").join(name)
    }
}

fn succeeded(answer: &Answer, with: &'static str) -> Result<(), CheckerError> {
    if answer.code == Some(0) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&answer.stdout);
    let stderr = if answer.stderr.trim().is_empty() { said.trim().to_owned() } else { answer.last_lines() };
    Err(CheckerError::Install { version: PINNED, with, stderr })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::{Tree, block_on, pyrefly};

    #[test]
    fn a_working_installation_is_taken_as_it_is() {
        let tree = Tree::new(&[]);
        let program = installed_program(tree.path());
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(pyrefly().program(), &program).unwrap();
        let steps = std::cell::RefCell::new(Vec::new());
        let found = block_on(install(tree.path(), |step| steps.borrow_mut().push(step))).unwrap();
        assert_eq!((found.program(), found.origin()), (program.as_path(), Origin::Cache));
        assert!(steps.borrow().is_empty());
    }

    #[test]
    fn a_broken_installation_makes_way_for_a_new_one() {
        let tree = Tree::new(&[("staged/pyrefly", "new and whole")]);
        let program = installed_program(tree.path());
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(tree.path().join("staged/pyrefly"), &program).unwrap();
        // Equal already, as after another process that was quicker.
        put_in_place(&tree.path().join("staged"), &program).unwrap();
        let half = Tree::new(&[("half", "ne")]);
        fs::copy(half.path().join("half"), &program).unwrap();
        put_in_place(&tree.path().join("staged"), &program).unwrap();
        assert_eq!(fs::read(&program).unwrap(), b"new and whole");
    }
}
