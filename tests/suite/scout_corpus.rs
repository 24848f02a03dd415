//! Scouts the small workspaces of `fixtures/scout`, whose true references are known, and holds the worklist
//! against them.
//!
//! A case is a folder: `ws/` and `expected.json`. Every true reference has to be a site or an import, unless the
//! case names a known gap, with which it may be unresolved; no case may lose one without a word, claim a site that
//! isn't one, or leave a word of the name out of the census.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use serde::Deserialize;

use crate::support::{Ended, repository, tainie, temporary_folder};

/// How many cases run side by side.
const THREADS: usize = 2;

/// `expected.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Where the symbol is asked for.
    definition: Token,
    reference: Vec<Token>,
    /// True at run time only: accounted for, never lost.
    dynamic: Vec<Token>,
    /// Neither asked for nor wrong: other declarations, bindings of an alias.
    related: Vec<Token>,
    /// Why references stay unresolved.
    known_gap: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    file: String,
    start: usize,
    end: usize,
    text: String,
}

/// What is read of a worklist.
#[derive(Debug, Deserialize)]
struct Worklist {
    sites: Vec<Listed>,
    mentions: Vec<Listed>,
    unresolvable: Vec<Listed>,
    accounting: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    file: Option<String>,
    span: Option<Span>,
    class: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Span {
    start: usize,
    end: usize,
}

type Place = (String, usize, usize);

impl Token {
    fn place(&self) -> Place {
        (self.file.clone(), self.start, self.end)
    }
}

impl Listed {
    fn place(&self) -> Option<Place> {
        let span = self.span?;
        Some((self.file.clone()?, span.start, span.end))
    }
}

impl Worklist {
    fn of_class(&self, class: &str) -> BTreeSet<Place> {
        self.mentions.iter().filter(|m| m.class.as_deref() == Some(class)).filter_map(Listed::place).collect()
    }

    /// Files that are listed as a whole.
    fn whole_files(&self) -> BTreeSet<&str> {
        self.unresolvable.iter().filter(|u| u.span.is_none()).filter_map(|u| u.file.as_deref()).collect()
    }
}

#[test]
fn every_reference_of_the_corpus_is_accounted_for() {
    let folder = repository("fixtures/scout");
    let entries = fs::read_dir(&folder).expect("fixtures/scout can be listed");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry of a folder can be read"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("fixtures have UTF-8 names"))
        .collect();
    names.sort();
    let left = Mutex::new(names.into_iter());
    let complaints = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no case panics while it holds the lock").next();
                    let Some(name) = next else { return };
                    let found = check(&folder.join(&name));
                    if !found.is_empty() {
                        complaints.lock().expect("no case panics while it holds the lock").insert(name, found);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no case panicked");
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// What is wrong with the worklist of a case.
fn check(case: &Path) -> Vec<String> {
    let text = fs::read_to_string(case.join("expected.json")).expect("a case says what is expected");
    let expected: Expected = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
    let temporary = temporary_folder();
    let workspace = temporary.path().join("ws");
    copy_with_links(&case.join("ws"), &workspace);
    let ended = scout(&workspace, &expected.definition);
    match serde_json::from_str(&ended.stdout) {
        Ok(worklist) => score(&workspace, &expected, &worklist),
        Err(_) => vec![format!("exit {:?}, and no worklist: {}", ended.code, ended.stderr)],
    }
}

fn scout(workspace: &Path, definition: &Token) -> Ended {
    let bytes = fs::read(workspace.join(&definition.file)).expect("the definition's file is there");
    let before = bytes.get(..definition.start).expect("the definition lies in its file");
    let before = before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(before);
    let before = String::from_utf8(before.to_vec()).expect("a definition stands in a UTF-8 file");
    let lines = before.replace("\r\n", "\n").replace('\r', "\n");
    let line = lines.matches('\n').count() + 1;
    let column = lines.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let place = format!("{}:{line}:{column}", definition.file);
    let args = ["scout", &place, ".", "--format", "json", "--explain"].map(str::to_owned);
    tainie(workspace, &args, &BTreeMap::new())
}

fn score(workspace: &Path, expected: &Expected, worklist: &Worklist) -> Vec<String> {
    let mut complaints = Vec::new();
    let sites: BTreeSet<Place> = worklist.sites.iter().filter_map(Listed::place).collect();
    let (imports, unresolved) = (worklist.of_class("import"), worklist.of_class("unresolved"));
    let whole_files = worklist.whole_files();
    let mut gaps = 0;
    for token in &expected.reference {
        let place = token.place();
        let is_import = || imports.contains(&place) && in_import(workspace, token);
        let listed = || {
            let entries = worklist.unresolvable.iter().filter_map(Listed::place).collect::<BTreeSet<_>>();
            unresolved.contains(&place) || entries.contains(&place) || whole_files.contains(token.file.as_str())
        };
        match () {
            () if sites.contains(&place) || is_import() => {}
            () if listed() && expected.known_gap.is_some() => gaps += 1,
            () if listed() => complaints.push(format!("unresolved: {token:?}")),
            () => complaints.push(format!("lost without a word: {token:?}")),
        }
    }
    if expected.known_gap.is_some() && gaps == 0 {
        complaints.push("the known gap is none any more".to_owned());
    }
    let places = worklist.mentions.iter().chain(&worklist.unresolvable).filter_map(Listed::place);
    let all: BTreeSet<Place> = places.collect();
    let covers = |place: &Place| all.iter().any(|known| known.0 == place.0 && known.1 <= place.1 && place.2 <= known.2);
    for token in expected.dynamic.iter().filter(|token| !whole_files.contains(token.file.as_str())) {
        if !covers(&token.place()) {
            complaints.push(format!("what is true at run time was lost: {token:?}"));
        }
    }
    let fine: BTreeSet<Place> =
        [&expected.reference, &expected.dynamic, &expected.related].into_iter().flatten().map(Token::place).collect();
    complaints.extend(sites.difference(&fine).map(|place| format!("a wrong site: {place:?}")));
    complaints.extend(left_out(workspace, &expected.definition.text, worklist));
    complaints.extend(miscounted(worklist));
    complaints
}

/// Whether a token stands in an import statement.
fn in_import(workspace: &Path, token: &Token) -> bool {
    let bytes = fs::read(workspace.join(&token.file)).expect("a file of a case can be read");
    let before = String::from_utf8_lossy(bytes.get(..token.start).unwrap_or_default()).into_owned();
    let open = before.rfind('(').filter(|&at| before.get(at..).is_some_and(|tail| !tail.contains(')')));
    let head = open.and_then(|at| before.get(..at)).unwrap_or(&before);
    let line = head.rsplit(['\n', '\r']).next().unwrap_or_default();
    let mut parts = line.trim_start_matches(['\u{feff}', ' ', '"']).split([';', ':']).map(str::trim_start);
    parts.any(|part| part.starts_with("from ") || part.starts_with("import "))
}

/// Whole words of the name in Python files that nothing in the worklist covers.
fn left_out(workspace: &Path, name: &str, worklist: &Worklist) -> Vec<String> {
    let whole_files = worklist.whole_files();
    let mentions: BTreeSet<Place> = worklist.mentions.iter().filter_map(Listed::place).collect();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|&b| b == b'_' || b.is_ascii_alphanumeric() || b >= 0x80);
    let mut found = Vec::new();
    for file in crate::support::files_below(workspace) {
        let is_python = [".py", ".pyi"].iter().any(|ending| file.ends_with(ending));
        if !is_python || whole_files.contains(file.as_str()) {
            continue;
        }
        let bytes = fs::read(workspace.join(&file)).expect("a file of a case can be read");
        for (start, window) in bytes.windows(name.len()).enumerate() {
            let before = start.checked_sub(1).and_then(|at| bytes.get(at));
            if window != name.as_bytes() || is_word(before) || is_word(bytes.get(start + name.len())) {
                continue;
            }
            let end = start + name.len();
            if !mentions.iter().any(|m| m.0 == file && m.1 <= start && end <= m.2) {
                found.push(format!("left out of the census: {file}:{start}"));
            }
        }
    }
    found
}

fn miscounted(worklist: &Worklist) -> Option<String> {
    let total = worklist.accounting.get("mentions").copied().unwrap_or_default();
    let sum: usize = worklist.accounting.iter().filter(|(class, _)| *class != "mentions").map(|(_, n)| n).sum();
    let sites = worklist.of_class("site").len();
    let adds_up = total == sum && total == worklist.mentions.len() && sites == worklist.sites.len();
    (!adds_up).then(|| format!("the classes don't add up: {:?}", worklist.accounting))
}

/// Copies a folder with its symbolic links as links.
fn copy_with_links(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder in the temporary folder can be made");
    for entry in fs::read_dir(from).expect("a case can be listed") {
        let path = entry.expect("an entry of a folder can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_symlink() {
            link(&fs::read_link(&path).expect("a link can be read"), &target);
        } else if path.is_dir() {
            copy_with_links(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file of a case can be copied");
        }
    }
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("a link can be made in the temporary folder");
}

#[cfg(not(unix))]
fn link(_to: &Path, _at: &Path) {}
