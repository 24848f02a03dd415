//! The two fixtures are what their task needs them to be: the figures of d4, and oracles that tell a right
//! tree from a wrong one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Ended, PYTHON, copy_project, read_tree, repository, run, temporary_folder};

/// Where a plain text search finds the name as a whole word: file and byte offset.
fn mentions(fixture: &str, name: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (file, bytes) in read_tree(&repository(&format!("fixtures/{fixture}/work"))) {
        let text = String::from_utf8(bytes).expect("fixtures are UTF-8");
        let word = |c: char| c == '_' || c.is_alphanumeric();
        for (at, _) in text.match_indices(name) {
            let (before, after) = (text.split_at(at).0, text.split_at(at + name.len()).1);
            if !before.ends_with(word) && !after.starts_with(word) {
                found.push((file.clone(), at));
            }
        }
    }
    found
}

#[test]
fn d4_has_the_bytes_that_its_figures_were_taken_from() {
    let found = mentions("d4", "render_report");
    let of = |file: &str| found.iter().filter(|(name, _)| name == file).map(|(_, at)| *at).collect::<Vec<_>>();
    assert_eq!(found.len(), 17);
    assert_eq!((of("core.py"), of("views.py").last()), (vec![4], Some(&172)));
    assert_eq!(of("utils.py").first(), Some(&207), "the string literal");
    assert_eq!((of("handlers.py").len(), of("services.py").len(), of("utils.py").len()), (4, 6, 2));
    let utils = fs::read(repository("fixtures/d4/work/utils.py")).expect("utils.py is there");
    assert_eq!(&utils[17..37], b"render_report_legacy");
}

#[test]
fn d7_names_its_symbol_in_thirteen_places_and_calls_it_in_three() {
    assert_eq!(mentions("d7", "format_output").len(), 13);
    assert_eq!(mentions("d7", "return format_output").len(), 3, "one call each in report, dashboard and export");
}

/// Runs the fixture's oracle, as a script, on a copy of its tree in which `edit` was made to each line of code.
fn oracle(fixture: &str, edit: impl Fn(&str) -> String) -> Ended {
    let copy = temporary_folder();
    let work = copy.path().join("work");
    copy_project(&repository(&format!("fixtures/{fixture}/work")), &work);
    for (file, bytes) in read_tree(&work) {
        let text = String::from_utf8(bytes).expect("fixtures are UTF-8");
        let edited: String = text.split_inclusive('\n').map(&edit).collect();
        fs::write(work.join(file), edited).expect("a copy can be written");
    }
    let before = read_tree(&work);
    let script = repository(&format!("fixtures/{fixture}/oracle/test_{fixture}.py"));
    let ended = run_oracle(&script, &work);
    assert!(before == read_tree(&work), "an oracle leaves the tree as it is");
    ended
}

fn run_oracle(script: &Path, work: &Path) -> Ended {
    run(Command::new(PYTHON).arg(script).current_dir(work).env("TAINIE_WORKSPACE", work))
}

/// The first `)` of a returned call becomes `, ARGUMENT)`: the fixtures nest no parentheses there.
pub(crate) fn pass(line: &str, callee: &str, argument: &str) -> String {
    let start = format!("return {callee}(");
    match line.split_once(&start) {
        Some((head, call)) => format!("{head}{start}{}", call.replacen(')', &format!(", {argument})"), 1)),
        None => line.to_owned(),
    }
}

#[test]
fn the_oracle_of_d4_is_red_before_the_edit_and_green_after() {
    let before = oracle("d4", str::to_owned);
    assert_eq!(
        (before.code, before.stdout.lines().last()),
        (Some(1), Some("0 passed, 11 failed")),
        "{}",
        before.stderr
    );
    let after = oracle("d4", |line| pass(line, "render_report", "verbose=True"));
    assert_eq!((after.code, after.stdout.trim()), (Some(0), "11 passed, 0 failed"), "{}", after.stderr);
}

#[test]
fn the_oracle_of_d7_is_red_before_the_edit_and_green_after() {
    let before = oracle("d7", str::to_owned);
    assert_eq!((before.code, before.stdout.lines().last()), (Some(1), Some("3 passed, 3 failed")), "{}", before.stderr);
    let after = oracle("d7", |line| pass(line, "format_output", "truncate=True"));
    assert_eq!((after.code, after.stdout.trim()), (Some(0), "6 passed, 0 failed"), "{}", after.stderr);
}

#[test]
fn the_oracle_of_d7_turns_red_when_a_decoy_is_edited() {
    for decoy in ["format_output_legacy", "formatter.format_output"] {
        let after = oracle("d7", |line| pass(&pass(line, "format_output", "truncate=True"), decoy, "truncate=True"));
        assert_eq!(after.code, Some(1), "{decoy}: {}", after.stdout);
    }
}
