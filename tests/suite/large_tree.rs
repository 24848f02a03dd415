//! A tree of more than 1,000 Python files: what is asked there, what with `--verify`, and that both find the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{tainie, temporary_folder};

fn scout(root: &Path, more: &[&str]) -> Value {
    let args = [&["scout", "pkg.core.f", ".", "--format", "json"], more].concat();
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    let ended = tainie(root, &args, &BTreeMap::new());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("scout prints JSON")
}

/// Sites by their ids, without who says so.
fn ids(worklist: &Value) -> Vec<&str> {
    worklist["sites"].as_array().expect("an array").iter().filter_map(|site| site["id"].as_str()).collect()
}

#[test]
fn a_large_tree_is_cross_checked_where_something_is_open_or_when_asked() {
    let folder = temporary_folder();
    let root = folder.path();
    let put = |file: &str, text: &str| std::fs::write(root.join(file), text).expect("writable");
    std::fs::create_dir(root.join("pkg")).expect("writable");
    put("pkg/__init__.py", "");
    put("pkg/core.py", "def f(x: int) -> int:\n    return x\n");
    put("pkg/user.py", "from pkg.core import f\n\nf(1)\n\n\ndef g() -> int:\n    return 1\n    return f(2)\n");
    put("pkg/attribute.py", "def h(thing):\n    return thing.f(3)\n");
    for number in 0..1000 {
        put(&format!("pkg/filler{number}.py"), "X = 1\n");
    }
    let found = scout(root, &[]);
    assert_eq!(found["asked"], json!({"definition": "all", "glean": "open", "references": "nothing"}));
    let notes = found["notes"].to_string();
    assert!(notes.contains("--verify"), "{notes}");
    assert_eq!(found["accounting"]["site"], 2, "the call in dead code, too: {found:#}");
    assert_eq!(found["accounting"]["unresolved"], 1, "the receiver of no known type");
    let verified = scout(root, &["--verify", "--no-cache"]);
    assert_eq!(verified["asked"], json!({"definition": "all", "glean": "all", "references": "all"}));
    assert_eq!((ids(&verified), &verified["accounting"]), (ids(&found), &found["accounting"]));
}

#[test]
fn the_bar_between_ordinary_and_large_is_one_thousand_files() {
    let folder = temporary_folder();
    let mut calls = String::new();
    for number in 0..3 {
        writeln!(calls, "f({number})").expect("writing to a string can't fail");
    }
    std::fs::create_dir(folder.path().join("pkg")).expect("writable");
    let put = |file: String, text: &str| std::fs::write(folder.path().join(file), text).expect("writable");
    put("pkg/core.py".to_owned(), &format!("def f(x: int) -> int:\n    return x\n\n\n{calls}"));
    for number in 1..1000 {
        put(format!("pkg/filler{number}.py"), "X = 1\n");
    }
    assert_eq!(scout(folder.path(), &[])["asked"]["references"], "all");
    put("one_more.py".to_owned(), "X = 1\n");
    assert_eq!(scout(folder.path(), &[])["asked"]["references"], "nothing");
}
