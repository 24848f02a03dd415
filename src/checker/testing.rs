//! What tests of this room and of the rooms to the right share: a small tree, the real pyrefly, a runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{FindOptions, Pyrefly, Scratch, install};

/// Runs one future to its end.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The real pyrefly: `TAINIE_PYREFLY`, `PATH`, tainie's own folder; installed there when it is nowhere.
#[expect(clippy::disallowed_methods, reason = "tests find their pyrefly by the environment")]
pub(crate) fn pyrefly() -> &'static Pyrefly {
    static FOUND: OnceLock<Pyrefly> = OnceLock::new();
    FOUND.get_or_init(|| {
        let home = || std::env::var("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = std::env::var("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|_| home())
            .unwrap_or_else(|_| std::env::temp_dir());
        let options = FindOptions {
            env: std::env::var_os("TAINIE_PYREFLY").map(PathBuf::from),
            path: std::env::var_os("PATH"),
            cache: cache.join("tainie"),
            ..FindOptions::default()
        };
        block_on(async {
            match Pyrefly::find(&options).await {
                Ok(found) => found,
                Err(_) => install(&options.cache, |_| {}).await.expect("pyrefly can be installed"),
            }
        })
    })
}

/// A folder with files, removed at the end of the test.
pub(crate) struct Tree {
    _folder: Scratch,
    path: PathBuf,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Scratch::new("tainie-test").unwrap();
        let path = folder.path().canonicalize().unwrap().join("t");
        fs::create_dir(&path).unwrap();
        let tree = Self { _folder: folder, path };
        for (file, text) in files {
            tree.write(file, text);
        }
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its own project files")]
    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A script that can be run.
    #[cfg(unix)]
    pub(crate) fn program(&self, file: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(file, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A virtual environment without any package, whose `.pth` files point to folders of this tree.
    #[expect(clippy::disallowed_methods, reason = "a test makes its own virtual environment")]
    pub(crate) fn venv(&self, name: &str, editable: &[&str]) {
        let python = if cfg!(windows) { "python" } else { "python3" };
        let made = std::process::Command::new(python)
            .args(["-m", "venv", "--without-pip"])
            .arg(self.path.join(name))
            .status()
            .unwrap();
        assert!(made.success());
        let site = find_folder(&self.path.join(name), "site-packages").unwrap();
        for (number, target) in editable.iter().enumerate() {
            let target = self.path.join(target);
            fs::write(site.join(format!("_editable_{number}.pth")), format!("{}\n", target.display())).unwrap();
        }
    }
}

fn find_folder(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let found = entries.iter().find(|path| path.ends_with(name) && path.is_dir());
    found
        .cloned()
        .or_else(|| entries.iter().filter(|p| p.is_dir() && !p.is_symlink()).find_map(|p| find_folder(p, name)))
}
