//! Which pyrefly: the places it is looked for, in order, and what was found at each.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::run::run;
use super::{CheckerError, install};

const VERSION_LIMIT: Duration = Duration::from_mins(1);
const DEFAULT_LIMIT: Duration = Duration::from_mins(15);
#[cfg(windows)]
pub(super) const EXECUTABLE: &str = "pyrefly.exe";
#[cfg(not(windows))]
pub(super) const EXECUTABLE: &str = "pyrefly";
#[cfg(windows)]
const VENV_PROGRAMS: &str = "Scripts";
#[cfg(not(windows))]
const VENV_PROGRAMS: &str = "bin";

/// How a pyrefly was found, in the order in which the places are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Flag,
    EnvironmentVariable,
    WorkspaceEnvironment,
    ActiveEnvironment,
    Path,
    Cache,
}

impl Origin {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "--pyrefly",
            Self::EnvironmentVariable => "TAINIE_PYREFLY",
            Self::WorkspaceEnvironment => "the workspace's virtual environment",
            Self::ActiveEnvironment => "VIRTUAL_ENV",
            Self::Path => "PATH",
            Self::Cache => "tainie's own folder",
        }
    }

    /// Whether the user named this very program: then nothing else may stand in for it.
    const fn is_named(self) -> bool {
        matches!(self, Self::Flag | Self::EnvironmentVariable)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where to look. The environment is read by whoever makes this, not here.
#[derive(Debug, Clone, Default)]
pub(crate) struct FindOptions {
    /// `--pyrefly`.
    pub(crate) flag: Option<PathBuf>,
    /// `TAINIE_PYREFLY`.
    pub(crate) env: Option<PathBuf>,
    /// Its `.venv` or `venv`, or that of a folder above it up to the root of its repository.
    pub(crate) workspace: Option<PathBuf>,
    /// `VIRTUAL_ENV`.
    pub(crate) virtual_env: Option<PathBuf>,
    /// `PATH`.
    pub(crate) path: Option<OsString>,
    /// tainie's own folder for what it installs.
    pub(crate) cache: PathBuf,
}

/// A pyrefly that was asked for its version and is new enough.
#[derive(Debug, Clone)]
pub(crate) struct Pyrefly {
    program: PathBuf,
    version: String,
    origin: Origin,
    pub(super) limit: Duration,
}

impl Pyrefly {
    /// The first usable pyrefly. One that the user named and that doesn't work is an error, never passed over.
    pub(crate) async fn find(options: &FindOptions) -> Result<Self, CheckerError> {
        let search = search(options).await;
        let looked_at = search.candidates.iter().map(|candidate| candidate.program.clone()).collect();
        if let Some(found) = search.found {
            return Ok(found);
        }
        // A named one is the last that was looked at; otherwise the first broken one says most.
        let broken = search.candidates.into_iter().find_map(|candidate| match candidate.outcome {
            Outcome::Broken(error) => Some(error),
            Outcome::Usable { .. } | Outcome::Missing => None,
        });
        Err(broken.unwrap_or(CheckerError::NotFound { looked_at }))
    }

    /// Asks the program for its version.
    pub(crate) async fn at(program: &Path, origin: Origin) -> Result<Self, CheckerError> {
        let missing = || CheckerError::NamedMissing { program: program.into(), origin };
        if !program.is_file() {
            return Err(missing());
        }
        // A path without a folder would be looked up in PATH by the system.
        let program = std::path::absolute(program).map_err(CheckerError::io(program))?;
        let folder = program.parent().ok_or_else(missing)?;
        let answer = run(&program, &["--version".into()], folder, VERSION_LIMIT).await?.ok_or_else(missing)?;
        let said = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        let Some(version) = said.strip_prefix("pyrefly ").filter(|_| answer.code == Some(0)) else {
            let answer = if said.is_empty() { answer.last_lines() } else { said };
            return Err(CheckerError::NotPyrefly { program, origin, answer });
        };
        let version = version.trim().to_owned();
        match version.split('.').next().and_then(|major| major.parse::<u32>().ok()) {
            Some(0) => Err(CheckerError::TooOld { program, origin, version }),
            Some(_) => Ok(Self { program, version, origin, limit: DEFAULT_LIMIT }),
            None => Err(CheckerError::NotPyrefly { program, origin, answer: said }),
        }
    }

    /// The same program with another limit for each run.
    #[cfg(test)]
    pub(crate) const fn with_time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }
}

/// What was found at one place.
#[derive(Debug)]
pub(crate) enum Outcome {
    Usable { version: String },
    Missing,
    Broken(CheckerError),
}

/// One place that was looked at.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) origin: Origin,
    pub(crate) program: PathBuf,
    pub(crate) outcome: Outcome,
}

/// Everything that `doctor` says about pyrefly.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) found: Option<Pyrefly>,
    /// In the order looked at, up to the one that was taken.
    pub(crate) candidates: Vec<Candidate>,
    /// The command that mends a search without result, apart from any prose.
    pub(crate) mend: Option<&'static str>,
}

/// Looks at one place after the other until a pyrefly is usable, or one that the user named isn't.
pub(crate) async fn search(options: &FindOptions) -> Search {
    let mut candidates = Vec::new();
    for (origin, program) in places(options) {
        let outcome = if program.is_file() || origin.is_named() {
            match Pyrefly::at(&program, origin).await {
                Ok(found) => {
                    let outcome = Outcome::Usable { version: found.version.clone() };
                    candidates.push(Candidate { origin, program, outcome });
                    return Search { found: Some(found), candidates, mend: None };
                }
                Err(error) => Outcome::Broken(error),
            }
        } else {
            Outcome::Missing
        };
        let named_and_broken = origin.is_named() && matches!(outcome, Outcome::Broken(_));
        candidates.push(Candidate { origin, program, outcome });
        if named_and_broken {
            return Search { found: None, candidates, mend: None };
        }
    }
    Search { found: None, candidates, mend: Some("tainie setup") }
}

/// All places in the order of [`Origin`].
fn places(options: &FindOptions) -> Vec<(Origin, PathBuf)> {
    let mut places = Vec::new();
    places.extend(options.flag.clone().map(|program| (Origin::Flag, program)));
    places.extend(options.env.clone().map(|program| (Origin::EnvironmentVariable, program)));
    places.extend(in_environments(options, EXECUTABLE));
    places.push((Origin::Cache, install::installed_program(&options.cache)));
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// The first file of that name, without the ending of executables, in the places where a user's own programs are.
pub(crate) fn find_program(options: &FindOptions, name: &str) -> Option<PathBuf> {
    let executable = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    in_environments(options, &executable).into_iter().map(|(_, program)| program).find(|program| program.is_file())
}

/// The workspace's virtual environments, the active one, and `PATH`.
fn in_environments(options: &FindOptions, executable: &str) -> Vec<(Origin, PathBuf)> {
    let mut places = Vec::new();
    let in_venv = |venv: &Path| venv.join(VENV_PROGRAMS).join(executable);
    if let Some(workspace) = &options.workspace {
        for folder in up_to_repository(workspace) {
            for name in [".venv", "venv"] {
                places.push((Origin::WorkspaceEnvironment, in_venv(&folder.join(name))));
            }
        }
    }
    places.extend(options.virtual_env.as_deref().map(|venv| (Origin::ActiveEnvironment, in_venv(venv))));
    if let Some(path) = &options.path {
        // A relative folder in PATH would mean another program for each current folder.
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        places.extend(folders.map(|folder| (Origin::Path, folder.join(executable))));
    }
    places
}

/// The folder and those above it, as far as the one that holds `.git`; the folder alone outside a repository.
fn up_to_repository(workspace: &Path) -> Vec<&Path> {
    let ancestors: Vec<&Path> = workspace.ancestors().collect();
    let repository = ancestors.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    ancestors.into_iter().take(repository + 1).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::Origin::{ActiveEnvironment, Cache, EnvironmentVariable, Flag, WorkspaceEnvironment};
    use super::*;
    use crate::checker::testing::{Tree, block_on};

    const GOOD: &str = "#!/bin/sh\necho pyrefly 1.5.0\n";
    const OLD: &str = "#!/bin/sh\necho pyrefly 0.42.1\n";

    fn options(tree: &Tree) -> FindOptions {
        FindOptions { cache: tree.path().join("cache"), ..FindOptions::default() }
    }

    fn find(options: &FindOptions) -> Result<(Origin, String), CheckerError> {
        block_on(Pyrefly::find(options)).map(|found| (found.origin(), found.version().to_owned()))
    }

    #[test]
    fn the_places_are_looked_at_in_the_documented_order() {
        let tree = Tree::new(&[]);
        let venv = tree.path().join("w/.venv");
        for program in ["flag/pyrefly", "env/pyrefly", "w/.venv/bin/pyrefly", "active/bin/pyrefly", "path/pyrefly"] {
            tree.program(program, GOOD);
        }
        let cached = installed_relative(&tree);
        tree.program(&cached, GOOD);
        let mut all = options(&tree);
        all.flag = Some(tree.path().join("flag/pyrefly"));
        all.env = Some(tree.path().join("env/pyrefly"));
        all.workspace = Some(tree.path().join("w"));
        all.virtual_env = Some(tree.path().join("active"));
        all.path = Some(tree.path().join("path").into());
        let mut order = Vec::new();
        order.push(find(&all).unwrap().0);
        all.flag = None;
        order.push(find(&all).unwrap().0);
        all.env = None;
        order.push(find(&all).unwrap().0);
        std::fs::remove_dir_all(venv).unwrap();
        order.push(find(&all).unwrap().0);
        all.virtual_env = None;
        order.push(find(&all).unwrap().0);
        all.path = None;
        order.push(find(&all).unwrap().0);
        assert_eq!(order, [Flag, EnvironmentVariable, WorkspaceEnvironment, ActiveEnvironment, Origin::Path, Cache]);
    }

    #[expect(clippy::unwrap_used, reason = "a helper of these tests")]
    fn installed_relative(tree: &Tree) -> String {
        let program = install::installed_program(&tree.path().join("cache"));
        program.strip_prefix(tree.path()).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_named_program_that_does_not_work_is_an_error_and_never_passed_over() {
        let tree = Tree::new(&[]);
        tree.program("path/pyrefly", GOOD);
        tree.program("bad/pyrefly", "#!/bin/sh\necho nonsense\n");
        tree.program("old/pyrefly", OLD);
        let with = |named: &str| FindOptions {
            env: Some(tree.path().join(named)),
            path: Some(tree.path().join("path").into()),
            ..options(&tree)
        };
        assert!(matches!(find(&with("nowhere")), Err(CheckerError::NamedMissing { .. })));
        assert!(matches!(find(&with("bad/pyrefly")), Err(CheckerError::NotPyrefly { .. })));
        assert!(matches!(find(&with("old/pyrefly")), Err(CheckerError::TooOld { version, .. }) if version == "0.42.1"));
    }

    #[test]
    fn an_old_program_that_nobody_named_is_passed_over_and_reported_when_nothing_else_is_there() {
        let tree = Tree::new(&[]);
        tree.program("old/pyrefly", OLD);
        let mut at = FindOptions { path: Some(tree.path().join("old").into()), ..options(&tree) };
        assert!(matches!(find(&at), Err(CheckerError::TooOld { .. })));
        tree.program("new/pyrefly", GOOD);
        at.path = Some(std::env::join_paths([tree.path().join("old"), tree.path().join("new")]).unwrap());
        let search = block_on(search(&at));
        assert_eq!(search.found.unwrap().version(), "1.5.0");
        assert!(matches!(search.candidates.first().unwrap().outcome, Outcome::Broken(CheckerError::TooOld { .. })));
    }

    #[test]
    fn a_search_without_result_says_where_it_looked_and_what_mends_it() {
        let tree = Tree::new(&[]);
        let search = block_on(search(&options(&tree)));
        assert_eq!(search.mend, Some("tainie setup"));
        assert!(matches!(search.candidates.first().unwrap().outcome, Outcome::Missing));
        assert!(matches!(find(&options(&tree)), Err(CheckerError::NotFound { looked_at }) if looked_at.len() == 1));
    }
}
