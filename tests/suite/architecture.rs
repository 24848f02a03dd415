//! Who may name whom: the table of rooms, and the check of every file under `src` against it.
//!
//! To change an arrow or to let a room name another crate, change the table here, in a commit of its own.
//! What the rooms are for is said in `src/lib.rs` and in `AGENTS.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::scanner::{NamedPath, Token, paths, tokens};

/// One row of the table.
struct Room {
    name: &'static str,
    /// Rooms that it may name; each stands in an earlier row, so there is no cycle.
    knows: &'static [&'static str],
    /// Guarded crates that it may name.
    crates: &'static [&'static str],
}

const ROOMS: [Room; 10] = [
    Room { name: "text", knows: &[], crates: &["similar"] },
    Room {
        name: "python",
        knows: &["text"],
        // The last two for notebooks.
        crates: &["ruff_python_parser", "ruff_python_ast", "ruff_text_size", "serde", "serde_json"],
    },
    Room { name: "plan", knows: &["text", "python"], crates: &["serde"] },
    Room { name: "checker", knows: &["text"], crates: &["serde", "serde_json", "tokio", "tempfile"] },
    Room { name: "lsp", knows: &["text"], crates: &["lsp_types", "serde", "serde_json", "tokio"] },
    Room { name: "scout", knows: &["text", "python", "plan", "checker", "lsp"], crates: &["ignore"] },
    Room { name: "gate", knows: &["text", "python", "plan", "checker", "lsp"], crates: &["tempfile"] },
    Room { name: "editor", knows: &["text", "python", "plan"], crates: &["serde", "serde_json", "schemars"] },
    Room {
        name: "harness",
        knows: &["text", "python", "plan", "checker", "lsp", "scout", "gate", "editor"],
        crates: &["serde", "serde_json", "serde_saphyr", "schemars", "tokio", "rusqlite", "tempfile"],
    },
    Room {
        name: "cli",
        knows: &["text", "plan", "harness"],
        crates: &["clap", "anyhow", "tokio", "serde", "serde_json", "indicatif"],
    },
];

/// Crates that one file of a room may name, and no other.
const CRATES_OF_FILES: &[(&str, &[&str])] =
    &[("editor/author/openai.rs", &["async_openai", "reqwest", "secrecy", "tokio"]), ("scout/find.rs", &["tokio"])];

/// Crates that any room may name: they compute values, or are small wrappers of the operating system.
const UNGUARDED: &[&str] =
    &["anstream", "anstyle", "etcetera", "globset", "memchr", "rustix", "sha2", "strsim", "thiserror"];

/// The module that every room's tests may name: it finds a real pyrefly and makes projects for it.
const TESTING: [&str; 2] = ["checker", "testing"];

/// Backends behind a trait, and the file that each is defined in. Only that file, the module files above it and
/// `harness/wiring.rs` may name one.
const BACKENDS: &[(&str, &str)] = &[
    ("editor/author.rs", "Rules"),
    ("editor/author/openai.rs", "Model"),
    ("scout/discovery/glean.rs", "Glean"),
    ("scout/discovery/server.rs", "ServerDefinitions"),
    ("scout/discovery/server.rs", "ServerReferences"),
];

/// The shell: the files that may set aside the lint against files, environment, clock and processes.
const SHELL: &[&str] = &[
    "checker/install.rs",
    "checker/run.rs",
    "checker/scratch.rs",
    "checker/testing.rs",
    "cli/request.rs",
    "gate/shadow.rs",
    "harness/clock.rs",
    "harness/demo.rs",
    "harness/doctor/programs.rs",
    "harness/journal.rs",
    "harness/oracle.rs",
    "lsp/process.rs",
];

/// A file under `src`, read for the check.
struct File {
    /// Relative to `src`, `/`-separated.
    path: String,
    tokens: Vec<Token>,
    paths: Vec<NamedPath>,
}

impl File {
    fn new(path: &str, source: &str) -> Self {
        let tokens = tokens(source);
        let paths = paths(&tokens);
        Self { path: path.to_owned(), tokens, paths }
    }

    /// The room that the file belongs to; `main.rs` and `lib.rs` belong to none.
    fn room(&self) -> Option<&'static Room> {
        let (folder, _) = self.path.split_once('/')?;
        ROOMS.iter().find(|room| room.name == folder)
    }

    /// Test files are compiled for tests only, like what stands under `#[cfg(test)]`.
    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// How many `super` lead from the file's top level to its room.
    fn depth(&self) -> usize {
        let segments = self.path.split('/').count() - 1;
        if self.path.ends_with("/mod.rs") { segments - 1 } else { segments }
    }
}

/// Everything in one file that the table forbids, one line each.
fn violations(file: &File) -> Vec<String> {
    let mut found = banned_tokens(file);
    if let Some(room) = file.room() {
        for path in &file.paths {
            found.extend(forbidden_room(file, room, path));
            found.extend(forbidden_crate(file, room, path));
            found.extend(forbidden_backend(file, path, BACKENDS));
            found.extend(climbing_super(file, path));
        }
    }
    // The leaves of one `use` tree often say the same.
    found.dedup();
    found
}

fn report(file: &File, line: usize, what: &str) -> String {
    format!("src/{}:{line}: {what}", file.path)
}

/// `crate::x` where the room of the file may not know `x`, or hands it on.
fn forbidden_room(file: &File, room: &Room, path: &NamedPath) -> Option<String> {
    let mut segments = path.segments.iter().map(String::as_str).skip_while(|segment| *segment == "self");
    if segments.next() != Some("crate") {
        return None;
    }
    let target = match segments.next() {
        // `pub(crate)` names nothing, `use crate as x` everything.
        None if !path.used => return None,
        None | Some("self" | "*") => {
            return Some(report(file, path.line, "the whole crate under one name hides what is named; name the room"));
        }
        Some(target) => target,
    };
    if target == room.name {
        return None;
    }
    let in_test = path.test || file.is_test();
    if in_test && [Some(target), segments.clone().next()] == TESTING.map(Some) {
        return None;
    }
    if !room.knows.contains(&target) {
        return Some(report(file, path.line, &format!("{} may not name {target}", room.name)));
    }
    path.public.then(|| report(file, path.line, &format!("{} may not hand on an item of {target}", room.name)))
}

fn guarded() -> BTreeSet<&'static str> {
    let of_rooms = ROOMS.iter().flat_map(|room| room.crates);
    of_rooms.chain(CRATES_OF_FILES.iter().flat_map(|(_, crates)| *crates)).copied().collect()
}

/// `name::` of a crate that neither the room nor the file may name, or that it hands on. What a test names
/// doesn't ship, so tests are free.
fn forbidden_crate(file: &File, room: &Room, path: &NamedPath) -> Option<String> {
    let name = path.segments.first()?.as_str();
    if path.test || file.is_test() || !guarded().contains(name) || (path.segments.len() == 1 && !path.used) {
        return None;
    }
    let of_file = CRATES_OF_FILES.iter().any(|(only, crates)| *only == file.path && crates.contains(&name));
    if !of_file && !room.crates.contains(&name) {
        return Some(report(file, path.line, &format!("{} may not name the crate {name}", room.name)));
    }
    path.public.then(|| report(file, path.line, &format!("{} may not hand on an item of the crate {name}", room.name)))
}

/// A backend named as a type: by itself or behind modules. Behind another type it is a variant of the same name,
/// such as `Source::Glean`.
fn forbidden_backend(file: &File, path: &NamedPath, backends: &[(&str, &str)]) -> Option<String> {
    let is_module = |segment: &&String| segment.starts_with(|c: char| c.is_lowercase());
    let type_name = path.segments.iter().find(|segment| !is_module(segment))?;
    let (home, name) = backends.iter().find(|(_, name)| type_name == name)?;
    // One word alone is a variant or a field, unless a `use` brings the type in: and that is seen.
    if path.segments.len() == 1 && !path.used {
        return None;
    }
    let stem = home.strip_suffix(".rs").unwrap_or(home);
    let above = |module: &str| stem.starts_with(&format!("{module}/"));
    let is_above = file.path.strip_suffix("/mod.rs").or(file.path.strip_suffix(".rs")).is_some_and(above);
    let allowed = path.test || file.is_test() || file.path == *home || is_above || file.path == "harness/wiring.rs";
    (!allowed).then(|| report(file, path.line, &format!("only harness/wiring.rs may name the backend {name}")))
}

/// A chain of `super` that climbs out of the room.
fn climbing_super(file: &File, path: &NamedPath) -> Option<String> {
    let climbs = path.segments.iter().filter(|segment| *segment == "super").count();
    let message = "`super` leaves the room; name the other room as `crate::room`";
    (climbs > file.depth() + path.inline_modules).then(|| report(file, path.line, message))
}

/// `#[path]`, `include!`, `extern crate`, and the lint of the shell set aside elsewhere.
fn banned_tokens(file: &File) -> Vec<String> {
    let in_shell = SHELL.contains(&file.path.as_str());
    let text = |at: usize| file.tokens.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        let what = match token.text.as_str() {
            "path" if text(at + 1) == "=" && at > 0 && (text(at - 1) == "[" || in_cfg_attr(file, at)) => {
                "`#[path]` hides where a module lives"
            }
            "include" if text(at + 1) == "!" => "`include!` hides what a file names",
            "crate" if at > 0 && text(at - 1) == "extern" => "`extern crate` hides what a file names",
            "disallowed_methods" if !in_shell && !token.test && !file.is_test() => {
                "only the shell files may set `clippy::disallowed_methods` aside"
            }
            _ => continue,
        };
        found.push(report(file, token.line, what));
    }
    found
}

/// Whether the token stands in a `#[cfg_attr(…)]`.
fn in_cfg_attr(file: &File, at: usize) -> bool {
    let open = file.tokens[..at].iter().rposition(|token| token.text == "#");
    open.is_some_and(|open| file.tokens.get(open + 2).is_some_and(|token| token.text == "cfg_attr"))
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file under `src`, sorted.
fn files() -> Vec<File> {
    let root = source_root();
    let mut files: Vec<File> = crate::support::files_below(&root)
        .into_iter()
        .filter(|path| Path::new(path).extension().is_some_and(|extension| extension == "rs"))
        .map(|path| File::new(&path, &fs::read_to_string(root.join(&path)).expect("a source file is UTF-8")))
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[test]
fn no_file_names_what_its_room_may_not() {
    let files = files();
    assert!(files.len() > ROOMS.len(), "the sources were found");
    let found: Vec<String> = files.iter().flat_map(violations).collect();
    assert!(
        found.is_empty(),
        "{} violations of the table in tests/suite/architecture.rs:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn rooms_folders_and_the_module_list_agree() {
    let table: BTreeSet<String> = ROOMS.iter().map(|room| room.name.to_owned()).collect();
    let folders: BTreeSet<String> =
        files().iter().filter_map(|file| file.path.split_once('/')).map(|(folder, _)| folder.to_owned()).collect();
    assert_eq!(folders, table, "folders under src, and rows of the table");
    let top: BTreeSet<String> =
        files().iter().filter(|file| !file.path.contains('/')).map(|file| file.path.clone()).collect();
    assert_eq!(top, ["lib.rs", "main.rs"].map(str::to_owned).into(), "everything else lives in a room");
    let lib = files().into_iter().find(|file| file.path == "lib.rs").expect("lib.rs was found");
    let modules: BTreeSet<String> =
        lib.tokens.windows(2).filter(|pair| pair[0].text == "mod").map(|pair| pair[1].text.clone()).collect();
    assert_eq!(modules, table, "`mod` lines of src/lib.rs, and rows of the table");
}

#[test]
fn a_row_names_earlier_rows_only() {
    for (at, room) in ROOMS.iter().enumerate() {
        let earlier: Vec<&str> = ROOMS[..at].iter().map(|room| room.name).collect();
        for known in room.knows {
            assert!(earlier.contains(known), "{} knows {known}, which stands in no earlier row", room.name);
        }
    }
}

#[test]
fn the_lists_of_files_name_what_is_there() {
    let files = files();
    let tokens = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("src/{path}, which a list names, isn't there")).tokens
    };
    for path in SHELL {
        let sets_aside = tokens(path).iter().any(|token| token.text == "disallowed_methods");
        assert!(sets_aside, "src/{path} is in SHELL and sets nothing aside");
    }
    for (path, name) in BACKENDS {
        let defines = tokens(path).windows(2).any(|pair| pair[0].text == "struct" && pair[1].text == *name);
        assert!(defines, "src/{path} doesn't define the backend {name}");
    }
    for (path, crates) in CRATES_OF_FILES {
        for name in *crates {
            assert!(tokens(path).iter().any(|token| token.text == *name), "src/{path} doesn't name the crate {name}");
        }
    }
}

#[test]
fn every_dependency_is_guarded_or_free() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).expect("the manifest");
    let guarded = guarded();
    for name in dependencies(&manifest) {
        let name = name.replace('-', "_");
        assert!(
            guarded.contains(name.as_str()) != UNGUARDED.contains(&name.as_str()),
            "the dependency {name} belongs in a row of ROOMS or in UNGUARDED, not in both"
        );
    }
}

/// Names in the tables of dependencies that ship.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.split('\n').map(str::trim) {
        if let Some(table) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = table == "dependencies" || (table.starts_with("target.") && table.ends_with(".dependencies"));
        } else if let Some((name, _)) = line.split_once('=').filter(|_| inside && !line.starts_with('#')) {
            names.push(name.trim().to_owned());
        }
    }
    names
}

mod checker_of_the_check {
    //! Planted violations: the check must see each.

    use super::{File, forbidden_backend, violations};

    #[track_caller]
    fn check(path: &str, source: &str, expected: &[&str]) {
        assert_eq!(violations(&File::new(path, source)), expected, "{source}");
    }

    #[test]
    fn a_forbidden_arrow_is_seen_in_any_spelling() {
        let may_not = "src/scout/find.rs:1: scout may not name editor";
        for source in [
            "use crate::editor::author;",
            "use crate::{text, editor::{self, author}};",
            "use crate::editor as text;",
            "fn f() { crate::editor::author::write() }",
            "use crate::{plan::{Site, SiteId}, editor as e};",
            "use self::crate::editor::x;",
        ] {
            check("scout/find.rs", source, &[may_not]);
        }
        check("scout/find.rs", "use crate::{text::{Edit, EditSet}, plan, scout::resolve};", &[]);
    }

    #[test]
    fn text_in_comments_and_strings_is_no_arrow() {
        check(
            "scout/find.rs",
            "/* crate::editor::x /* */ crate::gate */ // crate::cli::y\nconst A: &str = r#\"crate::editor::x\"#;",
            &[],
        );
    }

    #[test]
    fn an_alias_of_the_whole_crate_is_seen() {
        let message = "src/scout/find.rs:1: the whole crate under one name hides what is named; name the room";
        check("scout/find.rs", "use crate as tainie;", &[message]);
        check("scout/find.rs", "use crate::{self as tainie};", &[message]);
        check("scout/find.rs", "use crate::*;", &[message]);
        check("scout/find.rs", "pub(crate) fn f() {}", &[]);
    }

    #[test]
    fn a_guarded_crate_is_seen_without_a_use() {
        check(
            "text/edit.rs",
            "fn f() { serde_json::json!({}) }",
            &["src/text/edit.rs:1: text may not name the crate serde_json"],
        );
        check(
            "text/edit.rs",
            "use ::ruff_text_size::TextSize;",
            &["src/text/edit.rs:1: text may not name the crate ruff_text_size"],
        );
        check("text/diff.rs", "use similar::TextDiff;", &[]);
        check("text/edit.rs", "fn f(ignore: bool, tokio: u8) -> bool { ignore }", &[]);
    }

    #[test]
    fn a_crate_of_one_file_is_forbidden_to_its_neighbours() {
        check("editor/author/openai.rs", "use async_openai::Client;", &[]);
        check(
            "editor/prompt.rs",
            "use async_openai::Client;",
            &["src/editor/prompt.rs:1: editor may not name the crate async_openai"],
        );
    }

    #[test]
    fn tests_may_name_any_crate_but_no_other_room() {
        check("text/edit.rs", "#[cfg(test)] mod tests { use tempfile::tempdir; }", &[]);
        check("text/tests.rs", "use tempfile::tempdir;", &[]);
        check(
            "text/edit.rs",
            "#[cfg(test)] mod tests { use crate::cli; }",
            &["src/text/edit.rs:1: text may not name cli"],
        );
        check("lsp/tests.rs", "use crate::checker::testing::pyrefly;", &[]);
        check("lsp/client.rs", "#[cfg(test)] mod tests { fn f() { crate::checker::testing::pyrefly(); } }", &[]);
        check("lsp/tests.rs", "use crate::checker::Pyrefly;", &["src/lsp/tests.rs:1: lsp may not name checker"]);
        check(
            "lsp/client.rs",
            "use crate::checker::testing::pyrefly;",
            &["src/lsp/client.rs:1: lsp may not name checker"],
        );
    }

    #[test]
    fn handing_on_another_rooms_item_is_seen() {
        check(
            "gate/mod.rs",
            "pub(crate) use crate::plan::Site;",
            &["src/gate/mod.rs:1: gate may not hand on an item of plan"],
        );
        check(
            "checker/mod.rs",
            "pub(crate) use tokio::sync;",
            &["src/checker/mod.rs:1: checker may not hand on an item of the crate tokio"],
        );
        check("gate/mod.rs", "pub(crate) use shadow::Shadow; use crate::plan::Site;", &[]);
    }

    #[test]
    fn a_super_that_leaves_its_room_is_seen() {
        let message =
            |path: &str| format!("src/{path}:1: `super` leaves the room; name the other room as `crate::room`");
        check("text/mod.rs", "use super::plan;", &[&message("text/mod.rs")]);
        check("text/edit.rs", "use super::super::plan;", &[&message("text/edit.rs")]);
        check("text/edit.rs", "use super::{ByteSpan, super::plan};", &[&message("text/edit.rs")]);
        check("text/edit.rs", "use super::ByteSpan; mod tests { use super::super::ByteSpan; }", &[]);
        check("scout/discovery/glean.rs", "use super::super::find;", &[]);
        check("scout/discovery/mod.rs", "use super::find;", &[]);
    }

    #[test]
    fn ways_to_hide_a_file_are_seen() {
        check("text/mod.rs", "#[path = \"x.rs\"] mod x;", &["src/text/mod.rs:1: `#[path]` hides where a module lives"]);
        check(
            "text/mod.rs",
            "#[cfg_attr(unix, path = \"x.rs\")] mod x;",
            &["src/text/mod.rs:1: `#[path]` hides where a module lives"],
        );
        check("lib.rs", "include!(\"x.rs\");", &["src/lib.rs:1: `include!` hides what a file names"]);
        check(
            "text/mod.rs",
            "extern crate serde_json as j;",
            &["src/text/mod.rs:1: `extern crate` hides what a file names"],
        );
        check("text/mod.rs", "fn f(path: &str) { let path = include_str!(\"a\"); }", &[]);
    }

    #[test]
    fn a_backend_is_named_in_its_file_and_the_wiring_only() {
        let named = |path: &str, source: &str| {
            let file = File::new(path, source);
            file.paths.iter().find_map(|path| forbidden_backend(&file, path, &[("editor/author/rules.rs", "Rules")]))
        };
        let source = "use crate::editor::Rules;";
        let message = "src/harness/run.rs:1: only harness/wiring.rs may name the backend Rules";
        assert_eq!(named("harness/run.rs", source).as_deref(), Some(message));
        assert_eq!(named("harness/run.rs", "fn f() { crate::editor::Rules::new() }").as_deref(), Some(message));
        assert_eq!(named("harness/run.rs", "fn f() { EditorChoice::Rules } enum E { Rules }"), None);
        assert_eq!(named("harness/run.rs", "#[cfg(test)] mod tests { fn f() { Rules::new() } }"), None);
        for allowed in
            ["editor/author/rules.rs", "editor/author.rs", "editor/author/mod.rs", "editor/mod.rs", "harness/wiring.rs"]
        {
            assert_eq!(named(allowed, source), None, "{allowed}");
        }
    }

    #[test]
    fn the_lint_of_the_shell_holds_elsewhere() {
        let source = "#[expect(clippy::disallowed_methods, reason = \"x\")] fn f() {}";
        check(
            "text/edit.rs",
            source,
            &["src/text/edit.rs:1: only the shell files may set `clippy::disallowed_methods` aside"],
        );
        check("harness/journal.rs", source, &[]);
        check("text/edit.rs", &format!("#[cfg(test)] mod tests {{ {source} }}"), &[]);
    }
}
