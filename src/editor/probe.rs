//! An edit of a call to which the type checker must object wherever it looks at the call at all: where it doesn't,
//! "nothing new" proves nothing. A probe is judged and never kept.

use crate::plan::{Assignment, Operation};
use crate::python::calls::{self, ArgumentKind, Call, Parameters};
use crate::text::Edit;

use super::author::rules;

/// A keyword that no function has.
const UNKNOWN: &str = "tainie_probe_no_such_keyword";

/// What is tried, relative to the region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) edits: Vec<Edit>,
    /// What the checker's objection quotes.
    pub(crate) needle: String,
}

/// The probe for a call that is to get a keyword; `None` where the region is no call, or no edit must fail.
pub(crate) fn probe(assignment: &Assignment) -> Option<Probe> {
    let Some(Operation::AddKeyword { name, .. }) = &assignment.operation else { return None };
    let call = calls::call_in_expression(&assignment.region, assignment.name).ok()??;
    match assignment.signature.as_deref().and_then(calls::parameters) {
        // Where any keyword is taken, none is unknown.
        Some(parameters) if parameters.var_keyword && parameters.can_be_named(name) => {
            twice(assignment, &call, &parameters)
        }
        _ => {
            let edits = rules::insertion(&assignment.region, &call, &format!("{UNKNOWN}=0"));
            Some(Probe { edits, needle: UNKNOWN.to_owned() })
        }
    }
}

/// Passes one parameter twice, by position and by name.
///
/// ```python
/// f(1)    # of `def f(a, flag=False, **more)` becomes `f(1, a=0)`, and `f()` becomes `f(0, a=0)`
/// ```
fn twice(assignment: &Assignment, call: &Call, parameters: &Parameters) -> Option<Probe> {
    let bound = usize::from(rules::binds_first(assignment, call, parameters));
    let mut open = parameters.positional.iter().skip(bound);
    let place = open.clone().position(|parameter| !parameter.positional_only)?;
    let name = &open.nth(place)?.name;
    let passed: Vec<_> = rules::positional(call).map(|argument| &argument.kind).collect();
    // Nobody knows how many a `*` passes, and a bare generator must stay alone.
    let missing = (place + 1).saturating_sub(passed.len());
    if passed.contains(&&ArgumentKind::Starred) || (missing > 0 && passed.contains(&&ArgumentKind::BareGenerator)) {
        return None;
    }
    let is_named = call.arguments.iter().any(|a| matches!(&a.kind, ArgumentKind::Keyword(key) if key == name));
    let zeros = "0, ".repeat(missing);
    let keyword = if is_named { String::new() } else { format!("{name}=0") };
    let start = call.parentheses.start().get() + 1;
    let edits = if call.arguments.is_empty() {
        vec![Edit::insert(start, zeros + &keyword)]
    } else {
        let by_name = if is_named { Vec::new() } else { rules::insertion(&assignment.region, call, &keyword) };
        let by_position = (missing > 0).then(|| Edit::insert(start, zeros));
        by_position.into_iter().chain(by_name).collect()
    };
    (!edits.is_empty()).then(|| Probe { edits, needle: format!("`{name}`") })
}

#[cfg(test)]
mod tests {
    use crate::editor::author::rules::tests::assignment;
    use crate::text::EditSet;

    use super::*;

    fn check(region: &str, signature: &str, expected: Option<(&str, &str)>) {
        let given = assignment(region, "v=True", Some(signature));
        let got =
            probe(&given).map(|probe| (EditSet::new(probe.edits).unwrap().apply_to(region).unwrap(), probe.needle));
        let got = got.as_ref().map(|(text, needle)| (text.as_str(), needle.as_str()));
        assert_eq!(got, expected, "{region} {signature}");
    }

    #[test]
    fn an_unknown_keyword_is_tried_where_no_keyword_is_taken_for_granted() {
        for signature in ["(a, v=1)", "(a, **k)", "(v, /, **k)", "no signature"] {
            check("f(1)", signature, Some(("f(1, tainie_probe_no_such_keyword=0)", UNKNOWN)));
        }
    }

    #[test]
    fn one_parameter_is_passed_twice_where_any_keyword_is_taken() {
        check("f(1)", "(a, v=1, **k)", Some(("f(1, a=0)", "`a`")));
        check("f()", "(a=0, *, v=1, **k)", Some(("f(0, a=0)", "`a`")));
        check("f(a=1)", "(a, v=1, **k)", Some(("f(0, a=1)", "`a`")));
        check("f(b=1)", "(a, v=1, **k)", Some(("f(0, b=1, a=0)", "`a`")));
        check("f(1)", "(a, /, b=0, *, v=1, **k)", Some(("f(0, 1, b=0)", "`b`")));
        check("f(**j)", "(a, v=1, **k)", Some(("f(0, a=0, **j)", "`a`")));
        check("f(x for x in y)", "(a, v=1, **k)", Some(("f((x for x in y), a=0)", "`a`")));
    }

    #[test]
    fn where_no_edit_must_fail_there_is_no_probe() {
        check("f(*b)", "(a, v=1, **k)", None);
        check("f(1)", "(*a, v=1, **k)", None);
        check("f(x for x in y)", "(a, /, b=0, *, v=1, **k)", None);
    }
}
