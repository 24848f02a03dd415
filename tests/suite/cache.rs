//! What the type checker said is kept for the very same tree, and for no other.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{copy_project, pyrefly, repository, tainie, temporary_folder};

/// A copy of d4 with a type checker that notes how often it is asked.
struct Watched {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Watched {
    fn new() -> Self {
        let folder = temporary_folder();
        let root = folder.path().join("project");
        copy_project(&repository("fixtures/d4"), &root);
        let program = folder.path().join("pyrefly");
        let log = folder.path().join("log");
        let script = format!("#!/bin/sh\necho \"$1\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), pyrefly().display());
        std::fs::write(&program, script).expect("writable");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("one's own file");
        Self { folder, root }
    }

    /// What is printed, and what the type checker was started for, other than to say its version.
    fn scout(&self, symbol: &str, more: &[&str]) -> (String, usize) {
        let log = self.folder.path().join("log");
        std::fs::write(&log, "").expect("writable");
        let args: Vec<String> = [&["scout", symbol, ".", "--format", "json", "--explain"], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let program = self.folder.path().join("pyrefly").display().to_string();
        let ended = tainie(&self.root, &args, &BTreeMap::from([("TAINIE_PYREFLY".to_owned(), program)]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let asked = std::fs::read_to_string(log).expect("readable");
        (ended.stdout, asked.lines().filter(|line| *line != "--version").count())
    }

    fn append(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, old + text).expect("writable");
    }

    fn caches(&self) -> Vec<PathBuf> {
        let folder = self.root.join("work/.tainie/cache");
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }
}

#[test]
fn a_tree_that_has_not_changed_is_not_asked_about_again() {
    let watched = Watched::new();
    let (first, asked) = watched.scout("render_report", &[]);
    assert!(asked > 0, "the first time it is asked");
    assert_eq!(watched.scout("render_report", &[]), (first.clone(), 0));
    let (afresh, asked) = watched.scout("render_report", &["--no-cache"]);
    assert_eq!((afresh, asked > 0), (first.clone(), true));
    // Another symbol of the same tree is asked about, and then known beside the first.
    let (other, asked) = watched.scout("render_report_legacy", &[]);
    assert!(asked > 0);
    assert_eq!(watched.scout("render_report_legacy", &[]), (other, 0));
    assert_eq!(watched.scout("render_report", &[]), (first, 0));
}

#[test]
fn whatever_an_answer_depends_on_makes_it_be_asked_for_again() {
    let watched = Watched::new();
    watched.scout("render_report", &[]);
    let changes: [(&str, &str); 5] = [
        ("work/views.py", "render_report({})\n"),
        ("work/utils.py", "# a file without a site\n"),
        ("work/new.py", "from core import render_report\n"),
        ("work/pyrefly.toml", "search-path = [\".\"]\n"),
        ("pyproject.toml", "[project]\nname = \"above\"\n"),
    ];
    for (file, text) in changes {
        watched.append(file, text);
        let (found, asked) = watched.scout("render_report", &[]);
        assert!(asked > 0, "{file}");
        assert_eq!(watched.scout("render_report", &["--no-cache"]).0, found, "{file}");
    }
}

#[test]
fn a_cache_that_can_not_be_used_is_as_if_it_were_not_there() {
    let watched = Watched::new();
    let (first, _) = watched.scout("render_report", &[]);
    for bytes in ["", "{}", "not JSON", "{\"schema_version\": 99}"] {
        for cache in watched.caches() {
            std::fs::write(cache, bytes).expect("writable");
        }
        let (again, asked) = watched.scout("render_report", &[]);
        assert_eq!((again, asked > 0), (first.clone(), true), "{bytes}");
    }
    let state = watched.root.join("work/.tainie");
    std::fs::remove_dir_all(&state).expect("one's own folder");
    std::fs::write(&state, "a file where the folder would be").expect("writable");
    assert_eq!(watched.scout("render_report", &[]).0, first);
}

#[test]
fn old_caches_make_way() {
    let watched = Watched::new();
    for run in 0..7 {
        watched.append("work/views.py", &format!("# {run}\n"));
        watched.scout("render_report", &[]);
    }
    assert_eq!(watched.caches().len(), 4);
    assert!(is_ignored_by_git(&watched.root.join("work/.tainie")));
}

fn is_ignored_by_git(state: &Path) -> bool {
    std::fs::read_to_string(state.join(".gitignore")).is_ok_and(|text| text == "*\n")
}
