use std::time::Duration;

use super::*;
use crate::checker::testing::{block_on, pyrefly};
use crate::harness::{FIXTURES, SystemClock};

struct Quiet;

impl Progress for Quiet {
    fn step(&self, _what: &str, _total: usize) {}

    fn tick(&self) {}
}

#[expect(clippy::disallowed_methods, reason = "the oracle's interpreter is found on the PATH of the test")]
fn surroundings() -> Surroundings {
    let path = std::env::var("PATH").ok().map(Into::into);
    Surroundings { pyrefly_env: Some(pyrefly().program().to_owned()), path, ..Surroundings::default() }
}

fn no_model() -> ModelRequest {
    ModelRequest { base_url: None, model: None, api_key: None, attempts: 1, time_limit: Duration::from_secs(1) }
}

#[test]
fn both_fixtures_go_from_red_to_green_and_back_to_the_same_bytes() {
    for (fixture, sites, lookalikes) in [("d4", 11, 10), ("d7", 3, 10)] {
        let demo = Demo::prepare(&surroundings(), fixture).unwrap();
        let mut done = block_on(async {
            let worklist = demo.scout(&Quiet).await.unwrap();
            demo.edit(&worklist, &no_model(), &SystemClock, &Quiet).await.unwrap()
        });
        assert_eq!(done.problems(), Vec::<String>::new(), "{fixture}");
        assert_eq!((done.report.totals.applied, done.report.totals.model_calls), (sites, 0), "{fixture}");
        assert_eq!((done.others.lookalikes, done.others.untouched), (lookalikes, lookalikes), "{fixture}");
        assert!(done.others.bytes > 1000);

        // Each part of the proof counts.
        done.report.totals.applied -= 1;
        done.report.oracle.as_mut().unwrap().before = true;
        done.report.oracle.as_mut().unwrap().after = None;
        done.others.changed.push("work/a.py".to_owned());
        done.others.untouched -= 1;
        done.not_undone.push("work/b.py".to_owned());
        assert_eq!(done.problems().len(), 6, "{:?}", done.problems());
    }
    assert_eq!(FIXTURES, ["d4", "d7"]);
}

#[test]
fn a_byte_outside_the_sites_is_noticed_in_any_file() {
    let demo = Demo::prepare(&surroundings(), "d7").unwrap();
    let worklist = block_on(demo.scout(&Quiet)).unwrap();
    let before = embedded("d7");
    let with = |path: &str, from: &str, to: &str| {
        let mut after = before.clone();
        let text = String::from_utf8(after.remove(path).unwrap()).unwrap();
        assert!(text.contains(from), "{path}");
        after.insert(path.to_owned(), text.replacen(from, to, 1).into_bytes());
        compare(&before, &after, &worklist)
    };
    let edited = with("work/report.py", "format_output(rows)", "format_output(rows, truncate=True)");
    assert_eq!((edited.changed.len(), edited.untouched), (0, edited.lookalikes));
    for (path, from, to) in [
        ("work/report.py", "format_output_legacy(rows)", "format_output_legacy(rows, truncate=True)"),
        ("work/report.py", "format_output(rows)", "format_output_legacy(rows)"),
        ("work/report.py", "format_output(rows)", "format_output(rows)\n    print()"),
        ("work/types.py", "format_output(record)", "format_output(record, truncate=True)"),
        ("task.md", "Update", "update"),
        ("oracle/test_d7.py", "assert", "assert True or"),
    ] {
        let others = with(path, from, to);
        assert_eq!(others.changed, [path], "{to}");
        assert_eq!(others.untouched < others.lookalikes, path.starts_with("work/"), "{to}");
    }
    let mut more = before.clone();
    more.insert("work/new.py".to_owned(), Vec::new());
    assert_eq!(compare(&before, &more, &worklist).changed, ["work/new.py"]);
}

#[test]
fn copies_never_lie_below_a_hidden_folder() {
    let hidden = std::env::temp_dir().join(format!("tainie-test-{}", std::process::id())).join(".hidden");
    fs::create_dir_all(&hidden).unwrap();
    if Path::new("/var/tmp").is_dir() {
        assert_ne!(folder_for_copies(&hidden), hidden);
    }
    fs::remove_dir_all(hidden.parent().unwrap()).unwrap();
}
