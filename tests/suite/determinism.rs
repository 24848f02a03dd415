//! The same tree, symbol and tools give the same bytes, and d4's are those that the design shows.
//!
//! `TAINIE_RUNS` says how often each worklist is made: 5 times unless it says more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{copy_project, repository, tainie, temporary_folder};

fn runs() -> usize {
    let asked = std::env::var("TAINIE_RUNS").ok().map(|text| text.parse().expect("TAINIE_RUNS is a number"));
    asked.unwrap_or(5).max(2)
}

/// The worklist of a fixture's symbol, made in one folder from nothing.
fn worklist(root: &Path, symbol: &str) -> String {
    worklist_with(root, symbol, &[])
}

fn worklist_with(root: &Path, symbol: &str, more: &[&str]) -> String {
    let args = [&["scout", symbol, ".", "--format", "json", "--explain", "--no-cache"], more].concat();
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    let ended = tainie(root, &args, &BTreeMap::new());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

fn copy_of(fixture: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = temporary_folder();
    let root = folder.path().join(fixture);
    copy_project(&repository(&format!("fixtures/{fixture}")), &root);
    (folder, root)
}

/// Every other run is one on another copy, so that no path of the machine can hide in the bytes, and one after the
/// other, so that no order of arrival can.
fn prints_the_same_bytes(fixture: &str, symbol: &str) {
    let copies = [copy_of(fixture), copy_of(fixture)];
    let jobs: [&[&str]; 2] = [&[], &["--jobs", "1"]];
    let first = worklist(&copies[0].1, symbol);
    let run = |run: usize| worklist_with(&copies[run % 2].1, symbol, jobs[run % 2]);
    let others: BTreeSet<String> = (1..runs()).map(run).collect();
    assert_eq!(others.into_iter().collect::<Vec<_>>(), [first]);
}

#[test]
fn the_worklist_of_d4_is_the_same_every_time() {
    prints_the_same_bytes("d4", "render_report");
}

#[test]
fn the_worklist_of_d7_is_the_same_every_time() {
    prints_the_same_bytes("d7", "format_output");
}

/// The entry with this text among the values of `key`.
fn entry<'v>(worklist: &'v Value, list: &str, key: &str, value: &str) -> &'v Value {
    let entries = worklist[list].as_array().expect("an array");
    entries.iter().find(|entry| entry[key] == value).unwrap_or_else(|| panic!("no {list} with {key} {value}"))
}

#[test]
fn the_worklist_of_d4_has_the_figures_of_the_design() {
    let (_folder, root) = copy_of("d4");
    let worklist: Value = serde_json::from_str(&worklist(&root, "render_report")).expect("scout prints JSON");
    assert_eq!(worklist["schema_version"], 1);
    assert_eq!(worklist["tool"]["tainie"], env!("CARGO_PKG_VERSION"));
    assert_eq!(worklist["workspace"], "work");
    assert_eq!(worklist["instruction"], Value::Null);
    assert_eq!(
        worklist["symbol"],
        json!({"fqn": "core.render_report", "kind": "function",
            "definitions": [{"file": "core.py", "line": 0, "column": 4, "span": {"start": 4, "end": 17}}]})
    );
    assert_eq!(
        *entry(&worklist, "sites", "id", "views.py:172"),
        json!({"id": "views.py:172", "file": "views.py", "symbol": "core.render_report", "line": 3, "column": 23,
            "span": {"start": 172, "end": 185}, "region": {"start": 172, "end": 207}, "kind": "call", "alias": null,
            "text": "render_report({\"page\": \"settings\"})", "enclosing": "views.settings",
            "sources": ["definition", "glean", "references"], "what_to_change": null})
    );
    assert_eq!(worklist["unresolvable"], json!([]));
    assert_eq!(
        worklist["accounting"],
        json!({"mentions": 17, "site": 11, "import": 3, "definition": 1, "decoy": 0, "unresolved": 0, "text": 2})
    );
    let in_utils: Vec<&Value> =
        worklist["near"].as_array().expect("an array").iter().filter(|near| near["file"] == "utils.py").collect();
    assert_eq!(
        *in_utils[0],
        json!({"file": "utils.py", "line": 0, "column": 17, "span": {"start": 17, "end": 37},
            "text": "render_report_legacy", "resolves_to": "core.render_report_legacy"})
    );
    assert_eq!(
        *entry(&worklist, "mentions", "file", "utils.py"),
        json!({"file": "utils.py", "line": 3, "column": 9, "span": {"start": 207, "end": 220}, "class": "text",
            "kind": "string", "resolves_to": null, "reason": null})
    );
    assert_eq!(entry(&worklist, "files", "file", "views.py")["state"], "analysed");
}

#[test]
fn the_sites_of_d4_go_up_by_file_and_down_in_each() {
    let (_folder, root) = copy_of("d4");
    let worklist: Value = serde_json::from_str(&worklist(&root, "render_report")).expect("scout prints JSON");
    let mut of_file: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut order = Vec::new();
    for site in worklist["sites"].as_array().expect("sites") {
        let file = site["file"].as_str().expect("a file");
        order.push(file);
        of_file.entry(file).or_default().push(site["span"]["start"].as_u64().expect("an offset"));
    }
    assert!(order.is_sorted());
    assert!(of_file.values().all(|starts| starts.is_sorted_by(|a, b| a > b)));
    let counts: Vec<(&str, usize)> = of_file.iter().map(|(file, starts)| (*file, starts.len())).collect();
    assert_eq!(counts, [("handlers.py", 3), ("services.py", 5), ("views.py", 3)]);
}
