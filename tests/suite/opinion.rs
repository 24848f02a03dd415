//! The second opinion, from outside: with the real ty, with basedpyright where there is one, and with servers that fail.
//!
//! `TAINIE_TY` and `TAINIE_BASEDPYRIGHT` name the programs; else `PATH` is looked at; else ty is installed into the
//! build folder, once. basedpyright brings a whole Node.js along, so without one its test passes over itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{Ended, PYTHON, run, tainie, temporary_folder};

/// What the type checker leaves open and another sees: attributes and globals that begin as `None`.
const JOBS: &str = "class Job:\n    def run(self) -> int:\n        return 1\n";
const USER: &str = "\
from jobs import Job


class Owner:
    def __init__(self):
        self.job = None

    def set(self):
        self.job = Job()

    def use(self):
        self.job.run()


current = None


def init():
    global current
    current = Job()


def use():
    current.run()


def known(job: Job, other: 'Other', unknown):
    job.run()
    other.run()
    unknown.run()


class Other:
    def run(self) -> int:
        return 2
";

/// A language server that does as its argument says.
const FAKE: &str = r#"
import json, os, sys, time
how = sys.argv[1]
inp, out = sys.stdin.buffer, sys.stdout.buffer
def send(value):
    body = json.dumps(value).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body); out.flush()
def read():
    length = 0
    while True:
        line = inp.readline()
        if not line: sys.exit(0)
        if line == b"\r\n": break
        if line.lower().startswith(b"content-length"): length = int(line.split(b":")[1])
    return json.loads(inp.read(length))
def target(file, line, start, end):
    at = lambda character: {"line": line, "character": character}
    return [{"uri": "file://" + os.getcwd() + "/" + file, "range": {"start": at(start), "end": at(end)}}]
asked = 0
while True:
    message = read()
    method = message["method"]
    if "id" not in message: continue
    result = None
    if method == "initialize":
        if how == "dumb": time.sleep(600)
        if how == "rude": print("not today", file=sys.stderr); sys.exit(3)
        result = {"capabilities": {"positionEncoding": "utf-8"} if how == "bytes" else {}}
    if method == "textDocument/definition":
        asked += 1
        if how == "silent": time.sleep(600)
        if how == "crash" and asked == 3: print("out of cheese", file=sys.stderr); sys.exit(7)
        if how in ("symbol", "crash"): result = target("jobs.py", 1, 8, 11)
        if how == "nonsense": result = target("jobs.py", 999, 8, 11) + target("jobs.py", 1, 900, 2) + target("no.py", 0, 0, 1)
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})
"#;

/// Scouts `Job.run` with more arguments; the server's script stands outside the workspace.
fn scout(more: &[&str]) -> Ended {
    scout_in("jobs.py", "user.py", more)
}

/// The same with the files elsewhere in the workspace.
fn scout_in(jobs: &str, user: &str, more: &[&str]) -> Ended {
    let folder = temporary_folder();
    let root = folder.path().join("project");
    for (file, text) in [(jobs, JOBS), (user, USER)] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("it lies in the project")).expect("a temporary folder can be written");
        fs::write(path, text).expect("a temporary folder can be written");
    }
    fs::write(folder.path().join("fake.py"), FAKE).expect("a temporary folder can be written");
    let args = ["scout", "Job.run", "--format", "json"].iter().chain(more).map(|&arg| arg.to_owned());
    tainie(&root, &args.collect::<Vec<_>>(), &BTreeMap::new())
}

fn worklist(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("scout prints JSON")
}

/// `LINE CLASS SOURCES-OR-REASON` of each mention in `user.py`.
fn mentions(worklist: &Value) -> Vec<String> {
    let list = |key: &str| worklist[key].as_array().expect("an array").clone();
    let sources: BTreeMap<u64, String> = list("sites")
        .iter()
        .map(|site| {
            let names = site["sources"].as_array().expect("sources").iter().map(|name| name.as_str().expect("a name"));
            (site["line"].as_u64().expect("a line"), names.collect::<Vec<_>>().join("+"))
        })
        .collect();
    let in_user = list("mentions")
        .into_iter()
        .filter(|mention| mention["file"].as_str().is_some_and(|file| file.ends_with("user.py")));
    in_user
        .map(|mention| {
            let line = mention["line"].as_u64().expect("a line");
            let why = sources.get(&line).map_or_else(|| mention["reason"].as_str().unwrap_or("-"), String::as_str);
            format!("{} {} {why}", line + 1, mention["class"].as_str().expect("a class"))
        })
        .collect()
}

fn notes(worklist: &Value) -> Vec<&str> {
    let notes = worklist["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    notes.iter().map(|note| note.as_str().expect("a note")).collect()
}

const ALONE: [&str; 6] = [
    "12 unresolved receiver-type-unknown",
    "24 unresolved receiver-type-unknown",
    "28 site definition+glean+references",
    "29 decoy -",
    "30 unresolved receiver-type-unknown",
    "34 decoy -",
];

fn with_fake(how: &str) -> Value {
    let fake = format!("{PYTHON} ../fake.py {how}");
    let ended = scout(&["--explain", "--second-opinion", &fake, "--second-opinion-timeout", "3"]);
    worklist(&ended)
}

/// A server that fails leaves the list as it is without, and a note with this in it.
#[track_caller]
fn fails(how: &str, note: &str) {
    let worklist = with_fake(how);
    assert_eq!(mentions(&worklist), ALONE);
    let notes = notes(&worklist);
    assert!(notes.len() == 1 && notes[0].contains(note), "{notes:?}");
    assert!(notes[0].starts_with("no second opinion of the other server, and the list is complete without it: "));
    assert!(worklist["asked"]["second-opinion:other"].is_null(), "what failed wasn't asked");
}

#[test]
fn a_server_that_crashes_is_left_out_with_all_that_it_said() {
    fails("crash", "out of cheese");
    fails("rude", "not today");
}

#[test]
fn a_server_that_never_answers_is_left_out() {
    fails("silent", "no answer to textDocument/definition within 3s");
    fails("dumb", "no answer to initialize within 3s");
}

#[test]
fn a_server_that_counts_bytes_is_left_out() {
    fails("bytes", "utf-8");
}

#[test]
fn places_that_do_not_exist_are_no_answers() {
    let worklist = with_fake("nonsense");
    assert_eq!(mentions(&worklist), ALONE);
    assert!(notes(&worklist)[0].contains("is empty"), "{:?}", notes(&worklist));
}

#[test]
fn what_only_the_other_server_sees_is_a_site_and_against_pyrefly_it_is_a_doubt() {
    let worklist = with_fake("symbol");
    assert_eq!(
        mentions(&worklist),
        [
            "12 site second-opinion:other",
            "24 site second-opinion:other",
            "28 site definition+glean+references+second-opinion:other",
            "29 unresolved disagreement",
            "30 site second-opinion:other",
            "34 decoy -",
        ]
    );
    assert_eq!(worklist["asked"]["second-opinion:other"], "all");
}

#[test]
fn an_explanation_tells_the_opinion_and_the_rule() {
    let fake = format!("{PYTHON} ../fake.py symbol");
    let ended = scout(&["--second-opinion", &fake, "--why", "user.py:29"]);
    let mention = &worklist(&ended)["mentions"][0];
    assert_eq!(mention["rule"], "opinion-against-definition");
    assert_eq!(mention["second_opinion"]["server"], "the other server");
    assert_eq!(mention["second_opinion"]["answer"], "symbol");
}

#[test]
fn ty_settles_what_begins_as_none() {
    let ty = ty().display().to_string();
    let ended = scout(&["--explain", "--second-opinion", &ty]);
    let worklist = worklist(&ended);
    assert_eq!(
        mentions(&worklist),
        [
            "12 site second-opinion:ty",
            "24 site second-opinion:ty",
            "28 site definition+glean+references+second-opinion:ty",
            "29 decoy -",
            "30 unresolved receiver-type-unknown",
            "34 decoy -",
        ]
    );
    assert!(notes(&worklist).is_empty(), "{:?}", notes(&worklist));
    for _ in 0..3 {
        let again = scout(&["--explain", "--second-opinion", &ty]);
        assert_eq!(mentions(&self::worklist(&again)), mentions(&worklist), "a fresh server knows as much");
    }
}

#[test]
fn ty_is_told_the_import_roots_that_nobody_declares() {
    let ty = ty().display().to_string();
    let ended = scout_in("lib/jobs.py", "tools/user.py", &["--explain", "--second-opinion", &ty]);
    let found = mentions(&worklist(&ended));
    assert_eq!(found[..2], ["12 site second-opinion:ty", "24 site second-opinion:ty"]);
}

#[expect(clippy::print_stderr, reason = "a test that asked nobody must not look like one that did")]
#[test]
fn basedpyright_settles_it_too_where_it_is_installed() {
    let Some(program) = named_or_on_path("TAINIE_BASEDPYRIGHT", "basedpyright-langserver") else {
        eprintln!("no basedpyright here: its opinion wasn't asked");
        return;
    };
    let ended =
        scout(&["--explain", "--second-opinion", &program.display().to_string(), "--second-opinion-timeout", "200"]);
    let found = mentions(&worklist(&ended));
    assert_eq!(found[0], "12 site second-opinion:basedpyright");
    assert_eq!(found[2], "28 site definition+glean+references+second-opinion:basedpyright");
    let program = program.display().to_string();
    let more = ["--explain", "--second-opinion", &program, "--second-opinion-timeout", "200"];
    let found = mentions(&worklist(&scout_in("lib/jobs.py", "tools/user.py", &more)));
    assert_eq!(found[0], "12 site second-opinion:basedpyright");
}

fn named_or_on_path(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// The real ty.
fn ty() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| named_or_on_path("TAINIE_TY", "ty").unwrap_or_else(install_ty))
}

/// Installs ty into an environment in the build folder. The lock keeps test processes that run at once from doing
/// it twice.
fn install_ty() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ty");
    fs::create_dir_all(&folder).expect("the build folder can be written");
    let lock = File::create(folder.join("install.lock")).expect("the build folder can be written");
    lock.lock().expect("a file of one's own can be locked");
    let environment = folder.join("environment");
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let program = programs.join(format!("ty{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let made = run(Command::new(PYTHON).args(["-m", "venv"]).arg(&environment));
        assert_eq!(made.code, Some(0), "{}{}", made.stdout, made.stderr);
        let python = programs.join(format!("python{}", std::env::consts::EXE_SUFFIX));
        let pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
        let installed = run(Command::new(python).args(pip).arg("ty==0.0.108"));
        assert_eq!(installed.code, Some(0), "{}{}", installed.stdout, installed.stderr);
    }
    program
}
