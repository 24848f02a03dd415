//! A worklist that is read back is untrusted: each way of altering it is refused, and nothing is written.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Ended, copy_project, diff_trees, read_tree, repository, tainie, temporary_folder};

type Altering = fn(&mut Value);

fn site(worklist: &mut Value, index: usize) -> &mut Value {
    &mut worklist["sites"][index]
}

fn filter(kind: &str, left_out: usize) -> Value {
    json!({"kinds": [kind], "include": [], "exclude": [], "sites_left_out": left_out})
}

/// Each alteration of d4's worklist, the exit code and a part of what is said.
const ALTERATIONS: [(&str, Altering, i32, &str); 22] = [
    ("another schema", |w| w["schema_version"] = json!(2), 2, "schema_version is 2"),
    ("an unknown key", |w| w["sitess"] = json!([]), 2, "unknown field `sitess`"),
    ("an unknown key of a site", |w| site(w, 0)["spam"] = json!(1), 2, "unknown field `spam`"),
    ("a missing key", |w| drop(w.as_object_mut().expect("object").remove("files")), 2, "missing field `files`"),
    ("a class counted once more", |w| w["accounting"]["decoy"] = json!(1), 2, "doesn't add up"),
    ("a number near the end of its type", |w| w["accounting"]["text"] = json!(usize::MAX), 2, "doesn't add up"),
    ("a site taken out", |w| drop(w["sites"].as_array_mut().expect("array").remove(0)), 2, "10 sites listed of 11"),
    ("a site doubled", |w| w["sites"][1] = w["sites"][0].clone(), 2, "is listed twice"),
    (
        "a site moved onto the definition",
        |w| {
            let definition = w["symbol"]["definitions"][0].clone();
            let start = definition["span"]["start"].as_u64().expect("number");
            let moved = site(w, 0);
            moved["file"] = definition["file"].clone();
            moved["id"] = json!(format!("core.py:{start}"));
            for key in ["span", "region"] {
                moved[key] = definition["span"].clone();
            }
            moved["text"] = json!("render_report");
        },
        2,
        "a definition is never a site",
    ),
    ("a span cut short", |w| site(w, 0)["span"]["end"] = json!(300), 2, "isn't where the name stands"),
    ("a region widened", |w| site(w, 0)["region"]["start"] = json!(0), 2, "isn't what stands in the file"),
    ("a span that ends before it starts", |w| site(w, 0)["span"]["end"] = json!(0), 2, "ends before it starts"),
    ("another kind", |w| site(w, 0)["kind"] = json!("value"), 2, "a kind that isn't the use's own"),
    ("no such kind", |w| site(w, 0)["kind"] = json!("spam"), 2, "`kind`"),
    ("another line", |w| site(w, 0)["line"] = json!(0), 2, "a line and column that aren't those"),
    ("another id", |w| site(w, 0)["id"] = json!("handlers.py:1"), 2, "`id`"),
    ("a file taken out", |w| drop(w["files"].as_array_mut().expect("array").remove(1)), 2, "has no file entry"),
    ("an absolute path", |w| site(w, 0)["file"] = json!("/etc/passwd"), 4, "can't be followed"),
    (
        "a filter that its sites don't pass",
        |w| w["filter"] = filter("value", 0),
        2,
        "isn't one that its `filter` lists",
    ),
    ("a filter that leaves out what is listed", |w| w["filter"] = filter("call", 1), 2, "doesn't add up"),
    ("a filter by no kind", |w| w["filter"] = filter("spam", 0), 2, "`kinds`"),
    ("another revision", |w| w["files"][1]["revision"] = json!("0".repeat(64)), 4, "changed since"),
];

#[test]
fn each_way_of_altering_a_worklist_is_refused() {
    let folder = temporary_folder();
    let root = folder.path().join("project");
    copy_project(&repository("fixtures/d4"), &root);
    let run = |args: &[&str]| -> Ended {
        tainie(&root, &args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>(), &BTreeMap::new())
    };
    let worklist = run(&["scout", "render_report", "work", "--format", "json"]).stdout;
    let worklist: Value = serde_json::from_str(&worklist).expect("a worklist");
    let file = folder.path().join("worklist.json");
    let path = file.display().to_string();
    let edit = ["edit", "work", "--worklist", &path, "--operation", "add-keyword verbose=True", "--gate", "off"];
    let before = read_tree(&root);
    for (what, alter, code, part) in ALTERATIONS {
        let mut altered = worklist.clone();
        alter(&mut altered);
        std::fs::write(&file, altered.to_string()).expect("writable");
        let ended = run(&edit);
        assert_eq!((ended.code, ended.stderr.contains(part)), (Some(code), true), "{what}: {}", ended.stderr);
        assert_eq!(diff_trees(&before, &read_tree(&root)), "unchanged\n", "{what}");
    }
    std::fs::write(&file, worklist.to_string()).expect("writable");
    let unaltered = run(&edit);
    assert_eq!(unaltered.code, Some(0), "{}", unaltered.stderr);
    assert_ne!(diff_trees(&before, &read_tree(&root)), "unchanged\n");
}

/// A worklist may be kept anywhere and used from anywhere, but for its own workspace only.
#[test]
fn a_worklist_is_used_from_another_folder_with_its_workspace_named() {
    let folder = temporary_folder();
    let root = folder.path().join("project");
    copy_project(&repository("fixtures/d4"), &root);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("writable");
    let run = |from: &Path, args: &[&str]| -> Ended {
        tainie(from, &args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>(), &BTreeMap::new())
    };
    let worklist = run(&elsewhere, &["scout", "render_report", "../project/work", "--format", "json"]).stdout;
    std::fs::write(elsewhere.join("wl.json"), worklist).expect("writable");
    let edit = ["edit", "--worklist", "wl.json", "--operation", "add-keyword verbose=True", "--gate", "off"];
    // Neither a folder without its files is its workspace, nor one with others of the same names.
    for text in ["A = 1\n", "def render_report(): ...\n"] {
        std::fs::write(elsewhere.join("core.py"), text).expect("writable");
        let wrong = run(&elsewhere, &edit);
        assert_eq!((wrong.code, wrong.stderr.contains("it was made in work")), (Some(2), true), "{}", wrong.stderr);
    }
    let before = read_tree(&root);
    let named = [&["edit", "../project/work"], edit.get(1..).expect("more than a word")].concat();
    let ended = run(&elsewhere, &named);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_ne!(diff_trees(&before, &read_tree(&root)), "unchanged\n");
}
