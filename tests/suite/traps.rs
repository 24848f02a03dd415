//! The ways in which the type checker's answers, taken as they are, would corrupt a worklist. Each test has a tiny
//! project in which the plain answer of one source is wrong, and says what the worklist must hold all the same.
//!
//! The numbers are those of the list of traps that was measured with pyrefly 1.5.0:
//!
//! | trap | what the plain answer does | covered by |
//! |---|---|---|
//! | 1, 2 | references are empty while nothing is indexed | `lsp`: `every_fresh_server_knows_all_references` |
//! | 3 | the index stops at 2,000 files | `lsp`: `references_reach_past_two_thousand_files` |
//! | 4 | module names without a configuration are wrong | the two tests of `module_names_` |
//! | 5 | `pyrefly query` misses other packages | `query` is never asked |
//! | 6 | one declaration of several knows no references | the three tests of `the_whole_declaration_group_` |
//! | 7 | local aliases are missed, re-exported ones have other names | `aliases_are_followed_and_kept_by_name` |
//! | 8 | glean doesn't know scopes | `a_shadowed_name_is_a_decoy` |
//! | 9 | glean makes up targets for inherited members | `inherited_and_bound_receivers_are_sites` |
//! | 10, 11 | unsaved changes and unopened files | `lsp`: `a_file_that_is_not_open_is_refused…`; the scout reads what is on disk |
//! | 12 | the default preset infers too little | `a_return_type_that_nobody_wrote_is_inferred` |
//! | 13 | dead code is invisible to the server | `dead_code_is_scouted` |
//! | 14 | undecodable files, notebooks, byte-order marks, links | `files_that_nobody_reads_are_listed`, `a_linked_file_counts_once`, `a_byte_order_mark_moves_nothing`, and the cases `undecodable-file` and `broken-syntax` |
//! | 15 | folders left out in silence | `folders_that_are_left_out_are_listed` |
//! | 16, 17 | options that move the root or exclude each other | `checker` passes neither |
//! | 18, 20, 23 | the checker's own baseline, paths in messages, an empty answer | `gate`: `pyreflys_own_baseline_hides_nothing_from_the_gate`; `checker`: `no_answer_is_an_error_and_not_an_empty_list` |
//! | 19 | quoted annotations are missed | `quoted_types_are_sites` |
//! | 21 | glean's lines drift where lines end in CRLF | `carriage_returns_move_nothing` |
//! | 22 | editable installs lead out of the project | the cases `two-editable-packages` and `two-editable-packages-wrong-edit` |
//! | 24 | a definition is a place of the file on disk | `gate`: `a_text_other_than_the_scouted_one_is_refused`; the case `stale-worklist` |
//! | – | one dangling link empties the index, and a check gives no answer | `an_index_that_a_dangling_link_empties_is_not_asked`, and the cases `links-…` and `pipes-and-devices` |
//! | 25 | files left out by the configuration | `a_file_that_the_configuration_leaves_out_is_scouted` |
//!
//! Then the ways in which a definition elsewhere is no decoy: the tests whose names begin with `elsewhere_`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Ended, tainie, temporary_folder};

/// Scouts a symbol of a project of these files.
fn scout(files: &[(&str, &str)], symbol: &str) -> Value {
    scout_after(files, symbol, |_| {})
}

fn scout_after(files: &[(&str, &str)], symbol: &str, prepare: impl FnOnce(&Path)) -> Value {
    let folder = temporary_folder();
    // The folder's own name must be no reason for anything.
    let root = folder.path().join("project");
    for (file, text) in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a temporary folder can be written");
        fs::write(path, text).expect("a temporary folder can be written");
    }
    prepare(&root);
    let args = ["scout", symbol, "--explain", "--format", "json"].map(str::to_owned);
    let Ended { code, stdout, stderr } = tainie(&root, &args, &BTreeMap::new());
    assert_eq!(code, Some(0), "{stderr}");
    serde_json::from_str(&stdout).expect("scout prints JSON")
}

/// Each mention as `FILE:LINE:COLUMN CLASS`, 1-based, with a site's sources and alias, a decoy's target, the
/// reason why one is unresolved.
fn mentions(worklist: &Value) -> Vec<String> {
    let list = |key: &str| worklist[key].as_array().expect("an array").clone();
    let place = |entry: &Value| {
        let number = |key: &str| entry[key].as_u64().expect("a number") + 1;
        format!("{}:{}:{}", text(&entry["file"]), number("line"), number("column"))
    };
    let sites: BTreeMap<String, Value> = list("sites").into_iter().map(|site| (place(&site), site)).collect();
    let told = list("mentions").into_iter().map(|mention| {
        let at = place(&mention);
        let more = if let Some(site) = sites.get(&at) {
            let sources: Vec<&str> = site["sources"].as_array().expect("sources").iter().map(text).collect();
            let alias = site["alias"].as_str().map(|alias| format!(" as {alias}")).unwrap_or_default();
            format!(" {}{alias}", sources.join("+"))
        } else {
            let known = [&mention["resolves_to"], &mention["reason"]].into_iter().filter_map(|value| value.as_str());
            std::iter::once("").chain(known).collect::<Vec<_>>().join(" ")
        };
        format!("{at} {}{more}", text(&mention["class"]))
    });
    told.collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// The files that a person should look at, each with the reason.
fn left_files(worklist: &Value) -> Vec<String> {
    let entries = worklist["unresolvable"].as_array().expect("an array");
    entries.iter().map(|entry| format!("{} {}", text(&entry["file"]), text(&entry["reason"]))).collect()
}

#[track_caller]
fn check(files: &[(&str, &str)], symbol: &str, expected: &[&str]) {
    assert_eq!(mentions(&scout(files, symbol)), expected);
}

const CORE: (&str, &str) = ("core.py", "def f(x: int = 0) -> int:\n    return x\n");
const CALL: &str = "from core import f\nf()\n";

#[test]
fn module_names_are_those_of_the_imports_without_a_configuration() {
    let files = [
        ("main.py", "import p.q\np.q.f()\n"),
        ("p/__init__.py", ""),
        ("p/q.py", "def f() -> None: ...\n"),
        ("r/s.py", "from p.q import f\nf()\n"),
    ];
    let worklist = scout(&files, "f");
    assert_eq!(worklist["symbol"]["fqn"], "p.q.f");
    assert_eq!(
        mentions(&worklist),
        [
            "main.py:2:5 site definition+glean+references",
            "p/q.py:1:5 definition",
            "r/s.py:1:17 import",
            "r/s.py:2:1 site definition+glean+references",
        ]
    );
}

#[test]
fn module_names_of_a_src_layout_begin_below_src() {
    let files = [
        ("src/p/__init__.py", ""),
        ("src/p/q.py", "def f() -> None: ...\n"),
        ("src/p/r.py", "from .q import f\nf()\n"),
        ("tests/test_q.py", "from p.q import f\nf()\n"),
    ];
    let worklist = scout(&files, "f");
    assert_eq!(worklist["symbol"]["fqn"], "p.q.f");
    let sites: Vec<String> = mentions(&worklist).into_iter().filter(|mention| mention.contains(" site ")).collect();
    assert_eq!(sites.len(), 2);
    for site in sites {
        assert!(site.contains("definition+glean"), "{site}");
    }
}

#[test]
fn the_whole_declaration_group_of_overloads_is_asked() {
    let overloads = "from typing import overload\n@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n";
    check(
        &[("a.py", overloads), ("b.py", "from a import f\nf(1)\nf(\"a\")\n")],
        "a.f",
        &[
            "a.py:3:5 definition",
            "a.py:5:5 definition",
            "a.py:6:5 definition",
            "b.py:1:15 import",
            "b.py:2:1 site definition+glean+references",
            "b.py:3:1 site definition+glean+references",
        ],
    );
}

#[test]
fn the_whole_declaration_group_of_a_condition_is_asked() {
    let twins = "import sys\nif sys.platform == \"win32\":\n    def f() -> int:\n        return 1\nelse:\n    def f() -> int:\n        return 2\n";
    check(
        &[("a.py", twins), ("b.py", "from a import f\nf()\n")],
        "a.f",
        &[
            "a.py:3:9 definition",
            "a.py:6:9 definition",
            "b.py:1:15 import",
            "b.py:2:1 site definition+glean+references",
        ],
    );
}

#[test]
fn the_whole_declaration_group_of_a_redefinition_is_asked() {
    let twice = "def f() -> int:\n    return 1\nf()\ndef f() -> int:\n    return 2\nf()\n";
    check(
        &[("a.py", twice), ("b.py", "import a\na.f()\n")],
        "a.f",
        &[
            "a.py:1:5 definition",
            "a.py:3:1 site definition+glean+references",
            "a.py:4:5 definition",
            "a.py:6:1 site definition+glean+references",
            "b.py:2:3 site definition+glean+references",
        ],
    );
}

#[test]
fn aliases_are_followed_and_kept_by_name() {
    check(
        &[
            CORE,
            ("other.py", "def pub() -> None: ...\ndef g() -> None: ...\npub()\ng()\n"),
            ("p/__init__.py", "from core import f as pub\n"),
            ("use.py", "from core import f as g\nfrom p import pub\ng()\npub()\n"),
        ],
        "core.f",
        &[
            "core.py:1:5 definition",
            "p/__init__.py:1:18 import",
            "p/__init__.py:1:23 import",
            "use.py:1:18 import",
            "use.py:1:23 import",
            "use.py:2:15 import",
            "use.py:3:1 site definition+glean as g",
            "use.py:4:1 site definition+glean+references as pub",
        ],
    );
}

#[test]
fn a_shadowed_name_is_a_decoy() {
    let shadows = "\
from core import f

print(lambda f: f(1))
print([f for f in (1, 2)])


def capture(x: object) -> None:
    match x:
        case [f]:
            print(f)


def walrus() -> None:
    if (f := len):
        f(\"\")


def generic[f](x: f) -> f:
    return x


f()
print(lambda x: f(x))
";
    let worklist = scout(&[CORE, ("use.py", shadows)], "core.f");
    let found = mentions(&worklist);
    let of = |class: &str| found.iter().filter(|mention| mention.contains(&format!(" {class} "))).count();
    assert_eq!(
        found.iter().filter(|mention| mention.contains(" site ")).collect::<Vec<_>>(),
        ["use.py:22:1 site definition+glean+references", "use.py:23:17 site definition+glean+references"]
    );
    assert_eq!((of("decoy"), of("unresolved")), (11, 0), "{found:#?}");
}

#[test]
fn inherited_and_bound_receivers_are_sites() {
    let users = "\
from typing import TypeVar
from a import K
class L(K): ...
class M(K):
    def m(self) -> int:
        return super().m()
T = TypeVar(\"T\", bound=K)
def g(x: T, y: L) -> T:
    x.m()
    y.m()
    return x
L().m()
M().m()
unknown.m()
";
    check(
        &[("a.py", "class K:\n    def m(self) -> int:\n        return 1\n"), ("b.py", users)],
        "a.K.m",
        &[
            "a.py:2:9 definition",
            "b.py:5:9 definition",
            "b.py:6:24 site definition+references",
            "b.py:9:7 site definition+references",
            "b.py:10:7 site definition+glean+references",
            "b.py:12:5 site definition+glean+references",
            "b.py:13:5 site definition+glean+references",
            "b.py:14:9 unresolved receiver-type-unknown",
        ],
    );
}

#[test]
fn a_return_type_that_nobody_wrote_is_inferred() {
    let class = "class K:\n    def m(self) -> int:\n        return 1\ndef make():\n    return K()\n";
    check(
        &[("a.py", class), ("b.py", "from a import make\nmake().m()\n")],
        "a.K.m",
        &["a.py:2:9 definition", "b.py:2:8 site definition+glean+references"],
    );
}

#[test]
fn dead_code_is_scouted() {
    let dead = "\
import sys
from typing import TYPE_CHECKING
from core import f

if sys.version_info < (3, 0):
    f(1)
if not TYPE_CHECKING:
    f(2)
if False:
    f(3)


def g() -> int:
    return 1
    f(4)


def h() -> int:
    while True:
        pass
    return f(5)
";
    let found = mentions(&scout(&[CORE, ("use.py", dead)], "core.f"));
    let sites: Vec<&str> = found.iter().filter(|m| m.contains(" site ")).filter_map(|m| m.split(' ').next()).collect();
    assert_eq!(sites, ["use.py:6:5", "use.py:8:5", "use.py:10:5", "use.py:15:5", "use.py:21:12"]);
    assert!(found.contains(&"use.py:6:5 site glean+scopes".to_owned()), "no server sees it: {found:#?}");
}

#[test]
fn files_that_nobody_reads_are_listed() {
    let notebook = r#"{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["from core import f\n", "f()"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
    let files = [
        CORE,
        ("my-script.py", CALL),
        ("n.ipynb", notebook),
        ("script", "#!/usr/bin/env python3\nfrom core import f\nf()\n"),
        ("w.pyw", CALL),
        ("x.pyx", CALL),
        ("y.ipynb", "{\"cells\": f"),
    ];
    let worklist = scout(&files, "core.f");
    assert_eq!(
        left_files(&worklist),
        ["n.ipynb notebook", "script not-covered", "x.pyx not-covered", "y.ipynb notebook"]
    );
    let sites: Vec<&str> = worklist["sites"].as_array().expect("sites").iter().map(|site| text(&site["id"])).collect();
    assert_eq!(sites, ["my-script.py:19", "n.ipynb:125", "w.pyw:19"]);
}

#[cfg(unix)]
#[test]
fn a_linked_file_counts_once() {
    let link = |root: &Path| std::os::unix::fs::symlink("use.py", root.join("link.py")).expect("a link can be made");
    let worklist = scout_after(&[CORE, ("use.py", CALL)], "core.f", link);
    assert_eq!(
        mentions(&worklist),
        ["core.py:1:5 definition", "use.py:1:18 import", "use.py:2:1 site definition+glean+references"]
    );
    assert_eq!(left_files(&worklist), ["link.py symlink"]);
}

#[cfg(unix)]
#[test]
fn an_index_that_a_dangling_link_empties_is_not_asked() {
    let link = |root: &Path| crate::support::link(Path::new("nowhere"), &root.join("data.txt"));
    let worklist = scout_after(&[CORE, ("use.py", CALL)], "core.f", link);
    assert_eq!(
        mentions(&worklist),
        ["core.py:1:5 definition", "use.py:1:18 import", "use.py:2:1 site definition+glean"]
    );
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_may_hold_the_name() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut for_root = false;
    let shut = |root: &Path| {
        fs::create_dir(root.join("locked")).expect("a temporary folder can be written");
        for name in ["shut.py", "locked"] {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o000)).expect("a file of one's own");
        }
        for_root = fs::read(root.join("shut.py")).is_ok();
    };
    let worklist = scout_after(&[CORE, ("use.py", CALL), ("shut.py", "")], "core.f", shut);
    if !for_root {
        assert_eq!(left_files(&worklist), ["locked unreadable", "shut.py unreadable"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_workspace_whose_name_no_protocol_can_say_is_refused_by_name() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = temporary_folder();
    let root = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&root).expect("a temporary folder can be written");
    for (file, text) in [CORE, ("use.py", CALL)] {
        fs::write(root.join(file), text).expect("a temporary folder can be written");
    }
    for args in [&["scout", "f"][..], &["resolve", "use.py:2"], &["edit", "f", "--instruction", "pass `x=1`"]] {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let Ended { code, stderr, .. } = tainie(&root, &args, &BTreeMap::new());
        assert_eq!(code, Some(3), "{stderr}");
        assert!(stderr.contains("isn't UTF-8") && stderr.contains("rename the folder"), "{stderr}");
    }
}

#[test]
fn a_byte_order_mark_moves_nothing() {
    let marked = "\u{feff}from core import f; f()\nf()\n";
    let worklist = scout(&[CORE, ("use.py", marked)], "core.f");
    assert_eq!(
        mentions(&worklist),
        [
            "core.py:1:5 definition",
            "use.py:1:18 import",
            "use.py:1:21 site definition+glean+references",
            "use.py:2:1 site definition+glean+references",
        ]
    );
    let spans: Vec<u64> =
        worklist["sites"].as_array().expect("sites").iter().filter_map(|site| site["span"]["start"].as_u64()).collect();
    assert_eq!(spans, [27, 23], "bytes count the mark");
}

#[test]
fn folders_that_are_left_out_are_listed() {
    let files = [
        (".gitignore", "gen/\n"),
        (".hidden/a.py", CALL),
        ("build/a.py", CALL),
        CORE,
        ("gen/a.py", CALL),
        ("node_modules/a.py", CALL),
        ("venv/lib/a.py", CALL),
    ];
    let worklist = scout(&files, "core.f");
    assert_eq!(
        left_files(&worklist),
        [
            ".hidden/a.py not-covered",
            "gen/a.py not-covered",
            "node_modules/a.py not-covered",
            "venv/lib/a.py not-covered",
        ]
    );
    assert!(mentions(&worklist).contains(&"build/a.py:2:1 site definition+glean+references".to_owned()));
}

#[test]
fn quoted_types_are_sites() {
    let quoted = "\
from typing import Optional, cast
from core import K

def g(x: \"K\", y: Optional[\"K\"] = None) -> \"list[K]\":
    return [cast(\"K\", x)]

z: \"int | K\" = 3
text = \"K\"
";
    let found = mentions(&scout(&[("core.py", "class K: ...\n"), ("use.py", quoted)], "core.K"));
    let places: Vec<&str> = found.iter().filter(|m| m.contains(" site ")).filter_map(|m| m.split(' ').next()).collect();
    assert_eq!(places, ["use.py:4:11", "use.py:4:28", "use.py:4:49", "use.py:5:19", "use.py:7:11"]);
    assert!(found.contains(&"use.py:8:9 text".to_owned()), "{found:#?}");
}

#[test]
fn carriage_returns_move_nothing() {
    check(
        &[
            ("core.py", "def f(x: int = 0) -> int:\r\n    return x\r\n\r\n"),
            ("use.py", "from core import f\r\n\r\n# é\r\nf(1)\r\nprint(\"é\", f(\r\n    2))\r\n"),
        ],
        "core.f",
        &[
            "core.py:1:5 definition",
            "use.py:1:18 import",
            "use.py:4:1 site definition+glean+references",
            "use.py:5:12 site definition+glean+references",
        ],
    );
}

#[test]
fn a_file_that_the_configuration_leaves_out_is_scouted() {
    check(
        &[CORE, ("pyrefly.toml", "project-includes = [\"core.py\"]\n"), ("use.py", CALL)],
        "core.f",
        &["core.py:1:5 definition", "use.py:1:18 import", "use.py:2:1 site definition+glean+references"],
    );
}

#[test]
fn elsewhere_a_wrapped_method_answers_with_its_wrapper() {
    let wrapped = "from functools import lru_cache\nclass K:\n    @lru_cache\n    def m(self, x: int) -> int:\n        return x\nK().m(1)\n";
    check(&[("a.py", wrapped)], "a.K.m", &["a.py:4:9 definition", "a.py:6:5 site glean+references"]);
}

#[test]
fn elsewhere_a_call_of_a_class_answers_with_a_constructor() {
    for class in ["class K:\n    x = 1\n", "class K:\n    def __init__(self) -> None: ...\n"] {
        check(
            &[("a.py", class), ("b.py", "from a import K\nK()\n")],
            "a.K",
            &["a.py:1:7 definition", "b.py:1:15 import", "b.py:2:1 site definition+glean+references"],
        );
    }
}

#[test]
fn elsewhere_an_import_that_does_not_resolve_is_no_decoy() {
    check(
        &[CORE, ("use.py", "from lost.core import f\nf()\n")],
        "core.f",
        &[
            "core.py:1:5 definition",
            "use.py:1:23 unresolved import-unresolved",
            "use.py:2:1 unresolved import-unresolved",
        ],
    );
}

#[test]
fn elsewhere_the_twin_of_an_import_may_be_the_symbol() {
    let twins = "try:\n    from slow import f\nexcept ImportError:\n    from fast import f\nf()\n";
    let one = "def f() -> int:\n    return 1\n";
    for (symbol, other, line, of_other) in [("fast", "slow", 4, 2), ("slow", "fast", 2, 4)] {
        let found = mentions(&scout(&[("fast.py", one), ("slow.py", one), ("use.py", twins)], &format!("{symbol}.f")));
        assert!(found.contains(&format!("use.py:{line}:22 import")), "{found:#?}");
        assert!(found.contains(&format!("use.py:{of_other}:22 decoy {other}.f")), "{found:#?}");
        assert!(found.iter().any(|mention| mention.starts_with("use.py:5:1 site ")), "{found:#?}");
    }
}

#[test]
fn elsewhere_another_binding_of_the_same_variable_is_a_site() {
    let variable = "LEVEL = 1\n\ndef up() -> None:\n    global LEVEL\n    LEVEL = 2\n\nprint(LEVEL)\n";
    check(
        &[("a.py", variable), ("b.py", "import a\nprint(a.LEVEL)\na.LEVEL = 3\n")],
        "a.LEVEL",
        &[
            "a.py:1:1 definition",
            "a.py:4:12 site definition",
            "a.py:5:5 site definition",
            "a.py:7:7 site definition+glean+references",
            "b.py:2:9 site definition+glean+references",
            "b.py:3:3 site definition+glean+references",
        ],
    );
}

#[test]
fn elsewhere_a_stub_and_its_module_are_one() {
    check(
        &[
            ("core.py", "def f(x):\n    return x\nf(1)\n"),
            ("core.pyi", "def f(x: int) -> int: ...\n"),
            ("use.py", "from core import f\nf(1)\n"),
        ],
        "core.f",
        &[
            "core.py:1:5 definition",
            "core.py:3:1 site definition+glean+references",
            "core.pyi:1:5 definition",
            "use.py:1:18 import",
            "use.py:2:1 site definition+glean+references",
        ],
    );
}

#[test]
fn elsewhere_a_label_is_tied_to_its_parameter() {
    check(
        &[CORE, ("use.py", "from core import f\nf(x=1)\nf(1)\ndict(x=2)\n")],
        "core.f(x)",
        &[
            "core.py:1:7 definition",
            "core.py:2:12 site definition+glean+references",
            "use.py:2:3 site definition+references",
            "use.py:4:6 unresolved foreign-target",
        ],
    );
}
