//! The session against the real pyrefly, and against scripted servers for what a real one doesn't do on demand.

use std::path::PathBuf;
use std::time::Duration;

use super::error::{ClientError, FramingError};
use super::*;
use crate::text::{ByteOffset, Position, ProjectRoot, RelPath, SourceText, Utf16Position};

/// A tree in a temporary folder.
struct Tree {
    root: ProjectRoot,
    _folder: tempfile::TempDir,
}

#[expect(clippy::disallowed_methods, reason = "the test makes its own tree")]
fn tree(files: &[(&str, &str)]) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    Tree { root: ProjectRoot::from_canonical(path), _folder: folder }
}

impl Tree {
    fn source(&self, file: &str) -> (RelPath, SourceText) {
        let file = RelPath::new(file).unwrap();
        let bytes = std::fs::read(self.root.join(&file)).unwrap();
        (file, SourceText::from_bytes(bytes).unwrap())
    }
}

/// The real pyrefly. Finding it runs a runtime of its own, which a thread with a runtime can't.
fn pyrefly() -> PathBuf {
    let find = || crate::checker::testing::pyrefly().program().to_owned();
    std::thread::spawn(find).join().expect("pyrefly can be found or installed")
}

async fn start(tree: &Tree, mode: Mode) -> Session {
    Session::start(&Server::pyrefly(pyrefly(), mode, 0), &tree.root).await.unwrap()
}

/// All places of a word, whole or not.
fn places(source: &SourceText, word: &str) -> Vec<ByteOffset> {
    source.as_str().match_indices(word).map(|(at, _)| ByteOffset::new(at)).collect()
}

fn inside(file: &str) -> TargetFile {
    TargetFile::Inside(RelPath::new(file).unwrap())
}

/// The text that a target covers, read back from the tree.
fn covered(tree: &Tree, target: &Target) -> String {
    let TargetFile::Inside(file) = &target.file else { panic!("outside: {target:?}") };
    let (_, source) = tree.source(file.as_str());
    let start = source.offset_of_utf16(target.start).unwrap().get();
    let end = source.offset_of_utf16(target.end).unwrap().get();
    source.as_str().get(start..end).unwrap().to_owned()
}

async fn asked(session: &mut Session, tree: &Tree, file: &str, word: &str) -> Vec<Vec<Target>> {
    let (file, source) = tree.source(file);
    session.open(&file, &source).await.unwrap();
    session.locate(Question::Definition, &file, &source, &places(&source, word)).await.unwrap()
}

#[tokio::test]
async fn definitions_inside_outside_and_nowhere() {
    let text = "from lib import render\nrender(len([]))\nnobody.render()\n";
    let tree = tree(&[("lib.py", "\ndef render(x): ...\n"), ("use.py", text)]);
    let mut session = start(&tree, Mode::Definitions).await;
    let answers = asked(&mut session, &tree, "use.py", "render").await;
    let definition = Target { file: inside("lib.py"), start: Utf16Position::new(1, 4), end: Utf16Position::new(1, 10) };
    assert_eq!(answers, [vec![definition.clone()], vec![definition], vec![]]);
    let answers = asked(&mut session, &tree, "use.py", "len").await;
    let [target] = answers[0].as_slice() else { panic!("{answers:?}") };
    assert!(matches!(&target.file, TargetFile::Outside(path) if path.ends_with("builtins.pyi")), "{target:?}");
    session.stop().await;
}

#[tokio::test]
async fn many_questions_about_one_file_are_answered_in_order() {
    let definitions = (0..1500).map(|i| format!("def f{i}(): ..."));
    let calls = (0..1500).map(|i| format!("f{i}()"));
    let lines: Vec<String> = definitions.chain(calls).collect();
    let tree = tree(&[("a.py", &lines.join("\n"))]);
    let mut session = start(&tree, Mode::Definitions).await;
    let (file, source) = tree.source("a.py");
    session.open(&file, &source).await.unwrap();
    let at: Vec<_> = (1500..3000).map(|line| source.offset(Position::new(line, 0)).unwrap()).collect();
    let answers = session.locate(Question::Definition, &file, &source, &at).await.unwrap();
    for (line, answer) in (0..).zip(&answers) {
        assert_eq!(answer.len(), 1, "line {line}");
        assert_eq!(answer[0].start, Utf16Position::new(line, 4));
    }
}

/// Every place of `render` in `use.py` must be tied to the one definition in `lib.py`, and the answer must cover it.
async fn check_columns(lib: &str, user: &str) {
    let tree = tree(&[("lib.py", lib), ("use.py", user)]);
    let mut session = start(&tree, Mode::Definitions).await;
    for file in ["use.py", "lib.py"] {
        for (index, answer) in asked(&mut session, &tree, file, "render").await.iter().enumerate() {
            let [target] = answer.as_slice() else { panic!("{file}, place {index}: {answer:?}") };
            assert_eq!(target.file, inside("lib.py"));
            assert_eq!(covered(&tree, target), "render", "{file}, place {index}");
        }
    }
    session.stop().await;
    let mut session = start(&tree, Mode::References).await;
    let (file, source) = tree.source("lib.py");
    let references = session.references(&file, &source, places(&source, "render")[0]).await.unwrap();
    let expected = user.matches("render").count() + lib.matches("render").count() - 1;
    assert_eq!(references.len(), expected, "{references:?}");
    assert!(references.iter().all(|target| covered(&tree, target) == "render"), "{references:?}");
    session.stop().await;
}

#[tokio::test]
async fn a_byte_order_mark_on_either_side_moves_no_column() {
    check_columns("\u{feff}def render(x): ...\n", "from lib import render; render(1)\nrender(2)\n").await;
    check_columns("def render(x): ...\n", "\u{feff}from lib import render; render(1)\nrender(2)\n").await;
    check_columns("\u{feff}x = 'é😀'; render = 3\n", "\u{feff}from lib import render; render\nrender\n").await;
}

#[tokio::test]
async fn every_line_ending_is_counted_as_the_server_counts_it() {
    check_columns("x = 1\r\rdef render(x): ...\r", "from lib import render\rrender(1)\rx = 1; render(2)\r").await;
    check_columns("x = 1\r\n\r\ndef render(x): ...\r\n", "from lib import render\r\nx = 1; render(2)\r\n").await;
    check_columns("def render(x): ...\n", "from lib import render\rrender(1)\r\nrender(2)\n\r\n\rrender(3)").await;
}

#[tokio::test]
async fn what_python_does_not_count_as_a_line_end_is_none() {
    let user = "from lib import render\n'''\u{b}\u{c}\u{85}\u{2028}'''; render(1)\n\u{c}render(2)\n";
    check_columns("'\u{2028}\u{1c}'; render = 3\n", user).await;
}

#[tokio::test]
async fn astral_characters_count_twice() {
    check_columns("x = '😀é'; render = 3\n", "from lib import render\nx = '😀é\u{301}😀'; render\n").await;
}

#[tokio::test]
async fn paths_with_spaces_percents_and_other_alphabets() {
    let name = "sp ace #%20é😀+&?/mod.py";
    let tree = tree(&[(name, "def render(): ...\nrender()\n")]);
    let mut session = start(&tree, Mode::Definitions).await;
    let answers = asked(&mut session, &tree, name, "render").await;
    assert_eq!(answers[1].iter().map(|target| &target.file).collect::<Vec<_>>(), [&inside(name)]);
}

#[tokio::test]
async fn a_file_that_is_not_open_is_refused_instead_of_having_no_definitions() {
    let tree = tree(&[("a.py", "def f(): ...\n")]);
    let mut session = start(&tree, Mode::Definitions).await;
    let (file, source) = tree.source("a.py");
    let places = [ByteOffset::new(4)];
    let error = session.locate(Question::Definition, &file, &source, &places).await.unwrap_err();
    assert!(matches!(error, LspError::NotOpen { .. }), "{error:?}");
    session.open(&file, &source).await.unwrap();
    let other = SourceText::from_text("def g(): ...\n");
    let error = session.locate(Question::Definition, &file, &other, &places).await.unwrap_err();
    assert!(matches!(error, LspError::OtherText { .. }), "{error:?}");
    let error = session.locate(Question::Definition, &file, &source, &[ByteOffset::new(99)]).await.unwrap_err();
    assert!(matches!(error, LspError::NoSuchPlace { .. }), "{error:?}");
    let error = session.references(&file, &source, ByteOffset::new(4)).await.unwrap_err();
    assert!(matches!(error, LspError::NoIndex), "{error:?}");
    session.close(&file).await.unwrap();
    let error = session.locate(Question::Definition, &file, &source, &places).await.unwrap_err();
    assert!(matches!(error, LspError::NotOpen { .. }), "{error:?}");
}

#[tokio::test]
async fn another_text_of_an_open_file_replaces_the_first() {
    let tree = tree(&[("a.py", "def f(): ...\n\nf()\n")]);
    let mut session = start(&tree, Mode::Definitions).await;
    let (file, source) = tree.source("a.py");
    session.open(&file, &source).await.unwrap();
    let other = SourceText::from_text("def f(): ...\nf()\n");
    session.open(&file, &other).await.unwrap();
    let answers = session.locate(Question::Definition, &file, &other, &[ByteOffset::new(13)]).await.unwrap();
    assert_eq!(answers[0].len(), 1, "{answers:?}");
}

/// Without the barrier of `Session::open`, none of six fresh servers found any of these references: they answer
/// `[]`, and no error.
#[tokio::test]
async fn every_fresh_server_knows_all_references() {
    let mut files = vec![("core.py".to_owned(), "def render(x): ...\n".to_owned())];
    files.extend((0..200).map(|i| (format!("u{i}.py"), "from core import render\nrender(1)\nrender(2)\n".to_owned())));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let tree = tree(&files);
    let (file, source) = tree.source("core.py");
    for attempt in 0..12 {
        let mut session = start(&tree, Mode::References).await;
        let references = session.references(&file, &source, ByteOffset::new(4)).await.unwrap();
        assert_eq!(references.len(), 600, "attempt {attempt}");
        assert!(references.is_sorted());
        session.stop().await;
    }
}

/// pyrefly's own limit leaves out files beyond the first 2,000 without saying so.
#[tokio::test]
async fn references_reach_past_two_thousand_files() {
    let names: Vec<String> = (0..2100).map(|i| format!("u{i}.py")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "from core import render\n")).collect();
    files.push(("core.py", "def render(x): ...\n"));
    let tree = tree(&files);
    let mut session = start(&tree, Mode::References).await;
    let (file, source) = tree.source("core.py");
    assert_eq!(session.references(&file, &source, ByteOffset::new(4)).await.unwrap().len(), 2100);
}

#[tokio::test]
async fn references_see_calls_through_inferred_types() {
    let user = "import core\ndef make():\n    return core.K()\n\ndef g():\n    make().render(1)\n";
    let tree = tree(&[("core.py", "class K:\n    def render(self, x): ...\n"), ("use.py", user)]);
    let mut session = start(&tree, Mode::References).await;
    let (file, source) = tree.source("core.py");
    let references = session.references(&file, &source, places(&source, "render")[0]).await.unwrap();
    assert_eq!(references.len(), 1, "the default mode infers return types, the basic one doesn't: {references:?}");
}

// What follows is scripted: faults.

const QUICK: Limits =
    Limits { start: Duration::from_secs(20), answer: Duration::from_millis(600), index: Duration::from_millis(600) };

/// A server that shakes hands and then does what `on_definition` says with `message`.
const SCRIPT: &str = r#"
import json, os, sys, time
inp, out = sys.stdin.buffer, sys.stdout.buffer
def send(value):
    body = json.dumps(value).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body); out.flush()
def answer(message, result): send({"jsonrpc": "2.0", "id": message["id"], "result": result})
def read():
    length = 0
    while True:
        line = inp.readline()
        if not line: sys.exit(0)
        if line == b"\r\n": break
        if line.lower().startswith(b"content-length"): length = int(line.split(b":")[1])
    return json.loads(inp.read(length))
def on_definition(message):
BODY
while True:
    message = read()
    if message["method"] == "initialize": answer(message, {"capabilities": {}})
    elif message["method"] == "textDocument/definition": on_definition(message)
    elif message["method"] == "shutdown": answer(message, None)
    elif message["method"] == "exit": sys.exit(0)
"#;

async fn scripted(tree: &Tree, body: &str) -> Result<Vec<Vec<Target>>, LspError> {
    let script = SCRIPT.replace("BODY", &format!("    {}", body.replace('\n', "\n    ")));
    let server = Server::other("python3".into(), vec!["-c".to_owned(), script]).with_limits(QUICK);
    let mut session = Session::start(&server, &tree.root).await?;
    let (file, source) = tree.source("a.py");
    session.open(&file, &source).await?;
    let answers = session.locate(Question::Definition, &file, &source, &[ByteOffset::new(0); 40]).await;
    session.stop().await;
    answers
}

fn small_tree() -> Tree {
    tree(&[("a.py", "f()\n")])
}

/// The failure behind the error, what the server said last, and how it ended.
fn server_failure(answer: Result<Vec<Vec<Target>>, LspError>) -> (ClientError, Vec<String>, Option<String>) {
    match answer {
        Err(LspError::Server { source, stderr, status, .. }) => (*source, stderr, status),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_dies_is_told_with_its_last_words() {
    let body =
        "for i in range(30): print('line', i, file=sys.stderr)\nprint('out of cheese', file=sys.stderr)\nsys.exit(7)";
    let (error, stderr, status) = server_failure(scripted(&small_tree(), body).await);
    assert!(matches!(error, ClientError::Closed { method: "textDocument/definition" }), "{error:?}");
    assert_eq!(stderr.len(), 20, "only the last lines are kept");
    assert_eq!(stderr.last().map(String::as_str), Some("out of cheese"));
    assert_eq!(status.as_deref(), Some("exit status: 7"));
}

#[tokio::test]
async fn the_message_holds_program_status_and_last_words() {
    let error = scripted(&small_tree(), "print('why', file=sys.stderr)\nsys.exit(7)").await.unwrap_err();
    let expected = "the language server python3 failed (exit status: 7; its last words: why)";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_an_error_and_is_ended() {
    let (error, stderr, status) = server_failure(scripted(&small_tree(), "print('hm', file=sys.stderr)").await);
    assert!(matches!(error, ClientError::Silent { .. }), "{error:?}");
    assert_eq!((stderr.first().map(String::as_str), status), (Some("hm"), None));
}

#[tokio::test]
async fn garbage_on_stdout_is_an_error() {
    let (error, ..) = server_failure(scripted(&small_tree(), "out.write(b'oops\\n')\nout.flush()").await);
    assert!(matches!(error, ClientError::Framing(FramingError::NotAHeader { .. })), "{error:?}");
    let body = "out.write(b'Content-Length: 3\\r\\n\\r\\n{x}')\nout.flush()";
    let (error, ..) = server_failure(scripted(&small_tree(), body).await);
    assert!(matches!(error, ClientError::Framing(FramingError::NotJson(_))), "{error:?}");
}

#[tokio::test]
async fn half_an_answer_and_an_end_is_an_error() {
    let body = "out.write(b'Content-Length: 300\\r\\n\\r\\n{\"id\"')\nout.flush()\nsys.exit(0)";
    let (error, ..) = server_failure(scripted(&small_tree(), body).await);
    assert!(matches!(error, ClientError::Closed { .. }), "{error:?}");
}

#[tokio::test]
async fn an_error_answer_to_one_question_fails_all_of_them() {
    let body = "send({'jsonrpc': '2.0', 'id': message['id'], 'error': {'code': -32603, 'message': 'boom'}})";
    let (error, ..) = server_failure(scripted(&small_tree(), body).await);
    assert!(matches!(error, ClientError::Refused { code: -32603, .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_of_another_shape_is_an_error() {
    let (error, ..) = server_failure(scripted(&small_tree(), "answer(message, {'uri': 3})").await);
    assert!(matches!(error, ClientError::BadAnswer { .. }), "{error:?}");
}

#[tokio::test]
async fn a_full_stderr_does_not_stop_the_server() {
    let body = "sys.stderr.write('x' * 10000 + '\\n')\nanswer(message, None)";
    assert_eq!(scripted(&small_tree(), body).await.unwrap(), vec![Vec::new(); 40]);
}

#[tokio::test]
async fn a_target_that_is_no_file_is_outside() {
    let body =
        "r = {'line': 0, 'character': 3}\nanswer(message, {'uri': 'untitled:x', 'range': {'start': r, 'end': r}})";
    let answers = scripted(&small_tree(), body).await.unwrap();
    assert_eq!(answers[0][0].file, TargetFile::Outside(PathBuf::from("untitled:x")));
}

#[tokio::test]
async fn a_program_that_is_not_there_cannot_be_started() {
    let tree = small_tree();
    let answer = Session::start(&Server::ty("/nowhere/ty".into()), &tree.root).await;
    assert!(matches!(answer.err(), Some(LspError::Start { .. })));
}

#[tokio::test]
async fn a_program_that_is_no_server_is_an_error() {
    let tree = small_tree();
    let arguments = vec!["-c".to_owned(), "print('hello')".to_owned()];
    let server = Server::other("python3".into(), arguments).with_limits(QUICK);
    let answer = Session::start(&server, &tree.root).await;
    assert!(matches!(answer.err(), Some(LspError::Server { .. })));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_session_takes_its_server_with_it() {
    let tree = small_tree();
    let session = start(&tree, Mode::Definitions).await;
    let id = session.process_id().unwrap();
    let runs = || {
        let stat = std::fs::read(format!("/proc/{id}/stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    assert!(runs());
    drop(session);
    for _ in 0..100 {
        if !runs() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server outlived its session");
}

#[tokio::test]
async fn a_server_that_nobody_measured_is_asked_again_while_it_answers_nothing() {
    let body = "r = {'line': 0, 'character': 0}\nasked = globals().setdefault('asked', []); asked.append(1)\n\
                answer(message, {'uri': 'untitled:x', 'range': {'start': r, 'end': r}} if len(asked) > 80 else None)";
    let answers = scripted(&small_tree(), body).await.unwrap();
    assert!(answers.iter().all(|targets| targets.len() == 1), "two rounds of 40 were empty, and the third wasn't");
}

#[tokio::test]
async fn a_server_that_counts_in_another_unit_is_refused() {
    let tree = small_tree();
    let script = SCRIPT
        .replace("BODY", "    pass")
        .replace("{\"capabilities\": {}}", "{'capabilities': {'positionEncoding': 'utf-8'}}");
    let server = Server::other("python3".into(), vec!["-c".to_owned(), script]).with_limits(QUICK);
    let error = Session::start(&server, &tree.root).await.err();
    assert!(matches!(&error, Some(LspError::Encoding { encoding, .. }) if encoding == "utf-8"), "{error:?}");
}
