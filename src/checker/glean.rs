//! Every use of every name in given files, from `pyrefly check --report-glean`.
//!
//! The report is one JSON file per module. Each is read, reduced to the two tables that are needed and let go
//! before the next one is opened. Not read at all: `src.FileLines` (its lengths are wrong in files with CRLF),
//! declarations, and calls (the parser of `python` knows those better).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::obstacles::pattern;
use super::{CheckerError, Pyrefly, Scratch};
use crate::text::ByteSpan;

/// What pyrefly read of a file. A size of 0 for a file that isn't empty means that it couldn't decode it, another
/// size than the file's means a notebook or a stale answer: then no span of this file means anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDigest {
    pub(crate) size: u64,
    /// BLAKE3 of the bytes, in hexadecimal.
    pub(crate) hash: String,
}

/// What a name refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UseTarget {
    /// A fully qualified name and the file that defines it. Such names are partly made up: a local alias is listed
    /// under its own name too, and an inherited member under the class that was asked.
    Local { file: String, name: String },
    /// A module or member that pyrefly couldn't find.
    External(String),
}

/// All uses of one target in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TargetUse {
    pub(crate) target: UseTarget,
    pub(crate) file: String,
    /// Of the names, in bytes of the file, ascending.
    pub(crate) spans: Vec<ByteSpan>,
}

/// The facts of one run. File names are relative to the folder of the run, or absolute outside of it;
/// symbolic links are resolved. Note that pyrefly doesn't look at scopes: a parameter that shadows an imported name
/// is listed as a use of the import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GleanFacts {
    pub(crate) digests: BTreeMap<String, FileDigest>,
    /// Sorted by target and file.
    pub(crate) uses: Vec<TargetUse>,
}

impl Pyrefly {
    /// Asks for the uses in `files` of whatever `wanted` picks; nothing else is kept, so that memory grows with what
    /// was asked for and not with the report. Import roots come first in the order given; those that aren't there
    /// are left out, since pyrefly would refuse them. `threads` 0 lets pyrefly choose.
    pub(crate) async fn glean(
        &self,
        cwd: &Path,
        files: &[PathBuf],
        search_path: &[PathBuf],
        threads: usize,
        wanted: impl Fn(&UseTarget) -> bool,
    ) -> Result<GleanFacts, CheckerError> {
        let cwd = cwd.canonicalize().map_err(CheckerError::io(cwd))?;
        let scratch = Scratch::new("tainie-glean")?;
        let report = scratch.path().join("report");
        let mut arguments: Vec<OsString> =
            ["check", "--output-format", "omit-errors", "--summary=none"].map(Into::into).into();
        arguments.extend(["-p", "default", "--report-glean"].map(Into::into));
        arguments.push(report.clone().into());
        arguments.extend(["--threads".into(), threads.to_string().into()]);
        for root in search_path.iter().filter(|root| cwd.join(root).is_dir()) {
            arguments.extend(["--search-path".into(), root.into()]);
        }
        arguments.push("--".into());
        // A name is a pattern here; and one that starts with `@` would be read as a list of arguments.
        arguments.extend(files.iter().map(|file| pattern(&cwd.join(file)).into()));
        let answer = self.ask(&arguments, &cwd).await?;
        if !report.is_dir() {
            return Err(CheckerError::NoAnswer { stderr: answer.last_lines(), command: answer.command });
        }
        read_report(&report, &answer.command, &wanted)
    }
}

fn read_report(report: &Path, command: &str, wanted: &dyn Fn(&UseTarget) -> bool) -> Result<GleanFacts, CheckerError> {
    let mut gathered = Gathered { wanted, digests: BTreeMap::new(), uses: BTreeMap::new() };
    for entry in fs::read_dir(report).map_err(CheckerError::io(report))? {
        let path = entry.map_err(CheckerError::io(report))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = fs::read(&path).map_err(CheckerError::io(&path))?;
        let malformed = |source| CheckerError::Malformed { command: command.to_owned(), source };
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        json.deserialize_seq(&mut gathered).map_err(malformed)?;
        json.end().map_err(malformed)?;
    }
    Ok(gathered.sorted())
}

/// Collects what one module after the other says; a file under two module names (a symbolic link) is merged.
struct Gathered<'w> {
    wanted: &'w dyn Fn(&UseTarget) -> bool,
    digests: BTreeMap<String, FileDigest>,
    uses: BTreeMap<(UseTarget, String), BTreeSet<ByteSpan>>,
}

impl Gathered<'_> {
    fn sorted(self) -> GleanFacts {
        let uses = self.uses.into_iter().map(|((target, file), spans)| TargetUse {
            target,
            file,
            spans: spans.into_iter().collect(),
        });
        GleanFacts { digests: self.digests, uses: uses.collect() }
    }

    fn add_use(&mut self, fact: UseKey) {
        let target = match fact.target {
            TargetKey::Local(Fact { key }) => UseTarget::Local { file: key.file.key, name: key.name.key },
            TargetKey::External(name) => UseTarget::External(name.key),
        };
        if !(self.wanted)(&target) {
            return;
        }
        let spans = self.uses.entry((target, fact.file.key)).or_default();
        spans.extend(fact.spans.into_iter().map(|span| ByteSpan::new(span.start, span.start + span.length)));
    }
}

/// The top of a module's file: a list of tables.
impl<'de> Visitor<'de> for &mut Gathered<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of glean predicates")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tables: A) -> Result<(), A::Error> {
        while tables.next_element_seed(Table(self))?.is_some() {}
        Ok(())
    }
}

/// One table: `{"predicate": NAME, "facts": […]}`, the name first.
struct Table<'a, 'w>(&'a mut Gathered<'w>);

impl<'de> DeserializeSeed<'de> for Table<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Table<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a glean predicate with its facts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut predicate = String::new();
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), predicate.as_str()) {
                ("predicate", _) => predicate = map.next_value()?,
                ("facts", "digest.FileDigest.1") => {
                    for Fact { key } in map.next_value::<Vec<Fact<DigestKey>>>()? {
                        self.0
                            .digests
                            .insert(key.file.key, FileDigest { size: key.digest.size, hash: key.digest.hash });
                    }
                }
                ("facts", "python.TargetUses.4") => {
                    for fact in map.next_value::<Vec<Fact<UseKey>>>()? {
                        self.0.add_use(fact.key);
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// glean wraps every value in `{"id": 0, "key": VALUE}`.
#[derive(Deserialize)]
struct Fact<T> {
    key: T,
}

#[derive(Deserialize)]
struct DigestKey {
    digest: DigestValue,
    file: Fact<String>,
}

#[derive(Deserialize)]
struct DigestValue {
    hash: String,
    size: u64,
}

#[derive(Deserialize)]
struct UseKey {
    file: Fact<String>,
    spans: Vec<SpanKey>,
    target: TargetKey,
}

#[derive(Deserialize)]
struct SpanKey {
    start: usize,
    length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TargetKey {
    Local(Fact<LocalKey>),
    External(Fact<String>),
}

#[derive(Deserialize)]
struct LocalKey {
    file: Fact<String>,
    name: Fact<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::{Tree, block_on, pyrefly};

    fn glean(tree: &Tree, files: &[&str]) -> GleanFacts {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        block_on(pyrefly().glean(tree.path(), &files, &["src".into(), ".".into()], 0, |_| true)).unwrap()
    }

    fn local(file: &str, name: &str) -> UseTarget {
        UseTarget::Local { file: file.into(), name: name.into() }
    }

    /// The text of each span of a target in a file.
    fn uses(tree: &Tree, facts: &GleanFacts, target: &UseTarget, file: &str) -> Vec<String> {
        let text = String::from_utf8(fs::read(tree.path().join(file)).unwrap()).unwrap();
        let found = facts.uses.iter().find(|u| u.target == *target && u.file == file);
        found
            .map(|u| u.spans.iter().map(|s| format!("{}@{}", text.get(s.range()).unwrap(), s.start().get())).collect())
            .unwrap_or_default()
    }

    #[test]
    fn uses_are_spans_of_bytes_also_with_carriage_returns_and_a_byte_order_mark() {
        let tree = Tree::new(&[
            ("p/q.py", "def f(x): return x\n"),
            ("m.py", "\u{feff}from p.q import f as g\r\n'é'; g(1)\rg(2)\r\n"),
        ]);
        let facts = glean(&tree, &["m.py", "p/q.py"]);
        assert_eq!(uses(&tree, &facts, &local("p/q.py", "p.q.f"), "m.py"), ["f@19", "g@33", "g@38"]);
    }

    #[test]
    fn names_that_were_not_found_are_external() {
        let tree = Tree::new(&[("m.py", "from nope import thing\nthing()\n")]);
        let facts = glean(&tree, &["m.py"]);
        assert_eq!(uses(&tree, &facts, &UseTarget::External("nope.thing".into()), "m.py"), ["thing@17", "thing@23"]);
    }

    #[test]
    fn a_src_layout_without_configuration_has_the_module_names_of_its_imports() {
        let tree = Tree::new(&[
            ("src/p/__init__.py", ""),
            ("src/p/q.py", "def f(x): return x\n"),
            ("tests/test_q.py", "from p.q import f\nf(1)\n"),
        ]);
        let facts = glean(&tree, &["tests/test_q.py", "src/p/q.py"]);
        assert_eq!(uses(&tree, &facts, &local("src/p/q.py", "p.q.f"), "tests/test_q.py").len(), 2);
    }

    #[test]
    fn a_file_that_could_not_be_decoded_has_the_size_zero() {
        let tree = Tree::new(&[("good.py", "x = 1\n")]);
        tree.write("latin.py", b"s = '\xe9'\n");
        let facts = glean(&tree, &["good.py", "latin.py"]);
        assert_eq!(facts.digests["latin.py"].size, 0);
        assert_eq!(facts.digests["good.py"].size, 6);
    }

    #[test]
    fn the_answer_is_the_same_every_time_and_leaves_nothing_behind() {
        let tree =
            Tree::new(&[("a.py", "def f(): ...\ndef g(): return f(), f()\n"), ("b.py", "from a import *\nf(); g()\n")]);
        let first = glean(&tree, &["a.py", "b.py"]);
        assert!((0..3).all(|_| glean(&tree, &["a.py", "b.py"]) == first));
    }
}
