//! Edits that need no model: insertions at token borders, which compose with those of calls inside.
//!
//! The layout of a call is kept: one line stays one line, one argument per line stays so, a trailing comma
//! and the comments stay where they are. What can't be told from the text alone is left to a person.

use crate::plan::{Assignment, Operation, Reply, SiteKind};
use crate::python::calls::{self, Argument, ArgumentKind, Call, Parameters};
use crate::python::{Interpolated, InterpolatedKind, unreadable_before_312};
use crate::text::{ByteSpan, Edit, EditSet};

use crate::editor::instruction::Spared;

/// Carries out the assignment's operation.
pub(in crate::editor) fn reply(assignment: &Assignment, spared: &Spared) -> Reply {
    let Some(Operation::AddKeyword { name, value }) = &assignment.operation else {
        return left("the instruction is none that rules can carry out");
    };
    let call = match settle(assignment, spared) {
        Ok(call) => call,
        Err(reply) => return *reply,
    };
    let keyword = format!("{name}={value}");
    let edits = insertion(&assignment.region, &call, &keyword);
    let after = EditSet::new(edits.clone()).and_then(|edits| edits.apply_to(&assignment.region));
    if let Some(reason) = after.ok().and_then(|after| unreadable(assignment, &after)) {
        return left(reason);
    }
    Reply::Edits { edits, rationale: format!("added `{keyword}`"), unchecked: unseen(assignment, &call, name) }
}

/// The call to edit, or the reply that needs no edit: already so, or left to a person. A model is asked
/// only about what this lets through.
pub(in crate::editor) fn settle(assignment: &Assignment, spared: &Spared) -> Result<Call, Box<Reply>> {
    let Some(Operation::AddKeyword { name, value }) = &assignment.operation else {
        return Err(Box::new(left("the instruction is none that rules can carry out")));
    };
    let leave = |reason: String| Err(Box::new(left(reason)));
    if let Some(reason) = other_kind(assignment.kind) {
        return leave(reason.to_owned());
    }
    if let Some(reason) = spared_by_task(assignment, spared) {
        return leave(reason);
    }
    let call = match calls::call_in_expression(&assignment.region, assignment.name) {
        Ok(Some(call)) => call,
        Ok(None) if assignment.kind == SiteKind::Decorator => {
            return leave("a decorator without arguments: calling it may mean something else".to_owned());
        }
        Ok(None) => return leave("the name isn't called here".to_owned()),
        Err(failure) => return leave(format!("the region is no expression ({failure})")),
    };
    if let Some(reply) = passed(assignment, &call, name, value) {
        return Err(Box::new(reply));
    }
    match shown_text(&assignment.strings).or_else(|| shown_text(&call.strings)) {
        Some(reason) => leave(reason.to_owned()),
        None => Ok(call),
    }
}

fn left(reason: impl Into<String>) -> Reply {
    Reply::Left { reason: reason.into() }
}

/// Why a reference of this kind has no argument list.
const fn other_kind(kind: SiteKind) -> Option<&'static str> {
    match kind {
        SiteKind::Call | SiteKind::Decorator => None,
        SiteKind::Value => Some("passed as a value: whoever calls it chooses the arguments"),
        SiteKind::Annotation | SiteKind::TypeComment => Some("an annotation, not a call"),
        SiteKind::Base => Some("a base class, not a call"),
        SiteKind::AttributeAssignment => Some("an assignment to an attribute, not a call"),
        SiteKind::Import | SiteKind::ReExport => Some("an import, not a call"),
        SiteKind::String => Some("a string, not a call"),
        SiteKind::KeywordLabel => Some("the label of an argument, not a call"),
        SiteKind::Key => Some("a key, not a call"),
        SiteKind::Export | SiteKind::Slot => Some("a string in a list of names, not a call"),
        SiteKind::ScopeDeclaration => Some("a `global` or `nonlocal` statement, not a call"),
        SiteKind::Cell => Some("a cell of a notebook, which no type checker reads: edit it by hand"),
        SiteKind::Doctest => Some("an example in a docstring, which no type checker reads: edit it by hand"),
        SiteKind::Accessor => Some("the accessor of a property, not a call"),
    }
}

/// Whether the site stands in a definition that the task says not to touch.
fn spared_by_task(assignment: &Assignment, spared: &Spared) -> Option<String> {
    let enclosing: Vec<&str> = assignment.enclosing.split('.').collect();
    let inside = |name: &&String| {
        let parts: Vec<&str> = name.split('.').collect();
        let fits = |(part, component): (&&str, &&str)| {
            part.strip_suffix('*').map_or_else(|| component == part, |prefix| component.starts_with(prefix))
        };
        enclosing.windows(parts.len()).any(|window| parts.iter().zip(window).all(fits))
    };
    if let Some(name) = spared.names.iter().find(inside) {
        return Some(format!("inside `{name}`, which the task says not to touch"));
    }
    let symbol: Vec<&str> = assignment.symbol.split('.').collect();
    (spared.definition && enclosing.starts_with(&symbol))
        .then(|| format!("inside the definition of `{}`, which the task says not to touch", assignment.symbol))
}

/// The reply where the call passes the argument already, in whatever way.
fn passed(assignment: &Assignment, call: &Call, name: &str, value: &str) -> Option<Reply> {
    for argument in &call.arguments {
        match &argument.kind {
            ArgumentKind::Keyword(key) if key == name => {
                let same = calls::keyword_value(value).is_ok_and(|wanted| wanted == argument.form);
                let written = slice(&assignment.region, argument.span);
                return Some(if same {
                    Reply::Already { reason: format!("passes `{written}` already") }
                } else {
                    left(format!("passes `{written}` already, another value"))
                });
            }
            ArgumentKind::DoubleStarred(Some(keys)) if keys.iter().any(|key| key == name) => {
                return Some(left(format!("passes `{name}` already, in a dictionary")));
            }
            ArgumentKind::Keyword(_)
            | ArgumentKind::DoubleStarred(_)
            | ArgumentKind::Positional
            | ArgumentKind::Starred
            | ArgumentKind::BareGenerator => {}
        }
    }
    let starred_at = positional(call).position(|argument| argument.kind == ArgumentKind::Starred);
    let Some(parameters) = assignment.signature.as_deref().and_then(calls::parameters) else {
        return starred_at.map(|_| left(format!("`*` may pass `{name}` already: the signature isn't known")));
    };
    let skipped = usize::from(binds_first(assignment, call, &parameters));
    let place = parameters.positional.iter().skip(skipped).position(|parameter| parameter.name == name)?;
    if parameters.positional.get(place + skipped).is_some_and(|parameter| parameter.positional_only) {
        return Some(left(format!("`{name}` can only be passed by position")));
    }
    if starred_at.is_some_and(|at| at <= place) {
        return Some(left(format!("`*` may pass `{name}` already, by position")));
    }
    positional(call).nth(place).map(|argument| {
        left(format!("passes `{name}` already, by position: `{}`", slice(&assignment.region, argument.span)))
    })
}

pub(in crate::editor) fn positional(call: &Call) -> impl Iterator<Item = &Argument> {
    call.arguments.iter().filter(|argument| match argument.kind {
        ArgumentKind::Positional | ArgumentKind::Starred | ArgumentKind::BareGenerator => true,
        ArgumentKind::Keyword(_) | ArgumentKind::DoubleStarred(_) => false,
    })
}

/// Whether the call fills the first parameter by itself: a method called on an instance or a class method,
/// but not `Class.method(instance, …)`.
pub(in crate::editor) fn binds_first(assignment: &Assignment, call: &Call, parameters: &Parameters) -> bool {
    let class = assignment.symbol.rsplit('.').nth(1);
    match parameters.positional.first().map(|parameter| parameter.name.as_str()) {
        Some("cls" | "mcs" | "mcls") => true,
        Some("self") => call.receiver.is_none() || call.receiver.as_deref() != class,
        _ => false,
    }
}

/// Why nothing is edited in these strings: a field such as `{f(1)=}` shows its own text.
pub(crate) fn shown_text(strings: &[Interpolated]) -> Option<&'static str> {
    let shows = strings.iter().any(|string| string.shows_itself);
    shows.then_some(
        "inside a field such as `{…=}`, which shows its own text: the edit would change what the program prints",
    )
}

/// Why the new text of the region can't stand in the strings around it, or in those that it holds itself.
pub(in crate::editor) fn unreadable(assignment: &Assignment, new_text: &str) -> Option<String> {
    if assignment.nests_strings {
        return None;
    }
    let what = unreadable_before_312(&assignment.strings, &assignment.region, new_text)?;
    Some(format!("inside an f-string, which can't hold {what} before Python 3.12"))
}

/// What the type checker can't see: a dictionary that may hold the key, a string that keeps the text.
pub(in crate::editor) fn unseen(assignment: &Assignment, call: &Call, name: &str) -> Option<String> {
    let unknown = |argument: &Argument| argument.kind == ArgumentKind::DoubleStarred(None);
    if call.arguments.iter().any(unknown) {
        return Some(format!("`**` may hold `{name}` already, which fails at run time"));
    }
    kept_text(&assignment.strings).or_else(|| kept_text(&call.strings)).map(str::to_owned)
}

/// What is to be said of an edit in a t-string, which the program can ask for the text of each field.
pub(in crate::editor) fn kept_text(strings: &[Interpolated]) -> Option<&'static str> {
    let keeps = strings.iter().any(|string| string.kind == InterpolatedKind::TString);
    keeps.then_some("a t-string keeps the text of its fields, and the program may use it")
}

/// The edits that add one keyword argument.
pub(in crate::editor) fn insertion(region: &str, call: &Call, keyword: &str) -> Vec<Edit> {
    let Some(last) = call.arguments.last() else { return vec![first_argument(region, call, keyword)] };
    let double_starred = |argument: &&Argument| matches!(argument.kind, ArgumentKind::DoubleStarred(_));
    if let Some(dictionary) = call.arguments.iter().find(double_starred) {
        return vec![before_dictionary(region, call, dictionary, keyword)];
    }
    let (start, end) = (last.span.start().get(), last.span.end().get());
    // A bare generator gets its parentheses.
    let is_bare = last.kind == ArgumentKind::BareGenerator;
    let mut edits = if is_bare { vec![Edit::insert(start, "(")] } else { Vec::new() };
    let close = if is_bare { ")" } else { "" };
    let Some((newline, indent)) = line_break_before(region, start) else {
        edits.push(Edit::insert(end, format!("{close}, {keyword}")));
        return edits;
    };
    if let Some(comma) = call.trailing_comma {
        let at = end_of_remark(region, call, comma.end().get());
        edits.push(Edit::insert(at, format!("{newline}{indent}{keyword},")));
        return edits;
    }
    match end_of_remark(region, call, end) {
        at if at == end => edits.push(Edit::insert(end, format!("{close},{newline}{indent}{keyword}"))),
        at => edits
            .extend([Edit::insert(end, format!("{close},")), Edit::insert(at, format!("{newline}{indent}{keyword}"))]),
    }
    edits
}

/// In a call without arguments; below a comment that has a line of its own.
fn first_argument(region: &str, call: &Call, keyword: &str) -> Edit {
    let inside = ByteSpan::new(call.parentheses.start().get() + 1, call.parentheses.end().get() - 1);
    let Some(comment) = call.comments.last() else { return Edit::replace(inside, keyword) };
    match line_break_before(region, comment.start().get()) {
        Some((newline, indent)) => Edit::insert(comment.end().get(), format!("{newline}{indent}{keyword},")),
        None => Edit::insert(inside.start().get(), keyword),
    }
}

/// Before the first dictionary, and before the comments above it, which are about it.
fn before_dictionary(region: &str, call: &Call, dictionary: &Argument, keyword: &str) -> Edit {
    let mut at = dictionary.span.start().get();
    let Some((newline, _)) = line_break_before(region, at) else { return Edit::insert(at, format!("{keyword}, ")) };
    let is_above = |comment: &&ByteSpan, at: usize| {
        let gap = region.get(comment.end().get()..at).unwrap_or_default();
        !gap.is_empty() && gap.trim().is_empty() && line_break_before(region, comment.start().get()).is_some()
    };
    while let Some(above) = call.comments.iter().find(|comment| is_above(comment, at)) {
        at = above.start().get();
    }
    let indent = line_break_before(region, at).map_or("", |(_, indent)| indent);
    Edit::insert(at, format!("{keyword},{newline}{indent}"))
}

/// The line ending and the indentation before `at`, where nothing but white space stands before it on its line.
fn line_break_before(region: &str, at: usize) -> Option<(String, &str)> {
    let before = region.get(..at)?;
    let line = before.rfind(['\n', '\r'])? + 1;
    let indent = before.get(line..)?;
    let newline = if before.get(..line)?.ends_with("\r\n") { "\r\n" } else { before.get(line - 1..line)? };
    indent.chars().all(char::is_whitespace).then(|| (newline.to_owned(), indent))
}

/// The end of a comment that follows `at` on the same line; `at` where there is none.
fn end_of_remark(region: &str, call: &Call, at: usize) -> usize {
    let follows = |comment: &&ByteSpan| {
        region.get(at..comment.start().get()).is_some_and(|gap| gap.chars().all(|c| c == ' ' || c == '\t'))
    };
    call.comments.iter().find(follows).map_or(at, |comment| comment.end().get())
}

fn slice(text: &str, span: ByteSpan) -> &str {
    text.get(span.range()).unwrap_or_default()
}

#[cfg(test)]
pub(in crate::editor) mod tests {
    use super::*;

    /// An assignment about the last `f` before a parenthesis in `region`, or about the first `f`.
    pub(in crate::editor) fn assignment(region: &str, keyword: &str, signature: Option<&str>) -> Assignment {
        let at = region.find("f(").or_else(|| region.find('f')).unwrap();
        let (name, value) = keyword.split_once('=').unwrap();
        Assignment {
            instruction: String::new(),
            operation: Some(Operation::AddKeyword { name: name.to_owned(), value: value.to_owned() }),
            symbol: "core.f".to_owned(),
            kind: SiteKind::Call,
            region: region.to_owned(),
            name: ByteSpan::new(at, at + 1),
            enclosing: "views.page".to_owned(),
            signature: signature.map(str::to_owned),
            strings: Vec::new(),
            nests_strings: false,
            settled: Vec::new(),
            context: None,
            feedback: Vec::new(),
            attempt: 0,
        }
    }

    fn applied(reply: &Reply, region: &str) -> String {
        let Reply::Edits { edits, .. } = reply else { panic!("{region}: {reply:?}") };
        EditSet::new(edits.clone()).unwrap().apply_to(region).unwrap()
    }

    fn check(region: &str, expected: &str) {
        let given = assignment(region, "v=True", Some("(a=0, b=0, *, v=False)"));
        let new_text = applied(&reply(&given, &Spared::default()), region);
        assert_eq!(new_text, expected);
        assert!(crate::editor::verify::verify(&given, &new_text).is_ok(), "{new_text}");
    }

    fn check_left(given: &Assignment, part: &str) {
        let got = reply(given, &Spared::default());
        let Reply::Left { reason } = &got else { panic!("{}: {got:?}", given.region) };
        assert!(reason.contains(part), "{}: {reason}", given.region);
    }

    #[test]
    fn a_keyword_goes_behind_the_last_argument() {
        check("f(1)", "f(1, v=True)");
        check("f((1))", "f((1), v=True)");
        check("f({'a': 1}, b=2)", "f({'a': 1}, b=2, v=True)");
        check("f(a)  ", "f(a, v=True)  ");
        check("x.f(1)", "x.f(1, v=True)");
        check("f(*args)", "f(*args, v=True)");
        check("f(\"é😀\")", "f(\"é😀\", v=True)");
    }

    #[test]
    fn a_call_without_arguments_gets_its_first() {
        check("f()", "f(v=True)");
        check("f( )", "f(v=True)");
        check("f(  # why\n)", "f(v=True  # why\n)");
        check("f(\n)", "f(v=True)");
        check("f(\n    # nothing yet\n)", "f(\n    # nothing yet\n    v=True,\n)");
        check("f(  # why\n    # nothing yet\n)", "f(  # why\n    # nothing yet\n    v=True,\n)");
        check("f(\r\n\t# one\r\n\t# two\r\n)", "f(\r\n\t# one\r\n\t# two\r\n\tv=True,\r\n)");
    }

    #[test]
    fn a_trailing_comma_stays() {
        check("f(1,)", "f(1, v=True,)");
        check("f(1, )", "f(1, v=True, )");
        check("f(\n    1, 2,\n)", "f(\n    1, 2, v=True,\n)");
    }

    #[test]
    fn one_argument_per_line_stays_so() {
        check("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    v=True,\n)");
        check("f(\n\ta,\n\tb\n)", "f(\n\ta,\n\tb,\n\tv=True\n)");
        check("f(a,\n  b)", "f(a,\n  b,\n  v=True)");
        check("f(\r\n    a,\r\n)", "f(\r\n    a,\r\n    v=True,\r\n)");
        check("f(\r    a,\r)", "f(\r    a,\r    v=True,\r)");
        check("f({\n    1: 2,\n})", "f({\n    1: 2,\n}, v=True)");
        check(
            "f(\n    a,\n    {\n        1: 2,\n    },\n)",
            "f(\n    a,\n    {\n        1: 2,\n    },\n    v=True,\n)",
        );
    }

    #[test]
    fn comments_stay_with_their_arguments() {
        check("f(\n    a,  # one\n    b,  # two\n)", "f(\n    a,  # one\n    b,  # two\n    v=True,\n)");
        check("f(\n    a,  # one\n    b  # two\n)", "f(\n    a,  # one\n    b,  # two\n    v=True\n)");
        check("f(a  # why\n)", "f(a, v=True  # why\n)");
        check("f(\n    a,\n    # last\n)", "f(\n    a,\n    v=True,\n    # last\n)");
        check("f(\n    a  # why\n    ,\n)", "f(\n    a  # why\n    ,\n    v=True,\n)");
        check("f(a, b,  # why\n)", "f(a, b, v=True,  # why\n)");
        check("f(\n    a\n    # last\n)", "f(\n    a,\n    v=True\n    # last\n)");
        check(
            "f(\n    a,  # one\n    # the rest\n    # of it\n    **k,  # two\n)",
            "f(\n    a,  # one\n    v=True,\n    # the rest\n    # of it\n    **k,  # two\n)",
        );
        check("f(\n    # the rest\n    **k\n)", "f(\n    v=True,\n    # the rest\n    **k\n)");
        check("f(a, # one\n  **k)", "f(a, # one\n  v=True,\n  **k)");
    }

    #[test]
    fn stars_and_continued_lines_are_minded() {
        check("f(*a, **k)", "f(*a, v=True, **k)");
        check("f(**j, b=1, **k)", "f(v=True, **j, b=1, **k)");
        check("f(b=1, *a)", "f(b=1, *a, v=True)");
        check("f(a, \\\n  b)", "f(a, \\\n  b,\n  v=True)");
        check("f(\\\n)", "f(v=True)");
        check("f(lambda: a)", "f(lambda: a, v=True)");
        check("f(b := 1)", "f(b := 1, v=True)");
        check("f(\"a\"\n  \"b\")", "f(\"a\"\n  \"b\", v=True)");
    }

    #[test]
    fn a_keyword_goes_before_a_dictionary_and_stays_unchecked() {
        check("f(1, **kw)", "f(1, v=True, **kw)");
        check("f(**kw, b=1)", "f(v=True, **kw, b=1)");
        check("f(\n    1,\n    **kw,\n)", "f(\n    1,\n    v=True,\n    **kw,\n)");
        for (region, flagged) in [("f(**kw)", true), ("f(**{'a': 1})", false), ("f(a=1)", false)] {
            let reply = reply(&assignment(region, "v=True", None), &Spared::default());
            assert!(matches!(reply, Reply::Edits { unchecked, .. } if unchecked.is_some() == flagged), "{region}");
        }
    }

    #[test]
    fn a_bare_generator_gets_its_parentheses() {
        check("f(x for x in y)", "f((x for x in y), v=True)");
        check("f( (x) for x in (y) )", "f( ((x) for x in (y)), v=True )");
        check("f((x for x in y))", "f((x for x in y), v=True)");
        check("f(x for x in y  # all\n)", "f((x for x in y), v=True  # all\n)");
        check("f(\n    x\n    for x in y\n)", "f(\n    (x\n    for x in y),\n    v=True\n)");
        check(
            "f(\n    x  # each\n    for x in y  # all\n)",
            "f(\n    (x  # each\n    for x in y),  # all\n    v=True\n)",
        );
    }

    #[test]
    fn edits_of_nested_calls_compose() {
        for (text, expected) in [
            ("f(f(1))", "f(f(1, v=True), v=True)"),
            ("f(f())", "f(f(v=True), v=True)"),
            ("f(f(x) for x in f(y))", "f((f(x, v=True) for x in f(y, v=True)), v=True)"),
            ("q.f(a).f(b)", "q.f(a, v=True).f(b, v=True)"),
            ("(q\n  .f(a)  # one\n  .f(\n    b,\n  ))", "(q\n  .f(a, v=True)  # one\n  .f(\n    b,\n    v=True,\n  ))"),
            ("[f(1), f(2)]", "[f(1, v=True), f(2, v=True)]"),
        ] {
            let mut all = EditSet::default();
            for (at, _) in text.match_indices("f(") {
                let call = calls::call_in_module(text, ByteSpan::new(at, at + 1)).unwrap();
                let region = text.get(call.span.range()).unwrap();
                let mut given = assignment(region, "v=True", None);
                given.name = ByteSpan::new(at, at + 1).relative_to(call.span.start());
                let Reply::Edits { edits, .. } = reply(&given, &Spared::default()) else { panic!("{region}") };
                let edits = edits.iter().map(|edit| edit.shifted(call.span.start())).collect();
                all = all.merged(&EditSet::within(call.span, edits).unwrap()).unwrap();
            }
            assert_eq!(all.apply_to(text).unwrap(), expected);
        }
    }

    #[test]
    fn a_decorator_is_edited_where_it_has_arguments() {
        let mut given = assignment("f(1)", "v=True", None);
        given.kind = SiteKind::Decorator;
        assert_eq!(applied(&reply(&given, &Spared::default()), "f(1)"), "f(1, v=True)");
        given.region = "f".to_owned();
        check_left(&given, "decorator without arguments");
    }

    #[test]
    fn the_keyword_with_the_same_value_is_already_so_however_it_is_written() {
        for (region, keyword) in [
            ("f(v=True)", "v=True"),
            ("f(1, v = (True), **k)", "v=True"),
            ("f(v='a')", "v=\"a\""),
            ("f(v={'a':1})", "v={\"a\": 1}"),
        ] {
            let reply = reply(&assignment(region, keyword, None), &Spared::default());
            assert!(matches!(reply, Reply::Already { .. }), "{region}: {reply:?}");
        }
    }

    #[test]
    fn what_is_passed_in_another_way_is_left_to_a_person() {
        let table: &[(&str, Option<&str>, &str)] = &[
            ("f(v=False)", None, "another value"),
            ("f(v=1)", None, "another value"),
            ("f(**{'v': True})", None, "in a dictionary"),
            ("f(1, True)", Some("(a, v=False)"), "by position: `True`"),
            ("f(*args)", Some("(a, v=False)"), "may pass"),
            ("f(1, *args)", Some("(a, v=False)"), "may pass"),
            ("f(1, 2, *args)", Some("(a, v=False)"), "by position"),
            ("f(*args)", None, "signature isn't known"),
            ("f(1)", Some("(a, v=False, /)"), "only be passed by position"),
        ];
        for (region, signature, part) in table {
            check_left(&assignment(region, "v=True", *signature), part);
        }
        let fine = [
            ("f(1)", "(a, v=False)"),
            ("f(1, *args)", "(a, *, v=False)"),
            ("f(1, 2)", "(*a, v=False)"),
            ("f(1, 2)", "(a, b)"),
        ];
        for (region, signature) in fine {
            let reply = reply(&assignment(region, "v=True", Some(signature)), &Spared::default());
            assert!(matches!(reply, Reply::Edits { .. }), "{region} {signature}: {reply:?}");
        }
    }

    #[test]
    fn a_method_call_fills_self_by_itself() {
        let with = |region: &str, signature: &str| {
            let mut given = assignment(region, "v=True", Some(signature));
            given.symbol = "core.K.f".to_owned();
            matches!(reply(&given, &Spared::default()), Reply::Edits { .. })
        };
        assert!(with("k.f(1)", "(self, a, v=False)"));
        assert!(!with("k.f(1, 2)", "(self, a, v=False)"));
        assert!(with("K.f(k, 1)", "(self, a, v=False)"));
        assert!(!with("K.f(k, 1, 2)", "(self, a, v=False)"));
        assert!(!with("K.f(1, 2)", "(cls, a, v=False)"));
        assert!(with("K.f(1)", "(a, v=False)"));
    }

    #[test]
    fn a_reference_that_is_no_call_is_left_with_its_reason() {
        for (kind, part) in
            [(SiteKind::Value, "passed as a value"), (SiteKind::Base, "base class"), (SiteKind::String, "string")]
        {
            let mut given = assignment("f", "v=True", None);
            given.kind = kind;
            check_left(&given, part);
        }
    }

    pub(in crate::editor) fn string(quote: &str) -> Interpolated {
        Interpolated { quote: quote.to_owned(), kind: InterpolatedKind::FString, shows_itself: false }
    }

    #[test]
    fn a_value_that_an_f_string_cannot_hold_is_left_to_a_person() {
        let mut given = assignment("f(x)", "v='a'", None);
        given.strings = vec![string("'")];
        check_left(&given, "can't hold its own quotes before Python 3.12");
        given.nests_strings = true;
        assert_eq!(applied(&reply(&given, &Spared::default()), "f(x)"), "f(x, v='a')");
        given.nests_strings = false;
        for quote in ["\"", "'''", "\"\"\""] {
            given.strings = vec![string(quote)];
            assert_eq!(applied(&reply(&given, &Spared::default()), "f(x)"), "f(x, v='a')");
        }
        let mut inner = assignment("g(f\"{f(x)}\")", "v=\"a\"", None);
        inner.name = ByteSpan::new(5, 6);
        check_left(&inner, "f-string");
    }

    #[test]
    fn a_field_that_shows_its_own_text_is_left_and_one_that_keeps_it_is_unchecked() {
        let mut given = assignment("f(x)", "v=1", None);
        given.strings = vec![Interpolated { shows_itself: true, ..string("'") }];
        check_left(&given, "shows its own text");
        given.region = "f(x, v=1)".to_owned();
        assert!(matches!(reply(&given, &Spared::default()), Reply::Already { .. }));
        let mut given = assignment("f(x)", "v=1", None);
        given.strings = vec![Interpolated { kind: InterpolatedKind::TString, ..string("'") }];
        assert!(matches!(reply(&given, &Spared::default()), Reply::Edits { unchecked: Some(_), .. }));
    }

    #[test]
    fn definitions_that_the_task_spares_are_left() {
        let spare =
            |names: &[&str], definition| Spared { names: names.iter().map(|&n| n.to_owned()).collect(), definition };
        let given =
            |enclosing: &str| Assignment { enclosing: enclosing.to_owned(), ..assignment("f(1)", "v=True", None) };
        let is_left = |enclosing: &str, spared: &Spared| matches!(reply(&given(enclosing), spared), Reply::Left { .. });
        assert!(is_left("views.page", &spare(&["page"], false)));
        assert!(is_left("views.K.page.<locals>.x", &spare(&["K.page"], false)));
        assert!(is_left("views.f_old", &spare(&["f_*"], false)));
        assert!(!is_left("views.page", &spare(&["pag", "f_*", "K.page"], true)));
        assert!(is_left("core.f", &spare(&[], true)) && !is_left("core.f2", &spare(&[], true)));
    }
}
