//! What a model is told. The wording is the one that was measured, and small models hang on it: the code
//! as a JSON string, one example of the same kind of edit, the instruction in the same words in both.
//!
//! Everything before the last turns is the same for all sites of a task, so that servers keep it in their cache.

use crate::plan::{Assignment, Operation};

use super::instruction::holds_assignment;

/// One turn of the chat.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Turn {
    pub(crate) role: &'static str,
    pub(crate) content: String,
}

const SYSTEM: &str =
    "You are a code refactoring tool. You edit exactly one piece of Python code as instructed and answer with JSON.";

/// The turns of one assignment; `code` is its region as it is to be shown.
pub(crate) fn turns(assignment: &Assignment, code: &str) -> Vec<Turn> {
    let mut turns = match &assignment.operation {
        Some(Operation::AddKeyword { name, value }) => keyword_turns(assignment, code, name, value),
        None => prose_turns(assignment, code),
    };
    // Every other attempt starts afresh: a small model that sees its own mistake tends to make it again.
    let shown = if assignment.attempt % 2 == 1 { assignment.feedback.as_slice() } else { &[] };
    for attempt in shown {
        // A reply that couldn't be read says nothing that could be answered.
        let Some(new_text) = &attempt.new_text else { continue };
        turns.push(assistant(new_text, ""));
        let objection = format!("That was rejected: {}. Answer again.", attempt.objection.trim_end_matches('.'));
        turns.push(user(&[("feedback", &objection), ("code", code)]));
    }
    turns
}

/// An upper bound of the tokens that an answer needs.
pub(crate) fn max_tokens(assignment: &Assignment) -> usize {
    // Code has about three bytes to a token.
    80 + 2 * assignment.region.len().div_ceil(3)
}

fn keyword_turns(assignment: &Assignment, code: &str, name: &str, value: &str) -> Vec<Turn> {
    let callee = callee(assignment);
    let instruction = add_keyword(callee, &format!("{name}={value}"));
    let mut turns = vec![Turn { role: "system", content: SYSTEM.to_owned() }];
    turns.extend(example_turns(callee == "parse" || name == "strict"));
    turns.push(user(&with_context(assignment, code, &instruction)));
    turns
}

fn callee(assignment: &Assignment) -> &str {
    assignment.region.get(assignment.name.range()).unwrap_or(&assignment.symbol)
}

fn add_keyword(callee: &str, keyword: &str) -> String {
    format!("Add the keyword argument {keyword} to the {callee}(...) call. Keep every existing argument.")
}

/// One added keyword, in a call that isn't trivial; another one where it would look like the task.
fn example_turns(looks_like_the_task: bool) -> [Turn; 2] {
    let (callee, keyword) = if looks_like_the_task { ("load", "lazy=True") } else { ("parse", "strict=False") };
    let before = format!("{callee}({{\"path\": p, \"mode\": \"r\"}}, sep=\",\")");
    let after = format!("{callee}({{\"path\": p, \"mode\": \"r\"}}, sep=\",\", {keyword})");
    [
        user(&[("instruction", &add_keyword(callee, keyword)), ("code", &before)]),
        assistant(&after, &format!("Added {keyword}.")),
    ]
}

/// For an instruction that only a model can read. The example goes along where an argument is spoken of:
/// an example of another kind of edit does harm.
fn prose_turns(assignment: &Assignment, code: &str) -> Vec<Turn> {
    let format =
        "The answer is one JSON object: \"new_text\" is the edited code alone, \"rationale\" says why in a few words.";
    let instruction = format!(
        "{}\n\nThe symbol is {}. Edit the code of this one place, which stands in {}; change nothing else.",
        assignment.instruction.trim(),
        assignment.symbol,
        assignment.enclosing
    );
    let mut turns = vec![Turn { role: "system", content: format!("{SYSTEM} {format}") }];
    if holds_assignment(&assignment.instruction) {
        turns.extend(example_turns(callee(assignment) == "parse"));
    }
    turns.push(user(&with_context(assignment, code, &instruction)));
    turns
}

fn with_context<'a>(assignment: &'a Assignment, code: &'a str, instruction: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut fields = vec![("instruction", instruction)];
    fields.extend(assignment.context.as_deref().map(|file| ("context", file)));
    fields.push(("code", code));
    fields
}

fn user(fields: &[(&str, &str)]) -> Turn {
    Turn { role: "user", content: object(fields) }
}

fn assistant(new_text: &str, rationale: &str) -> Turn {
    Turn { role: "assistant", content: object(&[("new_text", new_text), ("rationale", rationale)]) }
}

/// A JSON object with its fields in this order and a blank behind each colon and comma, as it was measured.
fn object(fields: &[(&str, &str)]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let fields: Vec<_> = fields.iter().map(|(name, text)| format!("{}: {}", quoted(name), quoted(text))).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::editor::author::rules::tests::assignment;
    use crate::plan::Feedback;
    use crate::text::ByteSpan;

    use super::*;

    fn turns(assignment: &Assignment) -> Vec<Turn> {
        super::turns(assignment, &assignment.region)
    }

    fn of_d4() -> Assignment {
        let mut given = assignment("render_f({\"page\": \"home\"})", "verbose=True", None);
        given.region = "render_report({\"page\": \"home\"})".to_owned();
        given.name = ByteSpan::new(0, 13);
        given
    }

    #[test]
    fn the_turns_are_worded_as_they_were_measured() {
        let turns = turns(&of_d4());
        let contents: Vec<_> = turns.iter().map(|turn| format!("{}: {}", turn.role, turn.content)).collect();
        assert_eq!(
            contents,
            [
                "system: You are a code refactoring tool. You edit exactly one piece of Python code as instructed and answer with JSON.",
                r#"user: {"instruction": "Add the keyword argument strict=False to the parse(...) call. Keep every existing argument.", "code": "parse({\"path\": p, \"mode\": \"r\"}, sep=\",\")"}"#,
                r#"assistant: {"new_text": "parse({\"path\": p, \"mode\": \"r\"}, sep=\",\", strict=False)", "rationale": "Added strict=False."}"#,
                r#"user: {"instruction": "Add the keyword argument verbose=True to the render_report(...) call. Keep every existing argument.", "code": "render_report({\"page\": \"home\"})"}"#,
            ]
        );
    }

    #[test]
    fn the_beginning_is_the_same_for_all_sites() {
        let (one, mut other) = (of_d4(), of_d4());
        other.region = "render_report(1)".to_owned();
        other.attempt = 1;
        other.feedback = vec![Feedback {
            new_text: Some("render_report(1)".to_owned()),
            objection: "nothing was changed".to_owned(),
        }];
        assert_eq!(turns(&one)[..3], turns(&other)[..3]);
    }

    #[test]
    fn feedback_comes_as_later_turns() {
        let mut given = of_d4();
        given.attempt = 1;
        given.feedback = vec![
            Feedback { new_text: None, objection: "the reply is empty".to_owned() },
            Feedback { new_text: Some("g()".to_owned()), objection: "the callee was changed".to_owned() },
        ];
        let turns = turns(&given);
        let roles: Vec<_> = turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
        assert!(turns[5].content.contains("That was rejected: the callee was changed."));
    }

    #[test]
    fn a_prose_that_is_not_understood_goes_along_whole() {
        let given = Assignment { operation: None, instruction: "Pass it \"twice\".\n".to_owned(), ..of_d4() };
        let turns = turns(&given);
        assert_eq!(turns.len(), 2);
        let speaking = Assignment { instruction: "Pass `v=True` in tests.".to_owned(), ..given.clone() };
        assert_eq!(super::turns(&speaking, "f(1)").len(), 4, "an example goes along");
        assert!(turns[1].content.contains(r#"Pass it \"twice\"."#) && turns[1].content.contains("core.f"));
        let shown = Assignment { context: Some("1 import x".to_owned()), ..given };
        assert!(super::turns(&shown, &shown.region)[1].content.contains(r#""context": "1 import x", "code""#));
    }

    #[test]
    fn the_example_is_another_one_where_it_would_look_like_the_task() {
        let given = assignment("f(1)", "strict=True", None);
        assert!(turns(&given)[1].content.contains("lazy=True"));
    }
}
