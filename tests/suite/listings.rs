//! Each format of `scout` read back by a reader that knows nothing of tainie, on names and lines that would break one
//! that is written carelessly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Ended, tainie, temporary_folder};

/// A project whose file names and lines hold what formats and terminals take for their own.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

const ODD: &str = "odd: a,b 100%.py";
const FILES: [(&str, &str); 3] = [
    ("core.py", "def f(x: object) -> object:\n    return x\n"),
    (ODD, "\u{feff}from core import f\n\u{e9}t\u{e9} = 1; f(\u{e9}t\u{e9})\nf(\n    1,\n)\n"),
    ("odd.py", "from core import f\n\n\ndef g(h):\n    f('\u{1b}[31m \u{202e}')  # \u{7}\n    h.f('100%, a: b')\n"),
];

impl Project {
    fn new() -> Self {
        let folder = temporary_folder();
        let root = folder.path().join("project");
        std::fs::create_dir(&root).expect("writable");
        for (name, text) in FILES {
            std::fs::write(root.join(name), text).expect("writable");
        }
        Self { _folder: folder, root }
    }

    fn scout(&self, more: &[&str]) -> String {
        let ended = self.run(&self.root, more, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    }

    fn run(&self, from: &Path, more: &[&str], env: &[(&str, &str)]) -> Ended {
        let root = self.root.display().to_string();
        let args = [&["scout", "core.f", &root], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let env: BTreeMap<String, String> = env.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        tainie(from, &args, &env)
    }

    /// The sites as JSON has them: file, 0-based line, 0-based column, bytes of the name.
    fn sites(&self) -> Vec<(String, u64, u64, u64, u64)> {
        let worklist: Value = serde_json::from_str(&self.scout(&["--format", "json"])).expect("JSON");
        let mut sites: Vec<_> = array(&worklist["sites"]).iter().map(place).collect();
        sites.sort();
        assert_eq!(sites.len(), 3);
        sites
    }
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn place(site: &Value) -> (String, u64, u64, u64, u64) {
    let file = site["file"].as_str().expect("a file").to_owned();
    let span = &site["span"];
    (file, number(&site["line"]), number(&site["column"]), number(&span["start"]), number(&span["end"]))
}

#[test]
fn lines_of_json_hold_what_the_worklist_holds() {
    let project = Project::new();
    let text = project.scout(&["--format", "jsonl", "--explain"]);
    let lines: Vec<Value> = text.split_terminator('\n').map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let whole: Value = serde_json::from_str(&project.scout(&["--format", "json", "--explain"])).expect("JSON");
    assert_eq!((&lines[0]["type"], &lines[0]["accounting"]), (&Value::from("header"), &whole["accounting"]));
    for (kind, list) in [
        ("site", "sites"),
        ("unresolvable", "unresolvable"),
        ("near", "near"),
        ("file", "files"),
        ("mention", "mentions"),
    ] {
        let mut of_kind: Vec<Value> = lines.iter().filter(|line| line["type"] == kind).cloned().collect();
        for line in &mut of_kind {
            line.as_object_mut().expect("an object").remove("type");
        }
        assert_eq!(&of_kind, array(&whole[list]), "{kind}");
    }
}

/// The properties that the schema of SARIF 2.1.0 requires, and what its prose asks of paths, columns and levels.
#[test]
fn sarif_has_what_its_schema_requires() {
    let project = Project::new();
    let log: Value = serde_json::from_str(&project.scout(&["--format", "sarif"])).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &array(&log["runs"])[0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = array(&driver["rules"]);
    let mut sites = Vec::new();
    let mut warnings = 0;
    for result in array(&run["results"]) {
        assert!(result["message"]["text"].is_string());
        let index = usize::try_from(number(&result["ruleIndex"])).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let physical = &result["locations"][0]["physicalLocation"];
        let (artifact, region) = (&physical["artifactLocation"], &physical["region"]);
        assert_eq!(artifact["uriBaseId"], "%SRCROOT%");
        assert!(run["originalUriBaseIds"]["%SRCROOT%"].is_object());
        if result["level"] == "warning" {
            warnings += 1;
            continue;
        }
        assert_eq!((&result["level"], &result["ruleId"]), (&Value::from("note"), &Value::from("site")));
        let (line, column) = (number(&region["startLine"]), number(&region["startColumn"]));
        assert_eq!((number(&region["endLine"]), number(&region["endColumn"])), (line, column + 1));
        let (start, length) = (number(&region["byteOffset"]), number(&region["byteLength"]));
        let file = percent_decoded(artifact["uri"].as_str().expect("a URI"));
        sites.push((file, line - 1, column - 1, start, start + length));
    }
    sites.sort();
    assert_eq!((sites, warnings), (project.sites(), 1));
}

fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).expect("ASCII"), 16).expect("hex");
        assert!(first == b'%' || first.is_ascii_alphanumeric() || b"-._~/".contains(&first), "{uri}");
        let (byte, behind) = if first == b'%' { (hex(&after[..2]), &after[2..]) } else { (first, after) };
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// As GitHub's runner reads them: the properties end at `::`, each at a comma; five codes are undone.
#[test]
fn workflow_commands_read_back_as_the_runner_reads_them() {
    let project = Project::new();
    let above = project.root.parent().expect("a folder above");
    let ended = project.run(above, &["--format", "github"], &[]);
    let (mut sites, mut warnings, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for line in ended.stdout.split_terminator('\n') {
        let (head, message) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).expect("a command");
        let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
        let properties: BTreeMap<&str, String> = properties
            .split(',')
            .filter_map(|property| property.split_once('='))
            .map(|(key, value)| (key, unescaped(value)))
            .collect();
        let number = |key: &str| properties[key].parse::<u64>().expect("a number");
        match (name, properties.get("file")) {
            ("notice", Some(file)) => {
                let file = file.strip_prefix("project/").expect("named from the current folder").to_owned();
                sites.push((file, number("line") - 1, number("col") - 1));
            }
            ("warning", Some(_)) => warnings.push((number("line"), unescaped(message))),
            ("notice", None) => sums.push(unescaped(message)),
            other => panic!("{other:?}"),
        }
    }
    sites.sort();
    let expected: Vec<_> = project.sites().into_iter().map(|(file, line, column, ..)| (file, line, column)).collect();
    assert_eq!(sites, expected);
    assert_eq!((warnings.len(), warnings[0].0), (1, 6));
    assert!(sums.len() == 1 && sums[0].contains(" mentions = 3 site + "), "{sums:?}");
}

fn unescaped(text: &str) -> String {
    text.replace("%2C", ",").replace("%3A", ":").replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
}

/// As Vim's `%f:%l:%c:%m` reads it; of a name with colons the last three numbers count.
#[test]
fn columns_of_an_editors_list_are_those_of_bytes_without_the_mark() {
    let project = Project::new();
    let text = project.scout(&["--format", "vimgrep"]);
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    assert_eq!(
        lines,
        [
            "odd.py:5:5:    f('\\x1b[31m \\u{202e}')  # \\x07",
            "odd.py:6:7:[receiver-type-unknown] the type of what stands before the dot isn't known; annotate it",
            &format!("{ODD}:2:12:\u{e9}t\u{e9} = 1; f(\u{e9}t\u{e9})"),
            &format!("{ODD}:3:1:f("),
        ]
    );
}

#[test]
fn nothing_in_a_listing_steers_the_terminal() {
    let project = Project::new();
    for more in [&[][..], &["--explain"], &["--why", "odd.py:5"], &["--format", "github"], &["--format", "vimgrep"]] {
        let ended = project.run(&project.root, more, &[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let unstyled = without_styles(&ended.stdout);
        assert!(!unstyled.chars().any(|c| c.is_control() && c != '\n'), "{more:?}: {unstyled:?}");
        assert!(!unstyled.contains('\u{202e}'), "{more:?}: {unstyled:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_name_does_not_steer_the_terminal() {
    let project = Project::new();
    std::fs::write(project.root.join("a\u{1b}2J\nb.py"), "from core import f\nf(1)\n").expect("writable");
    for more in [&[][..], &["--explain"], &["--format", "vimgrep"]] {
        let text = project.scout(more);
        assert!(text.contains("a\\x1b2J\\x0ab.py:2:1"), "{more:?}: {text}");
    }
}

#[test]
fn colours_are_for_a_terminal_and_say_nothing_that_the_text_does_not() {
    let project = Project::new();
    let run = |env: &[(&str, &str)]| project.run(&project.root, &["--explain"], env).stdout;
    let (plain, forced) = (run(&[]), run(&[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")]));
    assert!(!plain.contains('\u{1b}') && forced.contains("\u{1b}["), "{forced:?}");
    assert_eq!(without_styles(&forced), plain);
    assert_eq!(run(&[("NO_COLOR", "1"), ("TERM", "xterm")]), plain);
}

/// Takes `ESC [ … m` out.
fn without_styles(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (style, rest) = piece.split_once('m').expect("a style ends");
        assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?} is no style");
        out.push_str(rest);
    }
    out
}

#[test]
fn the_last_line_of_a_listing_is_the_accounting() {
    let project = Project::new();
    for more in [&[][..], &["--explain"], &["--kind", "value"], &["--exclude", "odd*"]] {
        let text = project.scout(more);
        let last = text.trim_end().rsplit('\n').next().expect("a line");
        assert!(last.contains(" mentions = 3 site + "), "{more:?}: {last}");
    }
}
