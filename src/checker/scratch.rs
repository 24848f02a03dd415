//! Folders that go away with their owner, also when the owner was killed.
//!
//! A folder's name carries its owner's process id, and a lock in it is held for as long as the owner lives.
//! Both must say that the owner is gone before somebody else removes the folder: the id alone means nothing
//! to a process in another container, and the lock isn't there yet while the folder is being made.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::CheckerError;

const LOCK: &str = "owner.lock";

/// A private folder, removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes `PARENT/NAME-PID-N`, and removes what dead owners left there under the same name.
    pub(crate) fn new_in(parent: &Path, name: &str) -> Result<Self, CheckerError> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        fs::create_dir_all(parent).map_err(CheckerError::io(parent))?;
        remove_orphans(parent, name);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{name}-{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let lock = lock(&folder.join(LOCK)).map_err(CheckerError::io(&folder))?;
                    return Ok(Self { folder, _lock: lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(CheckerError::io(&folder)(error)),
            }
        }
    }

    /// The same in the system's folder for temporary files.
    pub(crate) fn new(name: &str) -> Result<Self, CheckerError> {
        Self::new_in(&std::env::temp_dir(), name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed now is an orphan that a later run removes.
        drop(fs::remove_dir_all(&self.folder));
    }
}

#[expect(clippy::disallowed_methods, reason = "a lock file in tainie's own folder is no project file")]
fn lock(path: &Path) -> std::io::Result<File> {
    let file = File::create(path)?;
    file.lock()?;
    Ok(file)
}

/// Removes the folders of dead owners; whatever can't be read or removed stays.
fn remove_orphans(parent: &Path, name: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let Some(owner) = file_name.to_str().and_then(|folder| owner_of(folder, name)) else { continue };
        if !is_alive(owner) && is_unlocked(&entry.path().join(LOCK)) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// The process id in `NAME-PID-N`.
fn owner_of(folder: &str, name: &str) -> Option<u32> {
    let (pid, number) = folder.strip_prefix(name)?.strip_prefix('-')?.split_once('-')?;
    number.parse::<usize>().ok()?;
    pid.parse().ok()
}

fn is_unlocked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // A process of somebody else answers with a refusal, which says that it is there.
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

/// Without a way to ask, the lock alone decides.
#[cfg(not(unix))]
fn is_alive(_pid: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::Tree;

    #[test]
    fn a_scratch_folder_goes_away_with_its_owner() {
        let parent = Tree::new(&[]);
        let scratch = Scratch::new_in(parent.path(), "s").unwrap();
        let folder = scratch.path().to_owned();
        assert!(folder.is_dir());
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn folders_of_dead_owners_are_removed_and_those_of_living_ones_stay() {
        // No Linux process has this id: it is above the largest one the kernel gives.
        let parent =
            Tree::new(&[("s-2000000000-0/tree/a.py", ""), ("other-2000000000-0/a.py", ""), ("s-x-1/a.py", "")]);
        let living = Scratch::new_in(parent.path(), "s").unwrap();
        let second = Scratch::new_in(parent.path(), "s").unwrap();
        assert!(living.path().is_dir() && second.path().is_dir());
        assert!(!parent.path().join("s-2000000000-0").exists());
        assert!(parent.path().join("other-2000000000-0").exists());
        assert!(parent.path().join("s-x-1").exists());
    }

    #[test]
    fn a_locked_folder_stays_whatever_its_process_id_says() {
        let parent = Tree::new(&[("s-2000000000-0/owner.lock", "")]);
        let file = File::open(parent.path().join("s-2000000000-0/owner.lock")).unwrap();
        file.lock().unwrap();
        drop(Scratch::new_in(parent.path(), "s").unwrap());
        assert!(parent.path().join("s-2000000000-0").exists());
    }
}
