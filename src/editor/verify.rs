//! Is a proposed text what was asked, before any type checker sees it? Never a matter of trust: an unchanged
//! call, a dropped argument and a call of something else all type-check.

use crate::plan::{Assignment, Operation, Reply};
use crate::python::calls::{self, Argument, ArgumentKind, Call};
use crate::text::{ByteSpan, EditSet};

use super::Spared;
use super::author::rules;

/// Why a text can't be the region's new text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Objection {
    #[error("the new text is not one Python expression: {message}")]
    NotAnExpression { message: String },
    #[error("the new text breaks over lines where the old one doesn't")]
    BrokenOverLines,
    #[error("nothing was changed")]
    Unchanged,
    #[error("the new text is {after}, the old one {before}")]
    OtherKind { before: String, after: String },
    #[error("something around the call was changed")]
    AroundTheCall,
    #[error("the callee was changed from `{before}` to `{after}`")]
    OtherCallee { before: String, after: String },
    #[error("the argument `{argument}` was changed, moved or dropped")]
    ArgumentLost { argument: String },
    #[error("the argument `{argument}` was added and not asked for")]
    ArgumentAdded { argument: String },
    #[error("the call doesn't pass `{keyword}`")]
    GoalMissed { keyword: String },
    #[error("the call passes `{found}` and not `{wanted}`")]
    OtherValue { found: String, wanted: String },
    #[error("a comment was added, changed or dropped")]
    Comments,
    #[error("`{text}` was settled before and came back changed")]
    Settled { text: String },
    #[error("{reason}")]
    Unreadable { reason: String },
}

/// What holds of a text that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    /// The text as it is to be written: laid out as the region is, where that says the same.
    pub(crate) new_text: String,
    /// What the type checker can't see about it.
    pub(crate) unchecked: Option<String>,
}

/// Checks the shape, and the operation's goal where there is an operation.
pub(crate) fn verify(assignment: &Assignment, new_text: &str) -> Result<Verified, Objection> {
    let old_text = assignment.region.as_str();
    if new_text == old_text {
        return Err(Objection::Unchanged);
    }
    verify_shape(old_text, new_text)?;
    verify_settled(assignment, new_text)?;
    let verified = match &assignment.operation {
        Some(Operation::AddKeyword { name, value }) => verify_keyword(assignment, new_text, name, value)?,
        None => {
            let unchecked = rules::kept_text(&assignment.strings).map(str::to_owned);
            Verified { new_text: new_text.to_owned(), unchecked }
        }
    };
    match rules::unreadable(assignment, &verified.new_text) {
        Some(reason) => Err(Objection::Unreadable { reason }),
        None => Ok(verified),
    }
}

/// One expression stays one expression of its kind. A region that is none (an import, a class header) is
/// judged by the parser, in its file.
fn verify_shape(old_text: &str, new_text: &str) -> Result<(), Objection> {
    let Ok(old) = calls::expression(old_text.trim_start_matches('@')) else { return Ok(()) };
    let new = calls::expression(new_text.trim_start_matches('@'))
        .map_err(|failure| Objection::NotAnExpression { message: failure.to_string() })?;
    if new.kind != old.kind {
        return Err(Objection::OtherKind { before: old.kind, after: new.kind });
    }
    if new.form == old.form {
        return Err(Objection::Unchanged);
    }
    if old.stands_alone && !new.stands_alone {
        return Err(Objection::BrokenOverLines);
    }
    if new.comments != old.comments {
        return Err(Objection::Comments);
    }
    Ok(())
}

/// Text that earlier rounds settled comes back as it is, as often as it was there.
fn verify_settled(assignment: &Assignment, new_text: &str) -> Result<(), Objection> {
    for &span in &assignment.settled {
        let text = slice(&assignment.region, span);
        if new_text.matches(text).count() < assignment.region.matches(text).count() {
            return Err(Objection::Settled { text: text.to_owned() });
        }
    }
    Ok(())
}

fn verify_keyword(assignment: &Assignment, new_text: &str, name: &str, value: &str) -> Result<Verified, Objection> {
    let region = assignment.region.as_str();
    let Ok(Some(old)) = calls::call_in_expression(region, assignment.name) else {
        // Rules and models are asked about calls only.
        return Err(Objection::OtherKind { before: "no call".to_owned(), after: "a call".to_owned() });
    };
    let (before, after) = around(region, old.span);
    let inner = new_text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let inner = inner.ok_or(Objection::AroundTheCall)?;
    let new =
        calls::whole_call(inner).map_err(|failure| Objection::NotAnExpression { message: failure.to_string() })?;
    let new = new.filter(|call| call.span == ByteSpan::new(0, inner.len())).ok_or(Objection::AroundTheCall)?;
    if new.callee_form != old.callee_form {
        let (before, after) = (slice(region, old.callee), slice(inner, new.callee));
        return Err(Objection::OtherCallee { before: before.to_owned(), after: after.to_owned() });
    }
    verify_goal(inner, &new, name, value)?;
    verify_arguments(region, &old, inner, &new, name)?;
    Ok(Verified { new_text: laid_out(assignment, new_text), unchecked: rules::unseen(assignment, &new, name) })
}

/// What to write is the author's to say, how to lay it out is the region's: where rules would write the same
/// expression, their text stands, which leaves every other byte of the region alone.
///
/// ```python
/// f(          # A model puts `v=True` behind `a`, on its line, or turns the quotes of `a` around.
///     a,
/// )
/// ```
fn laid_out(assignment: &Assignment, new_text: &str) -> String {
    let form = |text: &str| calls::expression(text.trim_start_matches('@')).ok().map(|expression| expression.form);
    let by_rules = match rules::reply(assignment, &Spared::default()) {
        Reply::Edits { edits, .. } => {
            EditSet::new(edits).ok().and_then(|edits| edits.apply_to(&assignment.region).ok())
        }
        Reply::Text { .. } | Reply::Already { .. } | Reply::Left { .. } => None,
    };
    by_rules
        .filter(|text| form(text).is_some_and(|by_rules| Some(by_rules) == form(new_text)))
        .unwrap_or_else(|| new_text.to_owned())
}

/// What stands before and after the call in the region.
fn around(region: &str, call: ByteSpan) -> (&str, &str) {
    (region.get(..call.start().get()).unwrap_or_default(), region.get(call.end().get()..).unwrap_or_default())
}

fn verify_goal(text: &str, call: &Call, name: &str, value: &str) -> Result<(), Objection> {
    let keyword = format!("{name}={value}");
    let is_keyword = |argument: &&Argument| matches!(&argument.kind, ArgumentKind::Keyword(key) if key == name);
    let mut found = call.arguments.iter().filter(is_keyword);
    let Some(argument) = found.next() else { return Err(Objection::GoalMissed { keyword }) };
    if calls::keyword_value(value).is_ok_and(|wanted| wanted == argument.form) && found.next().is_none() {
        return Ok(());
    }
    Err(Objection::OtherValue { found: slice(text, argument.span).to_owned(), wanted: keyword })
}

/// Positional arguments and dictionaries keep their order; keywords are free to change places.
fn verify_arguments(old_text: &str, old: &Call, new_text: &str, new: &Call, added: &str) -> Result<(), Objection> {
    let is_added = |argument: &&Argument| matches!(&argument.kind, ArgumentKind::Keyword(key) if key == added);
    let was_there = old.arguments.iter().any(|argument| is_added(&argument));
    let kept: Vec<&Argument> = new.arguments.iter().filter(|argument| was_there || !is_added(argument)).collect();
    let old_arguments: Vec<&Argument> = old.arguments.iter().collect();
    for part in [is_positional, is_dictionary] {
        let mut new_part = kept.iter().filter(|argument| part(argument));
        for before in old_arguments.iter().filter(|argument| part(argument)) {
            if !new_part.next().is_some_and(|after| same(before, after)) {
                return Err(Objection::ArgumentLost { argument: slice(old_text, before.span).to_owned() });
            }
        }
        if let Some(more) = new_part.next() {
            return Err(Objection::ArgumentAdded { argument: slice(new_text, more.span).to_owned() });
        }
    }
    let labelled = |argument: &&&Argument| !is_positional(argument) && !is_dictionary(argument);
    // Counted, since the parser lets a label pass that is there twice.
    let times = |list: &[&Argument], wanted: &Argument| list.iter().filter(|argument| same(wanted, argument)).count();
    let missing = |from: &[&Argument], to: &[&Argument]| {
        from.iter().filter(labelled).find(|argument| times(from, argument) > times(to, argument)).map(|a| a.span)
    };
    if let Some(span) = missing(&old_arguments, &kept) {
        return Err(Objection::ArgumentLost { argument: slice(old_text, span).to_owned() });
    }
    missing(&kept, &old_arguments)
        .map_or(Ok(()), |span| Err(Objection::ArgumentAdded { argument: slice(new_text, span).to_owned() }))
}

const fn is_positional(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::Positional | ArgumentKind::Starred | ArgumentKind::BareGenerator)
}

const fn is_dictionary(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::DoubleStarred(_))
}

/// A bare generator is the same argument with parentheses.
fn same(a: &Argument, b: &Argument) -> bool {
    let plain = |argument: &Argument| matches!(argument.kind, ArgumentKind::Positional | ArgumentKind::BareGenerator);
    (a.kind == b.kind || (plain(a) && plain(b))) && a.form == b.form
}

fn slice(text: &str, span: ByteSpan) -> &str {
    text.get(span.range()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::editor::author::rules::tests::{assignment, string};

    use super::*;

    fn check(region: &str, new_text: &str, expected: Result<bool, &str>) {
        let got = verify(&assignment(region, "v=True", None), new_text);
        match (&got, expected) {
            (Ok(verified), Ok(unchecked)) => assert_eq!(verified.unchecked.is_some(), unchecked, "{new_text}"),
            (Err(objection), Err(part)) => assert!(objection.to_string().contains(part), "{new_text}: {objection}"),
            _ => panic!("{region} → {new_text}: {got:?}"),
        }
    }

    #[test]
    fn what_was_asked_passes_however_it_is_laid_out() {
        check("f(1)", "f(1, v=True)", Ok(false));
        check("f({'a': 1}, b=2)", "f({\"a\": 1}, v=True, b=2)", Ok(false));
        check("f(\n    1,\n)", "f(1, v=True)", Ok(false));
        check("f(1, **k)", "f(1, **k, v=True)", Ok(true));
        check("f(x for x in y)", "f((x for x in y), v=True)", Ok(false));
        check("@f(1)", "@f(1, v=True)", Ok(false));
    }

    #[test]
    fn what_was_not_asked_is_objected_to_with_its_reason() {
        for (region, new_text, part) in [
            ("f(1)", "f(1)", "nothing was changed"),
            ("f(1)", "f( 1 )", "nothing was changed"),
            ("f({'a': 1})", "f({", "not one Python expression"),
            ("f(1)", "f(1), v=True", "not one Python expression"),
            ("f(1)", "f(1, v=True); g()", "not one Python expression"),
            ("f(1)", "", "not one Python expression"),
            ("f(1)", "f(1, v=True), 2", "ExprTuple"),
            ("f(1)", "await f(1, v=True)", "ExprAwait"),
            ("f(1)", "(f(1, v=True))", "around the call"),
            ("f(1)", "g(1, v=True)", "callee was changed from `f` to `g`"),
            ("f(1)", "f(1)(v=True)", "callee"),
            ("f(1)", "f(1, v=\"yes\")", "passes `v=\"yes\"`"),
            ("f(1)", "f(1, w=True)", "doesn't pass `v=True`"),
            ("f(1)", "f(1, True)", "doesn't pass"),
            ("f(1, 2)", "f(2, 1, v=True)", "`1` was changed, moved or dropped"),
            ("f(1, 2)", "f(1, v=True)", "`2` was changed"),
            ("f(1, b=2)", "f(1, v=True)", "`b=2` was changed"),
            ("f(1, b=2)", "f(1, b=3, v=True)", "`b=2` was changed"),
            ("f(1)", "f(1, 2, v=True)", "`2` was added"),
            ("f(1)", "f(1, b=2, v=True)", "`b=2` was added"),
            ("f(1)", "f(1, **k, v=True)", "`**k` was added"),
            ("f(*a)", "f(a, v=True)", "`*a` was changed"),
            ("f(v=False)", "f(v=True)", "`v=False` was changed"),
            ("f(1)", "f(1, v=True)  # added", "comment"),
            ("f(1, b=2)", "f(1, b=2, b=2, v=True)", "`b=2` was added"),
            ("f(1)", "f(1, v=True, v=True)", "passes `v=True`"),
            ("f(1)", "f(1, **{'v': True})", "doesn't pass"),
            ("f(1)", "f(1, *a, v=True)", "`*a` was added"),
            ("f(1)", "f(1, v=True if a else False)", "passes `v=True if a else False`"),
            ("f(1)", "f(1, v=(w := True))", "passes `v=(w := True)`"),
            ("f(1)", "f(__import__('os'), v=True)", "`1` was changed"),
            ("f(1)", "import os; f(1, v=True)", "not one Python expression"),
            ("f(g(1))", "f(g(1, 2), v=True)", "`g(1)` was changed"),
            ("f(a.b)", "f(a.c, v=True)", "`a.b` was changed"),
            ("a.f(1)", "b.f(1, v=True)", "callee was changed from `a.f` to `b.f`"),
            ("f(*a, *b)", "f(*b, *a, v=True)", "`*a` was changed"),
            ("f(**a, **b)", "f(**b, **a, v=True)", "`**a` was changed"),
            ("f(1)", "f(1, v=True).g()", "callee"),
            ("f(1)", "f(1, v=True)[0]", "ExprSubscript"),
            ("f(1,  # why\n)", "f(1, v=True)", "comment"),
            ("f(1)", "f\n(1, v=True)", "breaks over lines"),
        ] {
            check(region, new_text, Err(part));
        }
    }

    #[test]
    fn the_layout_is_the_regions_where_the_expression_is_the_same() {
        for (region, new_text, written) in [
            ("f({'a': 1})", "f({\"a\":1},v=True)", "f({'a': 1}, v=True)"),
            ("f(\n    a,\n)", "f(a, v=True)", "f(\n    a,\n    v=True,\n)"),
            ("f(\n    a\n)", "f(\n    a,\n        v=True)", "f(\n    a,\n    v=True\n)"),
            ("@f(1)", "@f(1,v=True)", "@f(1, v=True)"),
            (
                "q.g(a)\n    .f(\n        b,\n    )",
                "q.g(a)\n    .f(\n        b,\n        v=True)",
                "q.g(a)\n    .f(\n        b,\n        v=True,\n    )",
            ),
            // Another place for the keyword is another expression.
            ("f(b=2)", "f(v=True,b=2)", "f(v=True,b=2)"),
            ("f(**k)", "f(**k,v=True)", "f(**k,v=True)"),
        ] {
            let verified = verify(&assignment(region, "v=True", None), new_text).unwrap();
            assert_eq!(verified.new_text, written);
        }
    }

    #[test]
    fn a_settled_call_inside_comes_back_as_it_is() {
        let mut given = assignment("f(f('a', v=True))", "v=True", None);
        given.settled = vec![ByteSpan::new(2, 16)];
        assert!(verify(&given, "f(f('a', v=True), v=True)").is_ok());
        assert!(matches!(verify(&given, "f(f(\"a\", v=True), v=True)"), Err(Objection::Settled { .. })));
        assert!(verify(&given, "f(f('a'), v=True)").is_err());
    }

    #[test]
    fn a_value_with_the_quote_of_the_f_string_around_is_objected_to() {
        let mut given = assignment("f(x)", "v='a'", None);
        given.strings = vec![string("'")];
        assert!(matches!(verify(&given, "f(x, v='a')"), Err(Objection::Unreadable { .. })));
        assert!(verify(&given, "f(x, v=\"a\")").is_ok());
    }

    #[test]
    fn without_an_operation_the_kind_stays_and_something_changes() {
        let given = Assignment { operation: None, ..assignment("f(1)", "v=True", None) };
        assert!(verify(&given, "g(1)").is_ok());
        assert!(verify(&given, "f(1)").is_err() && verify(&given, "g + 1").is_err());
        let header = Assignment { region: "class A(f):".to_owned(), ..given };
        assert!(verify(&header, "class A(g):").is_ok());
    }
}
