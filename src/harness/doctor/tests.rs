use std::ffi::OsString;

use super::*;
use crate::checker::Candidate;
use crate::checker::testing::{Tree, block_on};

fn surroundings(tree: &Tree, path: Option<OsString>) -> Surroundings {
    Surroundings { cache: tree.path().join("cache"), path, ..Surroundings::default() }
}

fn request(tree: &Tree, workspace: bool) -> CheckupRequest {
    let root = ProjectRoot::from_canonical(tree.path().to_owned());
    CheckupRequest {
        folder: tree.path().to_owned(),
        workspace: workspace.then_some(root),
        named: workspace,
        base_url: None,
        api_key: None,
    }
}

fn state_of(checkup: &Checkup, name: &str) -> (CheckState, Option<String>) {
    let check = checkup.checks.iter().find(|check| check.name == name).unwrap();
    assert!(!check.why.is_empty() && !check.detail.is_empty());
    (check.state, check.fix.clone())
}

#[test]
fn a_machine_with_nothing_is_healthy_and_told_to_set_up() {
    let tree = Tree::new(&[("a.py", "")]);
    let checkup = block_on(doctor(&surroundings(&tree, None), &request(&tree, true)));
    assert!(checkup.healthy, "{checkup:?}");
    assert_eq!(state_of(&checkup, "pyrefly"), (CheckState::Missing, Some("tainie setup".to_owned())));
    for name in ["python3", "uv", "pytest", "second opinion", "model server", "journal"] {
        assert_eq!(state_of(&checkup, name).0, CheckState::Missing, "{name}");
    }
    assert_eq!(state_of(&checkup, "workspace").0, CheckState::Ok);
}

#[cfg(unix)]
#[test]
fn another_server_that_is_there_is_named() {
    let tree = Tree::new(&[("a.py", "")]);
    tree.program("bin/ty", "#!/bin/sh\nexit 1\n");
    let checkup = block_on(doctor(&surroundings(&tree, Some(tree.path().join("bin").into())), &request(&tree, false)));
    let check = checkup.checks.iter().find(|check| check.name == "second opinion").unwrap();
    assert_eq!((check.state, &check.fix), (CheckState::Ok, &None));
    assert!(check.detail.ends_with("bin/ty; basedpyright: not there"), "{}", check.detail);
}

#[test]
fn a_pyrefly_that_was_named_and_does_not_work_is_broken() {
    let search = |origin, mend| Search {
        found: None,
        candidates: vec![Candidate {
            origin,
            program: "/x/pyrefly".into(),
            outcome: Outcome::Broken(CheckerError::NamedMissing { program: "/x/pyrefly".into(), origin }),
        }],
        mend,
    };
    let check = pyrefly_check(&search(Origin::EnvironmentVariable, None));
    assert_eq!((check.state, check.fix.as_deref()), (CheckState::Broken, Some("unset TAINIE_PYREFLY")));
    let check = pyrefly_check(&search(Origin::Flag, None));
    assert_eq!((check.state, check.fix), (CheckState::Broken, None));
    // An old one that nobody named is passed over once the pinned one is there.
    let check = pyrefly_check(&search(Origin::Path, Some("tainie setup")));
    assert_eq!((check.state, check.fix.as_deref()), (CheckState::Broken, Some("tainie setup")));
    assert!(check.detail.contains("/x/pyrefly (PATH): "), "{}", check.detail);
}

#[test]
fn only_what_is_there_and_does_not_work_is_unhealthy() {
    let check = |state| Check { name: "x", state, detail: String::new(), why: "", fix: None };
    assert!(Checkup::new(vec![check(CheckState::Ok), check(CheckState::Missing)]).healthy);
    assert!(!Checkup::new(vec![check(CheckState::Ok), check(CheckState::Broken)]).healthy);
}

#[test]
fn a_server_that_does_not_run_is_missing_and_one_that_talks_nonsense_is_broken() {
    let address = || "http://127.0.0.1:1/v1".to_owned();
    let check = |error: EditorError, expected| {
        assert_eq!(answered(&address(), Err(&HarnessError::Model(error))).0, expected);
    };
    check(EditorError::Unreachable { address: address(), message: "refused".to_owned() }, CheckState::Missing);
    check(EditorError::Nonsense { address: address(), message: "html".to_owned() }, CheckState::Broken);
    check(EditorError::Timeout { address: address(), seconds: 10 }, CheckState::Broken);
    assert_eq!(answered(&address(), Ok("m")).0, CheckState::Ok);
}

#[test]
fn a_damaged_journal_is_broken_and_can_be_put_aside() {
    let tree = Tree::new(&[("a.py", ""), (".tainie/journal.db", "this is no database at all, just some text")]);
    let check = journal_check(&surroundings(&tree, None), &request(&tree, true));
    assert_eq!(check.state, CheckState::Broken);
    let fix = check.fix.unwrap();
    assert!(fix.starts_with("mv ") && fix.ends_with(".tainie/journal.db.damaged"), "{fix}");
}

#[cfg(unix)]
#[test]
fn programs_are_found_on_the_path_and_asked() {
    let tree = Tree::new(&[("text/uv", "not to be run")]);
    tree.program("good/uv", "#!/bin/sh\necho uv 9.9\n");
    tree.program("bad/uv", "#!/bin/sh\necho sorry >&2; exit 3\n");
    let with = |folders: &[&str]| {
        let path = std::env::join_paths(folders.iter().map(|folder| tree.path().join(folder))).unwrap();
        block_on(probe(Some(&path), &["uv"], &["--version"]))
    };
    assert_eq!(with(&["text"]), Program::Missing);
    let program = tree.path().join("good/uv");
    assert_eq!(with(&["text", "good"]), Program::Answers { program, said: "uv 9.9".to_owned() });
    let program = tree.path().join("bad/uv");
    assert_eq!(with(&["bad", "good"]), Program::Fails { program, reason: "sorry".to_owned() });
}

#[test]
fn a_python_without_venv_matters_only_where_nothing_else_installs() {
    let python = Program::Answers { program: "/p/python3".into(), said: format!("3.12.3 {}", programs::WITHOUT_VENV) };
    assert_eq!(python_check(&python, true, None).state, CheckState::Ok);
    assert_eq!(python_check(&python, false, None).state, CheckState::Missing);
}

#[test]
fn a_workspace_is_seen_at_a_glance() {
    let tree = Tree::new(&[("a/x.py", ""), ("b/src/y.py", ""), ("c/p/__init__.py", ""), ("d/deep/er/z.py", "")]);
    let seen = |folder: &str| looks_like_workspace(&tree.path().join(folder));
    assert_eq!(["a", "b", "c", "d"].map(seen), [true, true, true, false]);
}

#[test]
fn paths_are_quoted_where_a_shell_needs_it() {
    assert_eq!(quoted(Path::new("/a/b-c.d")), "/a/b-c.d");
    if !cfg!(windows) {
        assert_eq!(quoted(Path::new("/a b/c'd")), r"'/a b/c'\''d'");
    }
}
