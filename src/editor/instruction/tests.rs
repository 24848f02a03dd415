use super::*;

const D4: &str = "`render_report` already accepts a `verbose: bool = False` parameter. Update every call site to pass `verbose=True`.

Find all places in the codebase that call `render_report(...)` and add `verbose=True` to each call.

**Constraints:**
- Do NOT modify `render_report_legacy`, `render_report_cached`, or any other `render_report_*` variants — those are unrelated functions.
- Only update true call sites of `render_report` itself.
";

const D7: &str = "Update every call site of `format_output` to pass `truncate=True`.

The function `format_output` in `formatter.py` now accepts a `truncate` parameter (default: `False`). Find all call sites and update them to pass `truncate=True`.

Constraints: Only update actual call sites (not comments, string literals, type aliases, or method names). Do not modify the function definition itself.

Why grep cannot solve this: Grep for `format_output` finds the true call sites, the definition, the legacy function `format_output_legacy`, the method `OutputFormatter.format_output` (different symbol), a TODO comment, string constants in types.py, a type alias `FormatOutput`, and import statements. Only a type-aware tool can distinguish the actual call sites.
";

fn read(prose: &str, symbol: &str) -> Result<Understood, Refusal> {
    understand(None, prose, &SymbolPath::parse(symbol).unwrap())
}

fn check(prose: &str, operation: &str) {
    let got = read(prose, "core.f").map(|u| u.operation.to_string());
    assert_eq!(got.as_deref(), Ok(operation), "{prose}");
}

/// The task is refused, and the sentence that stands in the way is quoted.
fn refused(prose: &str, quoted: &str) {
    match read(prose, "core.f") {
        Err(
            Refusal::Limits { sentence, .. }
            | Refusal::NotUnderstood { sentence, .. }
            | Refusal::Differs { sentence, .. },
        ) => assert!(sentence.contains(quoted), "{prose}: quoted {sentence:?}"),
        other => panic!("{prose}: {other:?}"),
    }
}

#[test]
fn the_task_of_d4_is_understood() {
    let understood = read(D4, "core.render_report").unwrap();
    assert_eq!(understood.operation.to_string(), "add-keyword verbose=True");
    let spared: Vec<_> = understood.spared.names.iter().map(String::as_str).collect();
    assert_eq!(spared, ["render_report_*", "render_report_cached", "render_report_legacy"]);
    assert!(!understood.spared.definition);
}

#[test]
fn the_task_of_d7_is_understood() {
    let understood = read(D7, "formatter.format_output").unwrap();
    assert_eq!(understood.operation.to_string(), "add-keyword truncate=True");
    assert!(understood.spared.definition);
}

#[test]
fn the_same_tasks_with_other_names_are_understood() {
    let d4 = D4.replace("render_report", "draw").replace("verbose", "loud");
    assert_eq!(read(&d4, "paint.draw").unwrap().operation.to_string(), "add-keyword loud=True");
    let d7 = D7.replace("format_output", "emit").replace("truncate", "cut").replace("formatter.py", "x/emitter.py");
    assert_eq!(read(&d7, "x.emitter.emit").unwrap().operation.to_string(), "add-keyword cut=True");
}

#[test]
fn different_wordings_of_one_operation_are_understood() {
    for prose in [
        "pass `x=1`",
        "Pass x=1.",
        "Pass `x=1` to `f`.",
        "Pass `x=1` in every call of `core.f`.",
        "add the keyword argument `x=1` to every call",
        "Add `x=1` to all calls to `f` throughout the codebase.",
        "every caller must now supply `x=1`",
        "Every caller of `f` must now supply x=1.",
        "set `x=1` at all call sites",
        "Set `x` to `1` at all call sites.",
        "Please update each call to the function `f` so that it passes `x=1`.",
        "Ensure that all callers of `f` pass `x=1`.",
        "Make every call pass `x=1` explicitly.",
        "`x=1` must be passed at every call site of `f`.",
        "Always call `f` with `x=1`.",
        "`f` must always be called with `x=1`.",
        "Wherever `f` is called, pass `x=1`.",
        "Go through all call sites of `f` and add `x=1` as a keyword argument.",
        "We need to pass `1` for `x` everywhere.",
        "# Pass `x=1`\n\nUpdate all call sites of `f()` to include `x=1`. Do not change any other arguments.",
        "`f` now requires an `x` argument. All calls need `x=1`.",
        "All callers should pass `x=1`; leave `g` and `h_*` alone.",
        "Pass `x=1` everywhere, but do not touch `f_old`. The tests must still pass.",
        "Add `x=1` to each call.\n\n```python\nf(a, b)\nf(a, b, x=1)\n```\n",
        "Signature:\n```python\ndef f(a, x=0): ...\n```\nAll calls must pass `x=1`.",
        "1. Find every call to `f`.\n2. Add `x=1` to it.",
    ] {
        check(prose, "add-keyword x=1");
    }
}

#[test]
fn any_python_value_can_be_passed() {
    for value in [
        "'a, b'",
        "\"x (y)\"",
        "-1",
        "None",
        "3.5",
        "a.b.C",
        "g(1, k=[2, 3])",
        "[1, 2]",
        "{\"k\": (1, 2)}",
        "lambda: 0",
        "b\"x\"",
        "not x",
        "(1, 2)",
        "a if b else c",
    ] {
        check(&format!("Update every call site of `f` to pass `x={value}`."), &format!("add-keyword x={value}"));
    }
    check("Every call to `f` must pass x=g(1, k=[2]).", "add-keyword x=g(1, k=[2])");
    check("Pass x='a. b' at every call site.", "add-keyword x='a. b'");
}

#[test]
fn a_sentence_that_limits_or_varies_the_edit_is_quoted_and_never_guessed_at() {
    for (prose, quoted) in [
        ("Pass `x=1`, only when the first argument is a dict.", "only when"),
        ("Pass `x=1` at every call site except in tests.", "except in tests"),
        ("Add `x=1` to every call. Do not pass it in `views.py`.", "Do not pass"),
        ("Add `x=1` to every call unless `y` is given.", "unless"),
        ("Pass `x=1` and `y=2` at every call site.", "`y=2`"),
        ("Pass `x=1` at every call site. In tests, pass `x=2`.", "In tests"),
        ("Pass `x=1` everywhere. Use `x=2` for the handlers.", "for the handlers"),
        ("Pass `x=1` in views.py only.", "views.py only"),
        ("Pass `x=1` for the handlers only.", "handlers only"),
        ("If the call is in a loop, pass `x=1`.", "If the call"),
        ("Update every call site of `f` to pass `x=1` where it returns a string.", "where it returns"),
        ("Update every call that has two arguments to pass `x=1`.", "two arguments"),
        ("Update all calls in `views.py` to pass `x=1`.", "views.py"),
        ("Pass `x=1` in tests. ", "in tests"),
        ("Every caller must pass `x=1`. Every caller must pass `x=2`.", "x=2"),
        ("Pass `x=1` in the first three calls.", "first three"),
        ("Update some calls of `f` to pass `x=1`.", "some"),
        ("Add `x=1` to every call. Skip generated code.", "Skip"),
        ("Add `x=1` to every call. Do not modify `tests/`.", "tests/"),
        ("Add `x=1` to every call. Do not modify `views.py` or `g`.", "views.py"),
        ("Add `x=1` to every call of `other`.", "other"),
        ("Add `x=1` to every call of `f` and `g`.", "`g`"),
        ("Pass `x=1` instead of `y`.", "instead of"),
        ("Pass `x=1` after the last positional argument, but not to methods.", "not to methods"),
        ("Add a parameter `x=1` to `f`.", "parameter"),
        ("Add `x=1` to the function.", "to the function"),
        ("Change the signature of `f` to take `x=1`.", "signature"),
        ("## Handlers\n\nEvery call must pass `x=1`.", "Handlers"),
        ("Rename `f` to `g`. Pass `x=1`.", "Rename"),
        ("Pass `x=1`. Remove the `y` argument.", "Remove"),
        ("Pass `x=1` to each call.\n```python\nf(a, x=1, y=2)\n```", "y=2"),
        ("Pass `x=1` to each call.\n```python\nif debug:\n    f(a, x=1)\n```", "if debug"),
        ("Do not pass `x=1`.", "Do not pass"),
        ("Never pass `x=1` to `f`.", "Never"),
        ("Do not modify `g` and pass `x=1`.", "Do not modify"),
        ("Callers that need speed must pass `x=1`.", "need speed"),
        ("Only update call sites in handlers. Pass `x=1`.", "in handlers"),
        ("Pass `x=1`. Grep for `f` finds calls in tests which are out of scope.", "out of scope"),
        ("Pass `x=1`. Do not modify methods.", "methods"),
        ("Only update direct calls. Pass `x=1`.", "direct"),
        ("Pass `x=1` by keyword, or by position where possible.", "where possible"),
    ] {
        refused(prose, quoted);
    }
}

#[test]
fn a_refusal_names_the_line() {
    let refusal = read("Pass `x=1`\nto every call.\n\n- Leave\n  tests out.\n", "core.f").unwrap_err();
    assert_eq!(refusal, Refusal::Limits { sentence: "Leave tests out.".to_owned(), line: 4 });
}

#[test]
fn a_prose_that_asks_for_nothing_is_refused() {
    assert_eq!(read("", "core.f"), Err(Refusal::NothingAsked));
    assert_eq!(read("Update every call site of `f`.", "core.f"), Err(Refusal::NothingAsked));
}

#[test]
fn an_explicit_operation_needs_no_prose_and_bears_any_that_does_not_limit_it() {
    let symbol = SymbolPath::parse("core.f").unwrap();
    let with = |prose: &str| understand(Some("add-keyword x=1"), prose, &symbol);
    assert!(with("").is_ok() && with("We are moving to a louder world, step by step.").is_ok());
    assert!(matches!(with("Pass `x=2` to every call."), Err(Refusal::Differs { .. })));
    assert!(matches!(with("We are moving, but only in the views."), Err(Refusal::Limits { .. })));
    for bad in [
        "add-keyword",
        "add-keyword x",
        "add-keyword x=",
        "add-keyword x=1, y=2",
        "add x=1",
        "add-keyword 1=x",
        "addkeyword x=1",
    ] {
        assert!(matches!(parse_operation(bad), Err(Refusal::BadOperation { .. })), "{bad}");
    }
}

#[test]
fn a_symbol_written_without_quotes_is_known_by_its_spelling() {
    let ok = read("Update every call site of render_report to pass verbose=True.", "core.render_report");
    assert_eq!(ok.unwrap().operation.to_string(), "add-keyword verbose=True");
    let class = read("Every call of Widget must pass `x=1`.", "ui.Widget");
    assert_eq!(class.unwrap().operation.to_string(), "add-keyword x=1");
    assert!(read("Pass `x=1` to render_report_old.", "core.render_report").is_err());
    assert!(read("Update every call site of `Other.f` to pass `x=1`.", "core.f").is_err());
}

#[test]
fn a_word_of_the_language_is_no_argument() {
    let reserved = |got: Result<Understood, Refusal>, word: &str| match got {
        Err(Refusal::Reserved { name, .. }) => assert_eq!(name, word),
        other => panic!("{word}: {other:?}"),
    };
    for word in ["class", "None", "lambda", "__debug__"] {
        reserved(read(&format!("Pass `{word}=1` to every call of `f`."), "core.f"), word);
        let symbol = SymbolPath::parse("core.f").unwrap();
        reserved(understand(Some(&format!("add-keyword {word}=1")), "", &symbol), word);
    }
    check("pass `type=1`", "add-keyword type=1");
    check("pass `match=1`", "add-keyword match=1");
}
