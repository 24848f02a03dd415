//! No fixture, snapshot, test file or pin is left out by accident.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cases::Case;
use crate::support::{files_below, repository};

fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_else(|e| panic!("{path} can be read: {e}"))
}

/// The names of the folders in `fixtures/cases`.
fn case_folders() -> BTreeSet<String> {
    fs::read_dir(repository("fixtures/cases"))
        .expect("fixtures/cases can be listed")
        .map(|entry| entry.expect("an entry of a folder can be read").file_name())
        .map(|name| name.into_string().expect("fixtures have UTF-8 names"))
        .collect()
}

#[test]
fn every_case_is_whole() {
    let folders = case_folders();
    assert!(!folders.is_empty());
    for name in folders {
        let folder = repository("fixtures/cases").join(&name);
        let case = Case::read(&folder.join("case.json"));
        assert!(case.shows.ends_with('.'), "{name}: `shows` is a sentence");
        assert!(folder.join(&case.before).is_dir(), "{name}: no folder {}", case.before);
        let runs = case.steps().iter().filter(|step| step.args().is_some()).count();
        assert_eq!(runs, case.exits().len(), "{name}: one exit code for each run");
        assert!(runs > 0, "{name}: nothing is run");
        let snapshot = folder.join("outcome.snap").is_file();
        assert_eq!(snapshot, !case.pending, "{name}: a case has a snapshot, a pending one has none");
        let known = ["case.json", "before", "outcome.snap", "discovery.json", "answers.json"];
        for entry in fs::read_dir(&folder).expect("a case can be listed") {
            let file = entry.expect("an entry of a folder can be read").file_name();
            assert!(known.iter().any(|known| *known == file), "{name}: {} is read by nobody", file.display());
        }
    }
}

#[test]
fn every_snapshot_has_a_case() {
    for root in ["fixtures", "src", "tests"] {
        for path in files_below(&repository(root)) {
            assert!(!path.ends_with(".snap.new"), "{root}/{path}: accept it or throw it away");
            if root == "fixtures" && Path::new(&path).extension().is_some_and(|extension| extension == "snap") {
                let of_case = path.strip_prefix("cases/").and_then(|path| path.strip_suffix("/outcome.snap"));
                assert!(of_case.is_some_and(|name| case_folders().contains(name)), "{root}/{path} belongs to no case");
            }
        }
    }
}

#[test]
fn every_file_of_the_suite_is_a_module_of_it() {
    let main = read("tests/suite/main.rs");
    for path in files_below(&repository("tests/suite")) {
        let Some(module) = path.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(main.split('\n').any(|line| line == format!("mod {module};")), "tests/suite/{path} is never compiled");
    }
    for path in files_below(&repository("tests")) {
        assert!(path.starts_with("suite/"), "tests/{path}: the suite is one binary");
    }
}

/// What follows `key = ` in the manifest.
fn manifest(key: &str) -> String {
    let manifest = read("Cargo.toml");
    let line = manifest.split('\n').find(|line| line.starts_with(&format!("{key} = "))).expect("the key is there");
    line.split('"').nth(1).expect("the value is a string").to_owned()
}

#[test]
fn the_oldest_rust_is_the_same_everywhere() {
    let oldest = manifest("rust-version");
    for path in [".github/workflows/ci.yml", "justfile"] {
        assert!(read(path).contains(&oldest), "{path} names another Rust than the manifest's {oldest}");
    }
}

#[test]
fn the_changelog_has_room_for_what_is_unreleased() {
    assert!(read("CHANGELOG.md").contains("\n## Unreleased\n"));
}

#[test]
fn actions_are_pinned_by_commit() {
    for path in files_below(&repository(".github/workflows")) {
        let text = read(&format!(".github/workflows/{path}"));
        for action in text.split('\n').filter_map(|line| line.split_once("uses: ")).map(|(_, action)| action) {
            let (_, pin) = action.split_once('@').unwrap_or_else(|| panic!("{path}: {action} has no version"));
            let commit: String = pin.chars().take_while(char::is_ascii_hexdigit).collect();
            assert_eq!(commit.len(), 40, "{path}: {action} isn't pinned by a full commit");
        }
        assert!(text.contains("\npermissions: {}\n"), "{path} asks for permissions");
        assert_eq!(
            text.matches("actions/checkout@").count(),
            text.matches("persist-credentials: false").count(),
            "{path}"
        );
    }
}

#[test]
fn the_local_model_keeps_its_pins() {
    let script = read(".ci/local-model.sh");
    assert!(script.contains("--require-hashes") && !script.contains("--no-verify"));
}
