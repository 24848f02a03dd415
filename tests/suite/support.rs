//! What the other files of the suite share: trees of files, the program under test, and its type checker.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use similar::TextDiff;

/// Nothing that the suite starts may take longer than this.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// Paths relative to the root, `/`-separated, with the bytes of each file.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// A path of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files below a folder, `/`-separated and sorted. Symbolic links are among them, whatever they lead to; pipes
/// aren't.
pub(crate) fn files_below(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{} can be listed: {e}", folder.display())) {
            let path = entry.expect("an entry of a folder can be read").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.is_file() || path.is_symlink() {
                let relative = path.strip_prefix(root).expect("what was found in a folder lies below it");
                files.push(relative.to_str().expect("fixtures have UTF-8 names").replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}

/// A virtual environment that a case makes: absolute paths, links and programs, none of them to be compared.
const VENV: &str = ".venv";

/// Every file below the root, apart from tainie's own `.tainie` and a virtual environment.
pub(crate) fn read_tree(root: &Path) -> Tree {
    files_below(root)
        .into_iter()
        .filter(|path| !path.split('/').any(|segment| segment == ".tainie" || segment == VENV))
        .map(|path| {
            let bytes = read(&root.join(&path)).unwrap_or_else(|e| panic!("{path} can be read: {e}"));
            (path, bytes)
        })
        .collect()
}

/// What a file holds, or where a link leads.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.is_symlink() {
        return fs::read_link(path).map(|target| format!("-> {}", target.display()).into_bytes());
    }
    fs::read(path)
}

/// Makes a symbolic link.
#[cfg(unix)]
pub(crate) fn link(target: &Path, at: &Path) {
    std::os::unix::fs::symlink(target, at).expect("a link in the temporary folder can be made");
}

#[cfg(not(unix))]
pub(crate) fn link(_target: &Path, _at: &Path) {
    panic!("a case with links needs unix");
}

/// Copies a project without what earlier runs of tainie and of Python left in it.
pub(crate) fn copy_project(from: &Path, to: &Path) {
    let left_over =
        |path: &str| path.split('/').any(|name| [".tainie", "__pycache__", ".pytest_cache"].contains(&name));
    copy_files(from, to, files_below(from).into_iter().filter(|path| !left_over(path)));
}

/// Copies a folder, hidden files included, but no virtual environment.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    copy_files(from, to, files_below(from).into_iter().filter(|path| !path.split('/').any(|name| name == VENV)));
}

fn copy_files(from: &Path, to: &Path, paths: impl IntoIterator<Item = String>) {
    fs::create_dir_all(to).expect("a folder in the temporary folder can be made");
    for path in paths {
        let target = to.join(&path);
        fs::create_dir_all(target.parent().expect("a file has a folder")).expect("a folder in a copy can be made");
        match fs::read_link(from.join(&path)) {
            Ok(to) => link(&to, &target),
            Err(_) => drop(fs::copy(from.join(&path), &target).unwrap_or_else(|e| panic!("{path} can be copied: {e}"))),
        }
    }
}

/// How two trees differ, as people read it; `unchanged` when they don't.
pub(crate) fn diff_trees(before: &Tree, after: &Tree) -> String {
    let mut out = String::new();
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let (old, new) = (before.get(path), after.get(path));
        if old != new {
            out.push_str(&diff_file(path, old, new));
        }
    }
    if out.is_empty() { "unchanged\n".to_owned() } else { out }
}

fn diff_file(path: &str, old: Option<&Vec<u8>>, new: Option<&Vec<u8>>) -> String {
    let text =
        |bytes: Option<&Vec<u8>>| bytes.map_or(Some(String::new()), |bytes| String::from_utf8(bytes.clone()).ok());
    let head = |side: &str, bytes: Option<&Vec<u8>>| bytes.map_or("/dev/null".to_owned(), |_| format!("{side} {path}"));
    match (text(old), text(new)) {
        (Some(before), Some(after)) => TextDiff::from_lines(&before, &after)
            .unified_diff()
            .context_radius(1)
            .header(&head("before", old), &head("after", new))
            .to_string(),
        _ => format!("{path}: the bytes differ, and aren't text\n"),
    }
}

/// How a program ended.
pub(crate) struct Ended {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program to its end, with a time limit, and keeps what it said.
pub(crate) fn run(command: &mut Command) -> Ended {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{} starts: {e}", command.get_program().display()));
    let stdout = drain(child.stdout.take().expect("stdout is a pipe"));
    let stderr = drain(child.stderr.take().expect("stderr is a pipe"));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill().expect("a child can be killed");
            child.wait().expect("a killed child ends");
            panic!("{command:?} took longer than {} seconds and was killed", TIME_LIMIT.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8(reader.join().expect("a reader doesn't panic")).expect("the program prints UTF-8")
    };
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

fn drain(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read to its end");
        bytes
    })
}

/// The program under test, in `folder`, with an environment that holds nothing but what it is given here.
pub(crate) fn tainie(folder: &Path, args: &[String], env: &BTreeMap<String, String>) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tainie"));
    command.args(args).current_dir(folder).env_clear().envs(kept_environment());
    command.env("HOME", home()).env("TAINIE_PYREFLY", pyrefly()).envs(env);
    run(&mut command)
}

/// What no program can do without.
fn kept_environment() -> Vec<(&'static str, OsString)> {
    let names: &[&str] =
        if cfg!(windows) { &["PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"] } else { &["TMPDIR"] };
    let kept = names.iter().filter_map(|&name| Some((name, std::env::var_os(name)?)));
    kept.chain(std::iter::once(("PATH", path_with_python().clone()))).collect()
}

/// `PATH`, with the interpreter itself first. The type checker asks it at every start, and where `python3` is a
/// script that looks for a version first (as pyenv's is), the whole suite takes half as long again.
fn path_with_python() -> &'static OsString {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let Some(python) = interpreter() else { return path };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
        fs::create_dir_all(&folder).expect("the build folder can be written");
        stand_in(&python, &folder.join(PYTHON));
        std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap_or(path)
    })
}

/// The interpreter behind `python3`; none where it is one of a virtual environment, which has to be started there.
fn interpreter() -> Option<PathBuf> {
    let ask = "import sys; print(sys.executable if sys.prefix == sys.base_prefix else '')";
    let answer = Command::new(PYTHON).args(["-c", ask]).output().ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    path.is_file().then_some(path)
}

#[cfg(unix)]
fn stand_in(program: &Path, at: &Path) {
    if fs::read_link(at).is_ok_and(|target| target == program) {
        return;
    }
    // Another test process may do the same at the same time; the link is in place whoever was quicker.
    let new = at.with_extension(std::process::id().to_string());
    std::os::unix::fs::symlink(program, &new).expect("the build folder can be written");
    fs::rename(&new, at).expect("the build folder can be written");
}

/// Where links take a privilege, the programs are started as they are.
#[cfg(not(unix))]
fn stand_in(_program: &Path, _at: &Path) {}

/// A home folder of the suite's own, so that neither the user's settings nor the user's caches are seen.
fn home() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
    fs::create_dir_all(&home).expect("the build folder can be written");
    home
}

/// The type checker: `TAINIE_PYREFLY`, or what `tainie setup` installs into a cache in the build folder, once.
pub(crate) fn pyrefly() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| match std::env::var_os("TAINIE_PYREFLY") {
        Some(path) if !path.is_empty() => path.into(),
        _ => provision(),
    })
}

/// Lets `tainie setup` install pyrefly. The lock keeps test processes that run at once from installing twice.
fn provision() -> PathBuf {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    fs::create_dir_all(&cache).expect("the build folder can be written");
    let lock = File::create(cache.join("setup.lock")).expect("the build folder can be written");
    lock.lock().expect("a file of one's own can be locked");
    let setup = run(Command::new(env!("CARGO_BIN_EXE_tainie")).arg("setup").env("XDG_CACHE_HOME", &cache));
    // Where the operating system has its own idea of a cache folder, the program says what it installed; and
    // where the machine has a pyrefly already, there may have been nothing to install.
    installed_below(&cache).or_else(|| named_in(&setup.stdout)).or_else(on_path).unwrap_or_else(|| {
        panic!(
            "no pyrefly: `tainie setup` ended with {:?} and left none in {}\n{}{}",
            setup.code,
            cache.display(),
            setup.stdout,
            setup.stderr
        )
    })
}

const PYREFLY: &str = if cfg!(windows) { "pyrefly.exe" } else { "pyrefly" };

/// A program in a folder of its version, such as `tainie/pyrefly-1.5.0/bin/pyrefly`.
fn installed_below(cache: &Path) -> Option<PathBuf> {
    let installed = |path: &String| {
        path.split('/').any(|name| name.starts_with("pyrefly-")) && path.rsplit('/').next() == Some(PYREFLY)
    };
    files_below(cache).into_iter().rfind(installed).map(|path| cache.join(path))
}

fn named_in(text: &str) -> Option<PathBuf> {
    text.split_whitespace().rev().map(PathBuf::from).find(|path| path.ends_with(PYREFLY) && path.is_file())
}

fn on_path() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(PYREFLY)).find(|path| path.is_file())
}

/// The Python that oracles run under.
pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// A folder whose name doesn't begin with a dot: pyrefly skips what lies below a hidden folder.
pub(crate) fn temporary_folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("tainie-suite-").tempdir().expect("the temporary folder can be written")
}

/// What differs from run to run or from machine to machine, and what stands for it in a snapshot.
pub(crate) const FILTERS: &[(&str, &str)] = &[
    // An oracle runs under pytest where there is one.
    (r"pytest -q -p no:cacheprovider '", "python3 '"),
    (r"\b\d+(\.\d+)? ?(ms|µs|s|seconds?)\b", "[time]"),
    (r"(?m)^(seconds +)\d+(\.\d+)?$", "$1[time]"),
    (r#"("(?:seconds|discovery|editor|gate|apply)": )\d+(\.\d+)?"#, "$1[time]"),
    // How deep the temporary folder lies is the machine's business.
    (r"(looked in \[FOLDER\][^\n]*?), \[ABOVE\][^\n]*", "$1, [the folders above]"),
    (r"tainie-shadow-\d+-\d+", "[shadow]"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "[when]"),
    (r#"\b(tainie|pyrefly)("?:? ?"?)\d+\.\d+\.\d+(-[\w.]+)?"#, "$1$2[version]"),
];

/// Paths of this machine, as they may be printed, and what stands for each.
pub(crate) fn without_machine_paths(text: &str, folder: &Path) -> String {
    let canonical = folder.canonicalize().expect("the copy of the project is there");
    let (home, temporary) = (home(), std::env::temp_dir());
    let above = canonical.parent().expect("the copy lies in a folder of its own");
    let mut names = [
        (pyrefly(), "[PYREFLY]"),
        (canonical.as_path(), "[FOLDER]"),
        (folder, "[FOLDER]"),
        (above, "[ABOVE]"),
        (temporary.as_path(), "[TMP]"),
        (home.as_path(), "[HOME]"),
    ];
    // The longest first: one may begin with another.
    names.sort_by_key(|(path, _)| std::cmp::Reverse(path.as_os_str().len()));
    names.iter().fold(text.replace("\\\\?\\", ""), |text, (path, name)| text.replace(&path.display().to_string(), name))
}
