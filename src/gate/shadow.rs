//! The copy of the project in which proposals are judged, so that nothing unproven touches the user's files.
//!
//! Copied are Python, stubs, notebooks and what configures the type checker; of compiled modules only the name, since
//! an import of them is looked up but never read. Virtual environments, version control and caches stay behind. The
//! copies are `std::fs::copy`, which shares the blocks where the file system can; hard links would change the
//! originals' times, and a write to one would be a write to both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::GateError;
use crate::checker::{ProjectConfig, Scratch, pattern};
use crate::text::{RelPath, Revision};

const NAME: &str = "tainie-shadow";
const COPIED_EXTENSIONS: [&str; 4] = ["py", "pyi", "pyw", "ipynb"];
/// Files without a meaning of their own, but an import of such a module is resolved when they are there.
const NAMED_EXTENSIONS: [&str; 5] = ["so", "pyd", "dll", "pyc", "pyx"];
/// Those that change pyrefly's answers, found by experiment, and those that may in another version. Ignore files
/// are not among them: the shadow is checked without, see `check.rs`.
const COPIED_NAMES: [&str; 8] = [
    "pyproject.toml",
    "pyrefly.toml",
    ".pyrefly.toml",
    "mypy.ini",
    ".mypy.ini",
    "setup.cfg",
    "pyrightconfig.json",
    "py.typed",
];
const LEFT_BEHIND: [&str; 14] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".tainie",
    "__pycache__",
    "node_modules",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".pyrefly_cache",
    ".hypothesis",
    ".tox",
    ".nox",
];

/// A copy of a project, removed when the value is dropped.
#[derive(Debug)]
pub(super) struct Shadow {
    original: PathBuf,
    root: PathBuf,
    workspace: PathBuf,
    _scratch: Scratch,
}

impl Shadow {
    /// Copies the project that `workspace`, a canonical path, belongs to.
    pub(super) fn new(project: &ProjectConfig, workspace: &Path) -> Result<Self, GateError> {
        let original = project.root.clone();
        let scratch = Scratch::new_in(&roomy_folder(&original), NAME)?;
        let place = scratch.path().canonicalize().map_err(GateError::io(scratch.path()))?.join("tree");
        // The folder keeps its name: a root that is itself a package is imported under it.
        let root = place.join(original.file_name().unwrap_or_else(|| "project".as_ref()));
        fs::create_dir_all(&root).map_err(GateError::io(&root))?;
        if project.import_root.as_deref().is_some_and(|above| Some(above) == original.parent()) {
            link_neighbours(&original, &place)?;
        }
        let below = workspace.strip_prefix(&original).unwrap_or(Path::new(""));
        let shadow = Self { workspace: root.join(below), original, root, _scratch: scratch };
        shadow.copy(&Kind::of)?;
        Ok(shadow)
    }

    /// The project root of the original.
    pub(super) fn original(&self) -> &Path {
        &self.original
    }

    /// The project root of the copy.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace in the copy.
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Where a path of the original stands in the copy; a path outside of the project stays as it is.
    pub(super) fn twin(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.original).map_or_else(|_| path.to_owned(), |inside| self.root.join(inside))
    }

    /// Copies the rest as well, for programs that read more than Python. What the shadow holds already stays as it is.
    pub(super) fn complete(&self) -> Result<(), GateError> {
        self.copy(&|_| Kind::Copied)
    }

    /// Replaces a file of the workspace's copy.
    #[expect(clippy::disallowed_methods, reason = "the shadow is tainie's own, and this is its shell file")]
    pub(super) fn write(&self, file: &RelPath, text: &str) -> Result<(), GateError> {
        let path = self.workspace.join(file.as_str());
        // Through a link to a folder outside of the project a write would reach a file of the user.
        let real = path.canonicalize().map_err(GateError::io(&path))?;
        if !real.starts_with(&self.root) {
            return Err(GateError::LeadsOut { path });
        }
        // A copy of a read-only file is read-only, but its folder isn't.
        fs::remove_file(&real).map_err(GateError::io(&real))?;
        fs::write(&real, text).map_err(GateError::io(&real))
    }

    /// The revisions of the files that decide the type checker's answers, named as seen from the workspace.
    pub(super) fn revisions(&self) -> Result<BTreeMap<String, Revision>, GateError> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(GateError::io(&folder))? {
                let entry = entry.map_err(GateError::io(&folder))?;
                let (path, file_type) = (entry.path(), entry.file_type().map_err(GateError::io(&folder))?);
                if file_type.is_dir() && !is_left_behind(&path) {
                    folders.push(path);
                } else if file_type.is_file() && Kind::of(&path) == Kind::Copied {
                    let bytes = fs::read(&path).map_err(GateError::io(&path))?;
                    found.insert(self.name_of(&path), Revision::of(&bytes));
                }
            }
        }
        Ok(found)
    }

    /// `views.py` inside of the workspace, `../setup.cfg` outside.
    fn name_of(&self, path: &Path) -> String {
        let mut up = String::new();
        for base in self.workspace.ancestors() {
            if let Ok(inside) = path.strip_prefix(base) {
                return up + &inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            }
            up.push_str("../");
        }
        path.to_string_lossy().into_owned()
    }

    fn copy(&self, kind: &dyn Fn(&Path) -> Kind) -> Result<(), GateError> {
        let mut folders = vec![self.original.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // pyrefly can't read it either; if that makes a difference, the baselines will say so.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
                Err(error) => return Err(GateError::io(folder)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(GateError::io(&folder))?;
                let (path, file_type) = (entry.path(), entry.file_type().map_err(GateError::io(&folder))?);
                if file_type.is_symlink() {
                    self.copy_link(&path)?;
                } else if file_type.is_dir() {
                    if !is_left_behind(&path) {
                        // Also an empty folder can be imported, as a namespace package.
                        make_folder(&self.twin(&path))?;
                        folders.push(path);
                    }
                } else if file_type.is_file() {
                    self.copy_file(&path, kind(&path))?;
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the shadow is tainie's own, and this is its shell file")]
    fn copy_file(&self, path: &Path, kind: Kind) -> Result<(), GateError> {
        let twin = self.twin(path);
        if kind == Kind::Left || twin.exists() {
            return Ok(());
        }
        let done = match kind {
            Kind::Copied => fs::copy(path, &twin).map(drop),
            Kind::Named => fs::write(&twin, ""),
            Kind::Left => Ok(()),
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            other => other.map_err(GateError::io(path)),
        }
    }

    /// A link inside the project becomes a link to the twin of its target. Outside of it a folder stays where it is
    /// and a file is copied: nothing is ever written there, see [`Shadow::write`]. Links that lead nowhere, to a
    /// device or to a folder that holds the project stay behind; checks pass them over in the original too.
    fn copy_link(&self, path: &Path) -> Result<(), GateError> {
        let twin = self.twin(path);
        let Ok(target) = path.canonicalize() else { return Ok(()) };
        if twin.symlink_metadata().is_ok() {
            return Ok(());
        }
        if target.starts_with(&self.original) {
            let left = |folder: &Path| is_left_behind(folder);
            let inside = target.ancestors().take_while(|folder| *folder != self.original);
            // What stays behind can't be linked to; a link to the root would only be a loop.
            if target == self.original || inside.filter(|folder| folder.is_dir()).any(left) {
                return Ok(());
            }
            return link(&self.twin(&target), &twin);
        }
        match target.metadata() {
            Ok(data) if data.is_dir() && !self.original.starts_with(&target) => link(&target, &twin),
            Ok(data) if data.is_file() => self.copy_file(path, Kind::of(path)),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Copied,
    /// Only an empty file of that name.
    Named,
    Left,
}

impl Kind {
    fn of(path: &Path) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        if COPIED_EXTENSIONS.contains(&extension) || COPIED_NAMES.contains(&name) {
            Self::Copied
        } else if NAMED_EXTENSIONS.contains(&extension) {
            Self::Named
        } else {
            Self::Left
        }
    }
}

fn is_left_behind(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
    LEFT_BEHIND.contains(&name) || is_environment(folder)
}

/// Whether a folder is a virtual environment: whatever it is called, it holds these.
pub(super) fn is_environment(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").exists() || folder.join("conda-meta").is_dir()
}

fn make_folder(folder: &Path) -> Result<(), GateError> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(GateError::io(folder)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The import root is the folder above the project root, when that is itself a package. Its other modules are then
/// imported from beside the shadow, through links to the originals: they are no part of the project.
fn link_neighbours(original: &Path, place: &Path) -> Result<(), GateError> {
    let Some(parent) = original.parent() else { return Ok(()) };
    for entry in fs::read_dir(parent).map_err(GateError::io(parent))?.flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if path != original && !hidden && (path.is_dir() || Kind::of(&path) == Kind::Copied) {
            link(&path, &place.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> Result<(), GateError> {
    std::os::unix::fs::symlink(target, at).map_err(GateError::io(at))
}

/// Links need a privilege on Windows. Without them a difference shows in the baselines.
#[cfg(not(unix))]
fn link(_target: &Path, _at: &Path) -> Result<(), GateError> {
    Ok(())
}

/// The system's folder for temporary files, unless it is inside the project or below a hidden folder (which type
/// checkers skip): then one that isn't.
fn roomy_folder(original: &Path) -> PathBuf {
    let fits = |folder: &Path| {
        let hidden = folder.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
        !hidden && folder.is_dir() && !folder.starts_with(original)
    };
    let usual = std::env::temp_dir();
    let usual = usual.canonicalize().unwrap_or(usual);
    let others = ["/var/tmp", "/tmp"].map(PathBuf::from);
    [usual.clone()].into_iter().chain(others).find(|folder| fits(folder)).unwrap_or(usual)
}

/// Folders of `extra` files that hold no file of `covered`, as large as can be, and else the files themselves: what
/// has to be left out so that exactly `covered` is checked. All paths absolute, `extra` below `root`.
pub(super) fn left_out(root: &Path, covered: &BTreeSet<PathBuf>, extra: &BTreeSet<PathBuf>) -> Vec<String> {
    let holding: BTreeSet<&Path> = covered.iter().flat_map(|file| file.ancestors().skip(1)).collect();
    let mut patterns = BTreeSet::new();
    for file in extra {
        let inside = file.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root));
        let free = inside.filter(|folder| !holding.contains(folder)).last();
        patterns.insert(match free {
            Some(folder) => format!("{}/**", pattern(folder)),
            None => pattern(file),
        });
    }
    patterns.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(covered: &[&str], extra: &[&str]) -> Vec<String> {
        let files = |names: &[&str]| names.iter().map(|name| Path::new("/p").join(name)).collect();
        left_out(Path::new("/p"), &files(covered), &files(extra))
    }

    #[test]
    fn what_is_left_out_is_named_by_the_largest_folders_that_hold_nothing_else() {
        let extra = ["build/a/x.py", "build/b/y.py", "src/gen/z.py", "src/one.py", "top.py"];
        assert_eq!(check(&["src/m.py"], &extra), ["/p/build/**", "/p/src/gen/**", "/p/src/one.py", "/p/top.py"]);
    }
}
