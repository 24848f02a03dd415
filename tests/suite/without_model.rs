//! A build without the feature `openai`: no client, no network, and a plain word about it.

use std::collections::BTreeMap;

use crate::support::{copy_project, diff_trees, read_tree, repository, tainie, temporary_folder};

#[test]
fn a_build_without_the_model_editor_says_so() {
    let folder = temporary_folder();
    let root = folder.path().join("project");
    copy_project(&repository("fixtures/d4"), &root);
    let before = read_tree(&root);
    let model = ["--editor", "model", "--base-url", "http://127.0.0.1:9/v1"];
    for how in [&["--task", "task.md"][..], &["render_report", "work", "--instruction", "Make it talkative."]] {
        let args: Vec<String> = [&["edit"], how, &model].concat().into_iter().map(str::to_owned).collect();
        let ended = tainie(&root, &args, &BTreeMap::new());
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(ended.stderr.contains("this build has no model editor"), "{}", ended.stderr);
        assert!(ended.stderr.contains("--features openai") && ended.stdout.is_empty(), "{}", ended.stderr);
        assert_eq!(diff_trees(&before, &read_tree(&root)), "unchanged\n");
    }
}
