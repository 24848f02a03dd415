//! The gate against the real pyrefly, each time on a small tree of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Gate, GateError, GateMode, Judgement};
use crate::checker::testing::{Tree, block_on, pyrefly};
use crate::plan::{ExtraRoots, Finding, Proposal, SiteId, Verdict};
use crate::text::{ByteOffset, ByteSpan, Edit, EditSet, RelPath, SourceText};

/// A workspace inside a tree, with the texts that were scouted.
struct Bench {
    tree: Tree,
    workspace: String,
    sources: BTreeMap<RelPath, SourceText>,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::below(".", files)
    }

    /// The workspace is a folder of the tree; so are then the names of files in [`Bench::edit`].
    fn below(workspace: &str, files: &[(&str, &str)]) -> Self {
        Self { tree: Tree::new(files), workspace: workspace.to_owned(), sources: BTreeMap::new() }
    }

    fn path(&self) -> PathBuf {
        self.tree.path().join(&self.workspace).canonicalize().unwrap()
    }

    /// Replaces the nth (from 0) occurrence of `region` in a file by `new`, as one proposal.
    fn edit(&mut self, file: &str, nth: usize, region: &str, new: &str) -> Proposal {
        let file = RelPath::new(file).unwrap();
        let bytes = fs::read(self.path().join(file.as_str())).unwrap();
        let source = SourceText::from_bytes(bytes).unwrap();
        let (start, _) = source.as_str().match_indices(region).nth(nth).unwrap();
        self.sources.insert(file.clone(), source);
        let region = ByteSpan::new(start, start + region.len());
        let edits = EditSet::new(vec![Edit::replace(region, new)]).unwrap();
        Proposal { site: SiteId::new(&file, ByteOffset::new(start)), file, region, edits }
    }

    fn open(&self, proposals: &[Proposal], mode: GateMode) -> Result<Gate, GateError> {
        let files: BTreeSet<RelPath> = proposals.iter().map(|proposal| proposal.file.clone()).collect();
        block_on(Gate::open(pyrefly(), &self.path(), &files, mode, &ExtraRoots::default()))
    }

    fn judge_with(&self, gate: &mut Gate, already: &[Proposal], proposals: &[Proposal]) -> Judgement {
        block_on(gate.judge(&self.sources, already, proposals, |_| true)).unwrap()
    }

    /// One round in a gate of its own; also looks whether the original is as it was.
    fn judge(&self, proposals: &[Proposal]) -> Vec<Verdict> {
        let before = contents(self.tree.path());
        let mut gate = self.open(proposals, GateMode::Project).unwrap();
        let judgement = self.judge_with(&mut gate, &[], proposals);
        assert_eq!(contents(self.tree.path()), before, "the original was touched");
        proposals.iter().map(|proposal| judgement.verdicts[&proposal.site].clone()).collect()
    }
}

/// Every file with its bytes and its time of change.
fn contents(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, Option<std::time::SystemTime>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            all.extend(contents(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            all.insert(path, (bytes, entry.metadata().unwrap().modified().ok()));
        }
    }
    all
}

fn findings(verdict: &Verdict) -> &[Finding] {
    match verdict {
        Verdict::Rejected { findings, .. } => findings,
        Verdict::Accepted | Verdict::Unchecked { .. } => panic!("not rejected: {verdict:?}"),
    }
}

fn is_unchecked(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unchecked { .. })
}

const LIB: &str = "def f(x: int, *, verbose: bool = False) -> int:\n    return x\n";

#[test]
fn a_right_edit_passes() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1)\n")]);
    let edit = bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)");
    assert_eq!(bench.judge(&[edit]), [Verdict::Accepted]);
}

#[test]
fn only_the_wrong_one_of_several_edits_is_rejected_with_what_the_checker_says() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\n'é😀'; f(1); f(2); f(3)\n")]);
    let edits = [
        bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)"),
        bench.edit("m.py", 0, "f(2)", "f(2, verbos=True)"),
        bench.edit("m.py", 0, "f(3)", "f(3, verbose=True)"),
    ];
    let verdicts = bench.judge(&edits);
    assert_eq!((&verdicts[0], &verdicts[2]), (&Verdict::Accepted, &Verdict::Accepted));
    let [finding] = findings(&verdicts[1]) else { panic!("{verdicts:?}") };
    assert_eq!((finding.file.as_str(), finding.rule.as_str()), ("m.py", "unexpected-keyword"));
    assert_eq!((finding.position.line(), finding.position.column()), (1, 31));
    let text = "from lib import f\n'é😀'; f(1, verbose=True); f(2, verbos=True); f(3, verbose=True)\n";
    assert_eq!(text.get(finding.span.unwrap().range()), Some("verbos"));
}

#[test]
fn a_value_of_the_wrong_type_is_rejected() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\ndef g(): f(1)\n")]);
    let edit = bench.edit("m.py", 0, "f(1)", "f(1, verbose='yes')");
    assert_eq!(findings(&bench.judge(&[edit])[0])[0].rule, "bad-argument-type");
}

#[test]
fn an_error_in_another_file_is_traced_to_its_edit_by_bisection() {
    let value = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n";
    let mut bench = Bench::new(&[("lib.py", value), ("use.py", "import lib\nlib.d + 1\n")]);
    let edits: Vec<Proposal> = [("1", "10"), ("2", "20"), ("3", "30"), ("4", "''"), ("5", "50")]
        .map(|(old, new)| bench.edit("lib.py", 0, old, new))
        .into();
    let mut gate = bench.open(&edits, GateMode::Project).unwrap();
    let judgement = bench.judge_with(&mut gate, &[], &edits);
    let rejected: Vec<_> =
        edits.iter().filter(|edit| !judgement.keeps(&edit.site)).map(|edit| edit.region.start().get()).collect();
    assert_eq!(rejected, [edits[3].region.start().get()]);
    assert_eq!(findings(&judgement.verdicts[&edits[3].site])[0].file, "use.py");
    assert!(judgement.checks <= 6, "{} checks", judgement.checks);
    let shadow = fs::read(gate.shadow_workspace().unwrap().join("lib.py")).unwrap();
    assert_eq!(String::from_utf8(shadow).unwrap(), "a = 10\nb = 20\nc = 30\nd = 4\ne = 50\n");
}

#[test]
fn an_edit_in_one_region_that_breaks_another_is_blamed_and_the_other_is_not() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nx = 1\nf(x)\n")]);
    let edits = [bench.edit("m.py", 0, "1", "''"), bench.edit("m.py", 0, "f(x)", "f(x, verbose=True)")];
    let verdicts = bench.judge(&edits);
    assert!(matches!(verdicts[0], Verdict::Rejected { .. }), "{verdicts:?}");
    assert_eq!(verdicts[1], Verdict::Accepted);
}

#[test]
fn an_error_that_appears_while_an_equal_one_goes_is_seen() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1, verbos=True)\nf(2)\n")]);
    let edits = [
        bench.edit("m.py", 0, "f(1, verbos=True)", "f(1, verbose=True)"),
        bench.edit("m.py", 0, "f(2)", "f(2, verbos=True)"),
    ];
    let verdicts = bench.judge(&edits);
    assert_eq!(verdicts[0], Verdict::Accepted);
    assert_eq!(findings(&verdicts[1])[0].position.line(), 2);
}

#[test]
fn errors_that_were_there_before_are_no_reason_wherever_they_moved() {
    let text = "from lib import f\nf(1); nope\nf('')\n'é'; f(2); nope\n";
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", text)]);
    let edits = [
        bench.edit("m.py", 0, "f(1)", "f(\n    1,\n    verbose=True,\n)"),
        bench.edit("m.py", 0, "f('')", "f('', verbose=True)"),
        bench.edit("m.py", 0, "f(2)", "f(2, verbose=True)"),
    ];
    assert_eq!(bench.judge(&edits), [Verdict::Accepted, Verdict::Accepted, Verdict::Accepted]);
}

#[test]
fn comments_and_settings_that_suppress_hide_nothing_from_the_gate() {
    let config = "[tool.pyrefly.errors]\nunexpected-keyword = false\n";
    let text = "from lib import f\nf(1)  # type: ignore\nf(2)  # pyrefly: ignore\n";
    let mut bench = Bench::new(&[("pyproject.toml", config), ("lib.py", LIB), ("m.py", text)]);
    let edits = [bench.edit("m.py", 0, "f(1)", "f(1, k=1)"), bench.edit("m.py", 0, "f(2)", "f(2, k=1)")];
    assert!(bench.judge(&edits).iter().all(|verdict| findings(verdict)[0].rule == "unexpected-keyword"));
}

#[test]
fn pyreflys_own_baseline_hides_nothing_from_the_gate() {
    let known = r#"{"errors": [{"line": 2, "column": 6, "stop_line": 2, "stop_column": 7, "path": "m.py", "code": -2,
        "name": "unexpected-keyword", "description": "", "severity": "error",
        "concise_description": "Unexpected keyword argument `k` in function `lib.f`"}]}"#;
    let mut bench = Bench::new(&[
        ("pyrefly.toml", "baseline = 'known.json'\n"),
        ("known.json", known),
        ("lib.py", LIB),
        ("m.py", "from lib import f\nf(1)\n"),
    ]);
    let edit = bench.edit("m.py", 0, "f(1)", "f(1, k=1)");
    assert_eq!(findings(&bench.judge(&[edit])[0]).len(), 1);
}

#[test]
fn nested_calls_are_judged_one_by_one() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(f(1))\n")]);
    let insert = |mut proposal: Proposal, at: usize, text: &str| {
        proposal.edits = EditSet::new(vec![Edit::insert(at, text)]).unwrap();
        proposal
    };
    let outer = bench.edit("m.py", 0, "f(f(1))", "");
    let inner = bench.edit("m.py", 0, "f(1)", "");
    let edits = [insert(outer, 24, ", verbose=True"), insert(inner, 23, ", verbos=True")];
    let verdicts = bench.judge(&edits);
    assert_eq!(verdicts[0], Verdict::Accepted);
    assert_eq!(findings(&verdicts[1])[0].rule, "unexpected-keyword");
}

/// A uv-style workspace: two packages whose editable installs point back into the project.
fn uv_workspace(venv: &str) -> Bench {
    let bench = Bench::new(&[
        ("pyproject.toml", "[project]\nname = 'ws'\nversion = '0'\n[tool.uv.workspace]\nmembers = ['packages/*']\n"),
        ("packages/a/pyproject.toml", "[project]\nname = 'a'\n"),
        ("packages/a/src/alib/__init__.py", ""),
        ("packages/a/src/alib/core.py", LIB),
        ("packages/b/pyproject.toml", "[project]\nname = 'b'\n"),
        ("packages/b/src/blib/__init__.py", ""),
        ("packages/b/src/blib/use.py", "from alib.core import f\nf(1)\n"),
    ]);
    bench.tree.venv(venv, &["packages/a/src", "packages/b/src"]);
    bench
}

#[test]
fn across_editable_packages_a_right_edit_passes_and_a_wrong_one_does_not() {
    let mut bench = uv_workspace(".venv");
    let right = [
        bench.edit("packages/a/src/alib/core.py", 0, "def f(", "def g("),
        bench.edit("packages/b/src/blib/use.py", 0, "import f", "import g"),
        bench.edit("packages/b/src/blib/use.py", 0, "f(1)", "g(1)"),
    ];
    assert_eq!(bench.judge(&right), [Verdict::Accepted, Verdict::Accepted, Verdict::Accepted]);
    let wrong = bench.edit("packages/a/src/alib/core.py", 0, "def f(", "def g(");
    let verdicts = bench.judge(&[wrong]);
    assert_eq!(findings(&verdicts[0])[0].file, "packages/b/src/blib/use.py");
}

#[test]
fn virtual_environments_are_not_copied() {
    let mut bench = uv_workspace(".venv");
    let edit = bench.edit("packages/b/src/blib/use.py", 0, "f(1)", "f(1, verbose=True)");
    let gate = bench.open(&[edit], GateMode::Project).unwrap();
    assert!(!gate.shadow_workspace().unwrap().join(".venv").exists());
}

#[test]
fn a_dependency_in_a_virtual_environment_of_the_project_is_found() {
    let mut bench = Bench::new(&[("m.py", "import dep\ndep.f(1)\n")]);
    bench.tree.venv(".venv", &[]);
    let site = block_on(pyrefly().dump_config(bench.tree.path(), &[], &[], None)).unwrap().site_packages[0].clone();
    let site = site.strip_prefix(bench.tree.path()).unwrap().to_str().unwrap();
    bench.tree.write(&format!("{site}/dep/__init__.py"), LIB);
    let right = bench.edit("m.py", 0, "dep.f(1)", "dep.f(1, verbose=True)");
    assert_eq!(bench.judge(&[right]), [Verdict::Accepted]);
    let wrong = bench.edit("m.py", 0, "dep.f(1)", "dep.f(1, k=True)");
    assert_eq!(findings(&bench.judge(&[wrong])[0]).len(), 1);
}

#[test]
fn in_a_src_layout_a_right_edit_passes_and_a_wrong_one_does_not() {
    let mut bench = Bench::new(&[
        ("pyproject.toml", "[project]\nname = 'p'\n"),
        ("src/p/__init__.py", ""),
        ("src/p/core.py", LIB),
        ("tests/test_core.py", "from p.core import f\nf(1)\nf(2)\n"),
    ]);
    let edits = [
        bench.edit("tests/test_core.py", 0, "f(1)", "f(1, verbose=True)"),
        bench.edit("tests/test_core.py", 0, "f(2)", "f(2, verbos=True)"),
    ];
    let verdicts = bench.judge(&edits);
    assert_eq!(verdicts[0], Verdict::Accepted);
    assert_eq!(findings(&verdicts[1]).len(), 1);
}

#[test]
fn in_a_workspace_below_the_project_root_the_rest_of_the_project_counts() {
    let mut bench = Bench::below(
        "src",
        &[("pyproject.toml", ""), ("src/core.py", LIB), ("tests/test_core.py", "from core import f\nf(1)\n")],
    );
    let edit = bench.edit("core.py", 0, "def f(", "def g(");
    let verdicts = bench.judge(&[edit]);
    assert_eq!(findings(&verdicts[0])[0].file, "../tests/test_core.py");
}

#[test]
fn a_file_that_the_checker_leaves_out_is_unchecked() {
    let config = "project-includes = ['sub/**']\n";
    let mut bench = Bench::new(&[
        ("pyrefly.toml", config),
        ("lib.py", LIB),
        ("sub/m.py", ""),
        ("out.py", "from lib import f\nf(1)\n"),
    ]);
    let edit = bench.edit("out.py", 0, "f(1)", "f(1, k=1)");
    let gate = bench.open(std::slice::from_ref(&edit), GateMode::Project).unwrap();
    assert_eq!(gate.uncovered(), BTreeSet::from([&edit.file]));
    assert!(is_unchecked(&bench.judge(&[edit])[0]));
}

#[test]
fn a_file_that_only_mypys_settings_leave_out_is_checked() {
    let config = "[tool.mypy]\nfiles = ['sub']\n";
    let mut bench = Bench::new(&[
        ("pyproject.toml", config),
        ("lib.py", LIB),
        ("sub/m.py", ""),
        ("out.py", "from lib import f\nf(1)\n"),
    ]);
    let edit = bench.edit("out.py", 0, "f(1)", "f(1, k=1)");
    assert_eq!(findings(&bench.judge(&[edit])[0]).len(), 1);
}

#[test]
fn git_ignored_modules_can_be_imported_but_their_errors_do_not_count() {
    let mut bench = Bench::new(&[
        (".gitignore", "generated/\n"),
        ("generated/__init__.py", ""),
        ("generated/lib.py", LIB),
        ("generated/other.py", "from m import g\ng(1, 2)\n"),
        ("m.py", "from generated.lib import f\ndef g(x, y): ...\nf(1)\n"),
    ]);
    let edits = [bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)"), bench.edit("m.py", 0, "(x, y)", "(x)")];
    assert_eq!(bench.judge(&edits), [Verdict::Accepted, Verdict::Accepted]);
}

#[test]
fn a_package_that_is_itself_the_root_still_imports_what_stands_beside_it() {
    let mut bench = Bench::below(
        "pkg",
        &[
            ("pkg/__init__.py", ""),
            ("pkg/m.py", "from beside import f\nfrom pkg import k\nf(1)\n"),
            ("pkg/k.py", ""),
            ("beside.py", LIB),
        ],
    );
    let right = bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)");
    assert_eq!(bench.judge(&[right]), [Verdict::Accepted]);
    let wrong = bench.edit("m.py", 0, "f(1)", "f(1, k=True)");
    assert_eq!(findings(&bench.judge(&[wrong])[0]).len(), 1);
}

#[test]
fn import_roots_of_mypys_settings_and_compiled_modules_are_seen() {
    let config = "[tool.mypy]\nmypy_path = 'lib'\n";
    let mut bench = Bench::new(&[
        ("pyproject.toml", config),
        ("lib/core.py", LIB),
        ("speed.cpython-311-x86_64-linux-gnu.so", "\u{7f}ELF"),
        ("m.py", "import speed\nfrom core import f\nf(1)\n"),
    ]);
    let wrong = bench.edit("m.py", 0, "f(1)", "f(1, k=1)");
    assert_eq!(findings(&bench.judge(&[wrong])[0]).len(), 1);
    let stray = bench.edit("m.py", 0, "import speed", "import speedy");
    assert_eq!(findings(&bench.judge(&[stray])[0])[0].rule, "missing-import");
}

#[cfg(unix)]
#[test]
fn links_inside_lead_to_the_copy_and_links_outside_are_never_written_through() {
    let outside = Tree::new(&[("ext/lib.py", "x = 1\n"), ("single.py", "y = 1\n")]);
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from linked import f\nf(1)\n")]);
    let at = |name: &str| bench.tree.path().join(name);
    std::os::unix::fs::symlink("lib.py", at("linked.py")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("ext"), at("ext")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("single.py"), at("single.py")).unwrap();
    // The definition is renamed behind the link: the caller breaks.
    let edit = bench.edit("lib.py", 0, "def f(", "def g(");
    let verdicts = bench.judge(std::slice::from_ref(&edit));
    assert!(findings(&verdicts[0]).iter().any(|finding| finding.file == "m.py"));
    let through = bench.edit("ext/lib.py", 0, "1", "2");
    let mut gate = bench.open(&[], GateMode::Project).unwrap();
    let judged = block_on(gate.judge(&bench.sources, &[], &[through], |_| true));
    assert!(matches!(judged, Err(GateError::LeadsOut { .. })), "{judged:?}");
    assert_eq!(fs::read(outside.path().join("ext/lib.py")).unwrap(), b"x = 1\n");
}

#[test]
fn what_is_accepted_stays_in_the_shadow_for_the_rounds_after() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1)\nf(2)\n")]);
    let first = bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)");
    let wrong = bench.edit("m.py", 0, "f(2)", "f(2, k=True)");
    let right = bench.edit("m.py", 0, "f(2)", "f(2, verbose=True)");
    let mut gate = bench.open(std::slice::from_ref(&first), GateMode::Project).unwrap();
    let held =
        |gate: &Gate| String::from_utf8(fs::read(gate.shadow_workspace().unwrap().join("m.py")).unwrap()).unwrap();
    let one = bench.judge_with(&mut gate, &[], &[first.clone(), wrong.clone()]);
    assert!(one.keeps(&first.site) && !one.keeps(&wrong.site));
    assert_eq!(held(&gate), "from lib import f\nf(1, verbose=True)\nf(2)\n");
    let two = bench.judge_with(&mut gate, std::slice::from_ref(&first), std::slice::from_ref(&right));
    assert_eq!((two.keeps(&right.site), two.checks, two.verdicts.len()), (true, 1, 1));
    assert_eq!(held(&gate), "from lib import f\nf(1, verbose=True)\nf(2, verbose=True)\n");
}

#[test]
fn edits_that_cannot_be_made_together_are_not() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(f(1))\n")]);
    let edits = [bench.edit("m.py", 0, "f(f(1))", "f(f(2))"), bench.edit("m.py", 0, "f(1)", "f(3)")];
    let verdicts = bench.judge(&edits);
    assert_eq!(verdicts[0], Verdict::Accepted);
    assert!(matches!(&verdicts[1], Verdict::Rejected { reason, .. } if reason.contains("overlaps")));
}

#[test]
fn a_file_that_would_no_longer_parse_is_rejected_by_shape_and_by_the_checker() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1)\n")]);
    let edit = bench.edit("m.py", 0, "f(1)", "f(1");
    assert!(findings(&bench.judge(std::slice::from_ref(&edit))[0]).iter().any(|finding| finding.rule == "parse-error"));
    let mut gate = bench.open(std::slice::from_ref(&edit), GateMode::Project).unwrap();
    let parses = |text: &str| text.matches('(').count() == text.matches(')').count();
    let judgement = block_on(gate.judge(&bench.sources, &[], std::slice::from_ref(&edit), parses)).unwrap();
    assert_eq!(judgement.checks, 0);
    assert!(matches!(&judgement.verdicts[&edit.site], Verdict::Rejected { reason, .. } if reason.contains("parse")));
}

#[test]
fn a_corrupted_file_does_not_pass() {
    let mut bench =
        Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1)\n"), ("n.py", "from lib import f\nf(1)\n")]);
    let edit = bench.edit("lib.py", 0, "return x", "retrun x");
    assert!(findings(&bench.judge(&[edit])[0]).iter().any(|finding| finding.rule == "parse-error"));
}

#[test]
fn a_probe_tells_what_the_checker_can_judge() {
    let text = "from lib import f\nimport nope\ndef k(x, **rest): ...\nf(1)\nk(1)\nnope.f(1)\nif False:\n    f(2)\nf(f(3))\ndef g(a): a.f(4)\n";
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", text)]);
    let regions = ["f(1)", "k(1)", "nope.f(1)", "f(2)", "f(f(3))", "f(3)", "a.f(4)"];
    let mut probes = Vec::new();
    for region in regions {
        let mut probe = bench.edit("m.py", 0, region, "");
        let at = probe.region.end().get() - 1;
        probe.edits = EditSet::new(vec![Edit::insert(at, ", tainie_probe__=0")]).unwrap();
        probes.push((probe, "tainie_probe__".to_owned()));
    }
    let proposals: Vec<_> = probes.iter().map(|(probe, _)| probe.clone()).collect();
    let mut gate = bench.open(&proposals, GateMode::Project).unwrap();
    let judged = block_on(gate.probe(&bench.sources, &probes)).unwrap();
    let names: Vec<_> = regions
        .iter()
        .zip(&probes)
        .filter(|(_, (probe, _))| judged.contains(&probe.site))
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(names, ["f(1)", "f(f(3))", "f(3)"]);
    let edits = [bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)"), bench.edit("m.py", 0, "f(2)", "f(2, k=1)")];
    let judgement = bench.judge_with(&mut gate, &[], &edits);
    assert_eq!(judgement.verdicts[&edits[0].site], Verdict::Accepted);
    assert!(is_unchecked(&judgement.verdicts[&edits[1].site]));
}

#[test]
fn the_gate_that_looks_at_files_alone_sees_their_own_errors() {
    let mut bench = Bench::new(&[
        ("src/p/__init__.py", ""),
        ("src/p/lib.py", LIB),
        ("m.py", "from p.lib import f\nf(1)\nf(2)\n"),
        ("n.py", "import m\nm.nope\n"),
    ]);
    let edits = [bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)"), bench.edit("m.py", 0, "f(2)", "f(2, k=True)")];
    let mut gate = bench.open(&edits, GateMode::File).unwrap();
    assert_eq!(gate.baseline(), 0);
    let judgement = bench.judge_with(&mut gate, &[], &edits);
    assert_eq!(judgement.verdicts[&edits[0].site], Verdict::Accepted);
    assert_eq!(findings(&judgement.verdicts[&edits[1].site]).len(), 1);
}

#[test]
fn without_a_gate_everything_that_has_the_right_shape_is_unchecked() {
    let mut bench = Bench::new(&[("m.py", "f(1)\n")]);
    let edit = bench.edit("m.py", 0, "f(1)", "f(1, k=True)");
    let mut gate = bench.open(std::slice::from_ref(&edit), GateMode::Off).unwrap();
    assert_eq!((gate.mode(), gate.shadow_workspace()), (GateMode::Off, None));
    let judgement = bench.judge_with(&mut gate, &[], std::slice::from_ref(&edit));
    assert!(is_unchecked(&judgement.verdicts[&edit.site]) && judgement.checks == 0);
}

#[test]
fn a_text_other_than_the_scouted_one_is_refused() {
    let mut bench = Bench::new(&[("m.py", "x = 1\n")]);
    let edit = bench.edit("m.py", 0, "1", "2");
    bench.tree.write("m.py", "y = 1\n");
    let mut gate = bench.open(std::slice::from_ref(&edit), GateMode::Project).unwrap();
    let judged = block_on(gate.judge(&bench.sources, &[], &[edit], |_| true));
    assert!(matches!(judged, Err(GateError::SourceChanged { .. })));
}

#[test]
fn a_shadow_goes_away_with_its_gate_and_read_only_files_are_no_obstacle() {
    let mut bench = Bench::new(&[("lib.py", LIB), ("m.py", "from lib import f\nf(1)\n")]);
    let path = bench.tree.path().join("m.py");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let edit = bench.edit("m.py", 0, "f(1)", "f(1, verbose=True)");
    let mut gate = bench.open(std::slice::from_ref(&edit), GateMode::Project).unwrap();
    assert!(bench.judge_with(&mut gate, &[], std::slice::from_ref(&edit)).keeps(&edit.site));
    let shadow = gate.shadow_workspace().unwrap().to_owned();
    assert!(shadow.is_dir() && !shadow.starts_with(bench.tree.path()));
    drop(gate);
    assert!(!shadow.exists());
}

#[test]
fn an_oracle_finds_the_files_that_are_no_python_too() {
    let bench = Bench::new(&[("m.py", "x = 1\n"), ("data/table.csv", "1,2\n")]);
    let gate = bench.open(&[], GateMode::Project).unwrap();
    let table = gate.shadow_workspace().unwrap().join("data/table.csv");
    assert!(!table.exists());
    gate.complete_shadow().unwrap();
    assert_eq!(fs::read(table).unwrap(), b"1,2\n");
}

#[cfg(unix)]
#[test]
fn a_checker_that_sees_the_copy_in_another_way_stops_the_gate() {
    // Adds a diagnostic wherever the folder isn't the original.
    let bench = Bench::new(&[("m.py", "x = 1\n")]);
    let real = pyrefly().program().display().to_string();
    let body = format!(
        "#!/bin/sh\n[ \"$1\" = check ] || exec {real} \"$@\"\n[ \"$PWD\" = {} ] && exec {real} \"$@\"\n\
         echo '{{\"errors\": [{{\"line\": 1, \"column\": 1, \"stop_line\": 1, \"stop_column\": 2, \"path\": \"m.py\", \"code\": -2,\
         \"name\": \"r\", \"description\": \"d\", \"concise_description\": \"c\", \"severity\": \"error\"}}]}}'\nexit 1\n",
        bench.tree.path().display()
    );
    let tools = Tree::new(&[]);
    let program = tools.program("pyrefly", &body);
    let odd = block_on(crate::checker::Pyrefly::at(&program, crate::checker::Origin::Flag)).unwrap();
    let opened = block_on(Gate::open(&odd, &bench.path(), &BTreeSet::new(), GateMode::Project, &ExtraRoots::default()));
    match opened {
        Err(GateError::ShadowDiffers { only_original, only_shadow }) => {
            assert_eq!((only_original.len(), only_shadow), (0, vec!["m.py:1: c (r)".to_owned()]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_configuration_with_absolute_paths_does_not_lead_back_unnoticed() {
    let bench = Bench::new(&[("m.py", "x = 1\n"), ("lib/core.py", LIB)]);
    let root = bench.tree.path().display().to_string();
    bench.tree.write("pyrefly.toml", format!("search-path = ['{root}/lib']\n"));
    // The twin is asked first, so this one does no harm.
    assert!(bench.open(&[], GateMode::Project).is_ok());
    bench.tree.write("pyrefly.toml", format!("project-includes = ['{root}/lib/**']\n"));
    assert!(matches!(bench.open(&[], GateMode::Project), Err(GateError::ShadowCovers { .. })));
}
