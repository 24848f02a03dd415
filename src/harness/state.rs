//! Where a workspace keeps its record. Looks at folders only; creates nothing.

use std::path::{Path, PathBuf};

use super::error::StateError;
use super::journal::JOURNAL_FILE;

/// The folder below a workspace that holds its journal.
pub(crate) const STATE_FOLDER: &str = ".tainie";

/// A workspace with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundState {
    pub(crate) workspace: PathBuf,
    pub(crate) state: PathBuf,
}

/// The workspace that a folder stands for: a fixture (`task.md` beside `work/`) means its `work/`.
pub(crate) fn workspace_of(folder: &Path) -> PathBuf {
    let work = folder.join("work");
    if folder.join("task.md").is_file() && work.is_dir() { work } else { folder.to_owned() }
}

/// The nearest workspace with a journal, from an absolute folder upwards.
pub(crate) fn find_state(start: &Path) -> Result<FoundState, StateError> {
    let mut looked = Vec::new();
    for folder in start.ancestors() {
        let workspace = workspace_of(folder);
        let state = workspace.join(STATE_FOLDER);
        if state.join(JOURNAL_FILE).is_file() {
            return Ok(FoundState { workspace, state });
        }
        looked.push(workspace);
    }
    Err(StateError::NoJournal { start: start.to_owned(), looked })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for name in names {
            std::fs::create_dir_all(path.join(name)).unwrap();
        }
        (folder, path)
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes its own tree")]
    fn put(path: PathBuf) {
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn the_nearest_journal_above_is_found() {
        let (_folder, root) = folders(&["a/b/c", ".tainie", "a/.tainie", "a/b/.tainie"]);
        put(root.join(".tainie/journal.db"));
        put(root.join("a/.tainie/journal.db"));
        let found = find_state(&root.join("a/b/c")).unwrap();
        assert_eq!(found.workspace, root.join("a"), "a state folder without a journal is passed over");
        assert_eq!(found.state, root.join("a/.tainie"));
    }

    #[test]
    fn a_fixture_means_its_work_folder_on_every_level() {
        let (_folder, root) = folders(&["d4/work/.tainie", "d4/oracle"]);
        put(root.join("d4/task.md"));
        put(root.join("d4/work/.tainie/journal.db"));
        for start in ["d4", "d4/oracle", "d4/work"] {
            assert_eq!(find_state(&root.join(start)).unwrap().workspace, root.join("d4/work"), "from {start}");
        }
    }

    #[test]
    fn without_a_journal_the_folders_looked_at_are_told() {
        let (_folder, root) = folders(&["a"]);
        let StateError::NoJournal { looked, .. } = find_state(&root.join("a")).unwrap_err();
        assert_eq!(looked.first(), Some(&root.join("a")));
        assert!(looked.contains(&root));
    }
}
