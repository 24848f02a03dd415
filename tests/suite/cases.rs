//! Runs the program on every folder of `fixtures/cases` and compares what happened with the folder's snapshot.
//!
//! `case.json` says what is run ([`Case`]); `before/` is the project; `outcome.snap` holds exit code, output and
//! the difference of the tree. A run that changed files is checked three more ways: once more changes nothing,
//! undo gives the old bytes back, and nothing but the sites' regions differs.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde::Deserialize;
use serde_json::Value;

use crate::support::{
    Ended, FILTERS, PYTHON, Tree, copy_project, copy_tree, diff_trees, read_tree, run, tainie, temporary_folder,
    without_machine_paths,
};

/// `case.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case shows, in one sentence.
    pub(crate) shows: String,
    /// The project, relative to the case's folder.
    #[serde(default = "before")]
    pub(crate) before: String,
    /// The folder that the program runs in, relative to the project.
    #[serde(default)]
    folder: String,
    /// One run…
    #[serde(default)]
    args: Vec<String>,
    /// …or several things in a row.
    #[serde(default)]
    steps: Vec<Step>,
    /// The exit code of the run, or of each run in order.
    exit: Exit,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The symbol whose sites are the only places that may change. Checked against the run's record.
    sites_only: Option<String>,
    /// How often the last run is made again, to print the same bytes each time.
    #[serde(default)]
    same_again: usize,
    /// Arguments that undo the last run.
    #[serde(default = "undo")]
    undo: Vec<String>,
    /// What the machine must offer; where it doesn't, the case is passed over with a note.
    #[serde(default)]
    needs: Vec<Need>,
    /// What is wrong today, asserted as it is, and the issue that will mend it.
    #[serde(default)]
    #[expect(dead_code, reason = "read by people")]
    known_gap: Option<String>,
    /// The program can't do this yet: the case isn't run, and has no snapshot.
    #[serde(default)]
    pub(crate) pending: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Exit {
    One(i32),
    Each(Vec<i32>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Step {
    /// Runs the program.
    Args(Vec<String>),
    /// Runs it and keeps what it prints in a file of the project.
    Keep { run: Vec<String>, stdout_to: String },
    /// Somebody else writes a file.
    Write { write: String, text: String },
    /// Somebody else appends to a file.
    Append { append: String, text: String },
    /// Nobody may write this file, or below this folder, any more.
    ReadOnly { read_only: String },
    /// Nothing may be made or replaced in this folder any more.
    ClosedFolder { closed_folder: String },
    /// A symbolic link is made.
    Link { link: String, to: String },
    /// A pipe that nobody writes to is made.
    Pipe { pipe: String },
    /// A virtual environment is made in the project, with editable installs of folders of the project.
    Venv { venv: String, editable: Vec<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Need {
    Unix,
    /// An ordinary user: nothing is read-only for root.
    NotRoot,
    /// A build with the model editor.
    Model,
}

fn before() -> String {
    "before".to_owned()
}

fn undo() -> Vec<String> {
    vec!["undo".to_owned()]
}

impl Case {
    /// Reads the `case.json` at this path.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{} can be read: {e}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub(crate) fn steps(&self) -> Vec<StepKind> {
        let one = (!self.args.is_empty()).then(|| Step::Args(self.args.clone()));
        one.into_iter().chain(self.steps.clone()).map(StepKind).collect()
    }

    /// The exit code that each run must end with.
    pub(crate) fn exits(&self) -> Vec<i32> {
        match &self.exit {
            Exit::One(code) => vec![*code],
            Exit::Each(codes) => codes.clone(),
        }
    }
}

/// A step as others may ask about it.
pub(crate) struct StepKind(Step);

impl StepKind {
    /// The arguments, where the step runs the program.
    pub(crate) fn args(&self) -> Option<&[String]> {
        match &self.0 {
            Step::Args(args) | Step::Keep { run: args, .. } => Some(args),
            Step::Write { .. }
            | Step::Append { .. }
            | Step::ReadOnly { .. }
            | Step::ClosedFolder { .. }
            | Step::Link { .. }
            | Step::Pipe { .. }
            | Step::Venv { .. } => None,
        }
    }
}

/// One case in its copy of the project.
struct Stage<'a> {
    case: &'a Case,
    root: PathBuf,
}

impl Stage<'_> {
    fn folder(&self) -> PathBuf {
        self.root.join(&self.case.folder)
    }

    fn tainie(&self, args: &[String]) -> Ended {
        tainie(&self.folder(), args, &self.case.env)
    }

    /// Takes one step and says what happened; a run also gives its exit code.
    fn take(&self, step: &Step) -> (String, Option<i32>) {
        let root = &self.root;
        match step {
            Step::Args(args) => self.ran(args, None),
            Step::Keep { run, stdout_to } => self.ran(run, Some(stdout_to)),
            Step::Write { write, text } => {
                let path = root.join(write);
                fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a copy can be written");
                fs::write(path, text).expect("a copy can be written");
                (format!("# somebody else writes {write}\n"), None)
            }
            Step::Append { append, text } => {
                let mut bytes = fs::read(root.join(append)).expect("the file to append to is there");
                bytes.extend_from_slice(text.as_bytes());
                fs::write(root.join(append), bytes).expect("a copy can be written");
                (format!("# somebody else appends to {append}\n"), None)
            }
            Step::ReadOnly { read_only } => {
                make_read_only(&root.join(read_only));
                (format!("# {read_only} becomes read-only\n"), None)
            }
            Step::ClosedFolder { closed_folder } => {
                close_folder(&root.join(closed_folder));
                (format!("# nothing may be replaced in {closed_folder} any more\n"), None)
            }
            Step::Link { link, to } => {
                crate::support::link(Path::new(to), &root.join(link));
                (format!("# {link} becomes a link to {to}\n"), None)
            }
            Step::Pipe { pipe } => {
                let made = run(Command::new("mkfifo").arg(root.join(pipe)));
                assert_eq!(made.code, Some(0), "a pipe can be made: {}", made.stderr);
                (format!("# {pipe} becomes a pipe\n"), None)
            }
            Step::Venv { venv, editable } => {
                make_venv(root, venv, editable);
                (format!("# {venv} is made, with editable installs of {}\n", editable.join(" and ")), None)
            }
        }
    }

    fn ran(&self, args: &[String], stdout_to: Option<&String>) -> (String, Option<i32>) {
        let before = read_tree(&self.root);
        let mut ended = self.tainie(args);
        let mut command = format!("$ tainie {}", args.join(" "));
        let difference = diff_trees(&before, &read_tree(&self.root));
        if let Some(file) = stdout_to {
            fs::write(self.root.join(file), std::mem::take(&mut ended.stdout)).expect("a copy can be written");
            command = format!("{command} > {file}");
        }
        let code = ended.code.map_or("by a signal".to_owned(), |code| code.to_string());
        let text = format!(
            "{command}\nexit: {code}\n--- stdout\n{}--- stderr\n{}--- tree\n{difference}",
            whole_lines(&ended.stdout),
            whole_lines(&ended.stderr)
        );
        (without_machine_paths(&text, &self.root), ended.code)
    }

    /// A run that changed files is checked three more ways.
    fn checks_changes(&self, args: &[String], before: &Tree) {
        let after = read_tree(&self.root);
        if *before == after {
            return;
        }
        if let Some(symbol) = &self.case.sites_only {
            self.changes_sites_only(symbol, before, &after);
        }
        if args.first().is_none_or(|command| command != "undo") {
            self.runs_again_without_change(args, &after);
            self.undoes(before);
        }
    }

    /// The same run prints the same bytes.
    fn prints_the_same_again(&self, args: &[String]) {
        if self.case.same_again == 0 {
            return;
        }
        let first = self.tainie(args).stdout;
        for time in 0..self.case.same_again {
            assert_eq!(self.tainie(args).stdout, first, "run {time} of tainie {args:?} prints something else");
        }
    }

    /// A second run finds nothing to do. `changed` is the tree as the first run left it.
    fn runs_again_without_change(&self, args: &[String], changed: &Tree) {
        let copy = temporary_folder();
        let again = Stage { case: self.case, root: copy.path().join("project") };
        copy_tree(&self.root, &again.root);
        again.makes_venvs();
        again.tainie(args);
        assert_eq!(diff_trees(changed, &read_tree(&again.root)), "unchanged\n", "a second run changes something");
    }

    /// Virtual environments name absolute paths, so a copy of the project gets its own.
    fn makes_venvs(&self) {
        for StepKind(step) in self.case.steps() {
            if let Step::Venv { venv, editable } = step {
                make_venv(&self.root, &venv, &editable);
            }
        }
    }

    /// Undo gives the old bytes back.
    fn undoes(&self, before: &Tree) {
        let ended = self.tainie(&self.case.undo);
        assert_eq!(ended.code, Some(0), "undo ends well:\n{}{}", ended.stdout, ended.stderr);
        assert_eq!(diff_trees(before, &read_tree(&self.root)), "unchanged\n", "undo doesn't give the old tree back");
        assert!(*before == read_tree(&self.root), "undo gives the old bytes back");
    }

    /// Nothing changed but the regions of the run's sites, as the journal has them; each must be one of `symbol`.
    fn changes_sites_only(&self, symbol: &str, before: &Tree, after: &Tree) {
        let show = self.case.undo.iter().skip(1).cloned();
        let show: Vec<String> = ["show", "--format", "json"].map(str::to_owned).into_iter().chain(show).collect();
        let shown = self.tainie(&show);
        let report: Value = serde_json::from_str(&shown.stdout)
            .unwrap_or_else(|e| panic!("show prints a report: {e}\n{}{}", shown.stdout, shown.stderr));
        let of = report["symbol"].as_str().expect("a report names its symbol");
        assert!(of == symbol || of.ends_with(&format!(".{symbol}")), "the run is about {of}");
        let name = report["workspace"].as_str().expect("a report names its workspace");
        // The name alone: of a fixture's `work/`, or of the folder itself.
        let inside = self.folder().join(name);
        let workspace = if inside.is_dir() { inside } else { self.folder() };
        assert!(workspace.ends_with(name), "the report's workspace is {name}");
        let mut regions = regions(&report);
        for (path, bytes) in before {
            let file = self.root.join(path);
            let inside = file.strip_prefix(&workspace).ok().and_then(Path::to_str).map(|path| path.replace('\\', "/"));
            let regions = inside.and_then(|path| regions.remove(&path)).unwrap_or_default();
            let new = after.get(path).unwrap_or_else(|| panic!("{path} is gone"));
            assert!(same_outside(bytes, new, &regions), "{path} differs outside its sites");
        }
        assert!(regions.is_empty(), "sites in files that aren't there: {regions:?}");
        assert!(after.keys().eq(before.keys()), "files were added");
    }
}

fn whole_lines(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The regions of a report's sites, by file.
fn regions(report: &Value) -> BTreeMap<String, Vec<(usize, usize)>> {
    let mut regions: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for site in report["sites"].as_array().expect("a report has sites") {
        let file = site["file"].as_str().expect("a site has a file").to_owned();
        let offset = |end: &str| {
            let offset = site["region"][end].as_u64().expect("a region has two ends");
            usize::try_from(offset).expect("an offset of a small file")
        };
        regions.entry(file).or_default().push((offset("start"), offset("end")));
    }
    regions
}

/// Whether `new` is `old` with other text in some of the regions.
fn same_outside(old: &[u8], new: &[u8], regions: &[(usize, usize)]) -> bool {
    let mut regions = regions.to_vec();
    regions.sort_unstable();
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut end = 0;
    for (start, stop) in regions {
        // A region inside the one before adds nothing to keep.
        if start >= end {
            kept.push(&old[end..start]);
        }
        end = end.max(stop);
    }
    let last = &old[end..];
    let Some((first, between)) = kept.split_first() else { return old == new };
    let Some(mut rest) = new.strip_prefix(*first) else { return false };
    for piece in between {
        let Some(at) = (0..=rest.len().saturating_sub(piece.len())).find(|&at| rest[at..].starts_with(piece)) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A real virtual environment without any package, as pyrefly asks its interpreter, and a `.pth` file for each
/// editable install.
fn make_venv(root: &Path, venv: &str, editable: &[String]) {
    let folder = root.join(venv);
    let made = run(Command::new(PYTHON).args(["-m", "venv", "--without-pip"]).arg(&folder));
    assert_eq!(made.code, Some(0), "a virtual environment can be made: {}", made.stderr);
    let library = if cfg!(windows) {
        folder.join("Lib")
    } else {
        let mut versions = fs::read_dir(folder.join("lib")).expect("a virtual environment has a lib");
        versions.next().expect("lib holds a folder for the version").expect("it can be read").path()
    };
    for (number, target) in editable.iter().enumerate() {
        let file = library.join("site-packages").join(format!("_editable_{number}.pth"));
        let target = root.join(target).canonicalize().expect("the folder that is installed is there");
        fs::write(file, format!("{}\n", target.display())).expect("a virtual environment can be written");
    }
}

#[cfg(unix)]
fn make_read_only(root: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    if root.is_file() {
        return fs::set_permissions(root, fs::Permissions::from_mode(0o444)).expect("a file of one's own");
    }
    for path in crate::support::files_below(root) {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o444)).expect("a file of one's own");
    }
    close_folder(root);
}

#[cfg(unix)]
fn close_folder(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).expect("a folder of one's own");
}

#[cfg(not(unix))]
fn close_folder(_folder: &Path) {
    panic!("a case with a read-only folder needs unix");
}

#[cfg(not(unix))]
fn make_read_only(_root: &Path) {
    panic!("a case with a read-only folder needs unix");
}

/// Why the case can't run here.
fn missing(case: &Case) -> Option<&'static str> {
    let probe = temporary_folder();
    case.needs.iter().find_map(|need| match need {
        Need::Unix => (!cfg!(unix)).then_some("it needs unix"),
        Need::Model => (!cfg!(feature = "openai")).then_some("it needs the feature `openai`"),
        Need::NotRoot => {
            make_read_only(probe.path());
            fs::write(probe.path().join("probe"), "").is_ok().then_some("nothing is read-only for root")
        }
    })
}

#[expect(clippy::print_stderr, reason = "a case that isn't run must not look like one that passed")]
fn pass_over(folder: &Path, why: &str) {
    eprintln!("note: case {} was not run: {why}", folder.file_name().unwrap_or_default().display());
}

/// What a case did.
struct Outcome {
    /// The text that the snapshot holds.
    told: String,
    /// The first of the further checks that failed.
    complaint: Option<String>,
}

/// Runs one case; `None` when it can't run here.
fn run_case(path: &Path) -> Option<Outcome> {
    let folder = path.parent().expect("a case.json lies in a folder");
    let case = Case::read(path);
    let why = if case.pending { Some("the program can't do this yet") } else { missing(&case) };
    if let Some(why) = why {
        pass_over(folder, why);
        return None;
    }
    let copy = temporary_folder();
    let stage = Stage { case: &case, root: copy.path().join("project") };
    copy_project(&folder.join(&case.before), &stage.root);

    let mut told = String::new();
    let mut codes = Vec::new();
    let mut last = None;
    for StepKind(step) in case.steps() {
        let before = read_tree(&stage.root);
        let (text, code) = stage.take(&step);
        told.push_str(&text);
        codes.extend(code);
        last = StepKind(step).args().map(|args| (args.to_vec(), before));
    }
    let complaint = complaint(|| {
        assert_eq!(codes, case.exits(), "the exit codes");
        if let Some((args, before)) = &last {
            stage.prints_the_same_again(args);
            stage.checks_changes(args, before);
        }
    });
    Some(Outcome { told, complaint })
}

/// What a check says when it fails.
fn complaint(check: impl FnOnce()) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(check)).err()?;
    let text =
        payload.downcast_ref::<String>().cloned().or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    Some(text.unwrap_or_else(|| "a panic without a text".to_owned()))
}

/// Runs the cases on as many threads as there are processors, since they mostly wait for the type checker.
fn run_all(paths: Vec<PathBuf>) -> BTreeMap<PathBuf, Option<Outcome>> {
    let queue = Mutex::new(paths.into_iter());
    let outcomes = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(path) = next_of(&queue) {
                    let mut outcome = None;
                    let broken = complaint(|| outcome = run_case(&path));
                    let outcome = broken.map(|text| Outcome { told: String::new(), complaint: Some(text) }).or(outcome);
                    outcomes.lock().expect("no thread panics").insert(path, outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no thread panics")
}

fn next_of(queue: &Mutex<impl Iterator<Item = PathBuf>>) -> Option<PathBuf> {
    queue.lock().expect("no thread panics").next()
}

/// How the snapshot of a case is kept: in the case's folder, under one name, without anything of this machine.
fn snapshot_settings(path: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path.parent().expect("a case.json lies in a folder"));
    settings.set_prepend_module_to_snapshot(false);
    settings.remove_snapshot_suffix();
    settings.remove_input_file();
    settings.set_omit_expression(true);
    settings.set_description(Case::read(path).shows);
    settings.set_filters(FILTERS.to_vec());
    settings
}

#[test]
fn every_case_ends_as_its_snapshot_says() {
    let mut paths = Vec::new();
    insta::glob!("../../fixtures/cases", "*/case.json", |path| paths.push(path.to_path_buf()));
    let outcomes = run_all(paths);
    let mut complaints = Vec::new();
    insta::glob!("../../fixtures/cases", "*/case.json", |path| {
        let Some(outcome) = &outcomes[path] else { return };
        if let Some(text) = &outcome.complaint {
            complaints.push(format!("{}: {text}", path.display()));
        }
        if !outcome.told.is_empty() {
            snapshot_settings(path).bind(|| insta::assert_snapshot!("outcome", outcome.told));
        }
    });
    assert!(complaints.is_empty(), "{} cases failed a check:\n{}", complaints.len(), complaints.join("\n"));
}

mod helpers {
    use super::same_outside;

    #[test]
    fn only_regions_may_differ() {
        let check = |new: &str| same_outside(b"a f(1) b f(2) c", new.as_bytes(), &[(9, 13), (2, 6), (4, 5)]);
        assert!(check("a f(1) b f(2) c"));
        assert!(check("a f(1, x=1) b  c"));
        assert!(!check("a f(1) B f(2) c"));
        assert!(!check("A f(1) b f(2) c"));
        assert!(!check("a f(1) b f(2) c\n"));
        assert!(same_outside(b"abc", b"abc", &[]) && !same_outside(b"abc", b"abd", &[]));
    }
}
