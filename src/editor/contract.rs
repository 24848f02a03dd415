//! What a model is asked to answer with, and how leniently an answer is read. Servers differ in where they
//! put the answer and what they wrap it in; whether the code in it is right is judged elsewhere, by parsing.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A longer rationale is cut; servers that don't enforce the schema let it run on.
const RATIONALE_LIMIT: usize = 200;

/// A model's answer: the new text of one region, and why.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SiteEdit {
    pub(crate) new_text: String,
    #[schemars(length(max = 200))]
    pub(crate) rationale: String,
}

/// The same as it may come from a server that doesn't enforce the schema.
#[derive(Deserialize)]
struct LenientEdit {
    new_text: String,
    #[serde(default)]
    rationale: Value,
}

/// Why a reply is no [`SiteEdit`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyFault {
    #[error("the reply ended early ({finish_reason})")]
    Cut { finish_reason: String },
    #[error("the reply is empty")]
    Empty,
    #[error("the reply holds no JSON object with a `new_text`")]
    NoSiteEdit,
}

/// A chat completion, as much of it as is needed and as little as can be relied on.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Debug, Clone, Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// Tokens that one attempt took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
}

impl Completion {
    pub(crate) fn tokens(&self) -> Option<Tokens> {
        self.usage.map(|usage| Tokens { prompt: usage.prompt_tokens, completion: usage.completion_tokens })
    }

    /// The answer of the first choice.
    pub(crate) fn site_edit(&self) -> Result<SiteEdit, ReplyFault> {
        let choice = self.choices.first().ok_or(ReplyFault::Empty)?;
        // Where the field is missing, an incomplete object is told by its braces.
        if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| *reason != "stop") {
            return Err(ReplyFault::Cut { finish_reason: reason.to_owned() });
        }
        let message = &choice.message;
        // Some servers put the answer of a thinking model where its thoughts belong.
        let places = [&message.content, &message.reasoning_content, &message.reasoning];
        let text = places.into_iter().flatten().map(plain_text).find(|text| !text.trim().is_empty());
        read_site_edit(&text.ok_or(ReplyFault::Empty)?)
    }
}

/// The text of a message's content: a string, or a list of parts.
fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Reads an answer: thoughts are cut off, wrappings are passed over, the first object that fits counts.
pub(crate) fn read_site_edit(text: &str) -> Result<SiteEdit, ReplyFault> {
    let text = without_thoughts(text.trim()).trim();
    let objects = text.match_indices('{').filter_map(|(at, _)| balanced(text.get(at..)?));
    let mut edits = objects.filter_map(|object| serde_json::from_str::<LenientEdit>(object).ok());
    let kept = |rationale: &Value| plain_text(rationale).chars().take(RATIONALE_LIMIT).collect();
    edits
        .next()
        .map(|edit| SiteEdit { new_text: edit.new_text, rationale: kept(&edit.rationale) })
        .ok_or(if text.is_empty() { ReplyFault::Empty } else { ReplyFault::NoSiteEdit })
}

/// Thoughts come first, and some servers leave out the tag that opens them. In an answer that begins as one
/// should, the tag is part of the code.
fn without_thoughts(text: &str) -> &str {
    let begins_as_answer = text.starts_with(['{', '`']);
    text.split_once("</think>").filter(|_| !begins_as_answer).map_or(text, |(_, answer)| answer)
}

/// The object that starts the text, up to its closing brace.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The schema that is sent along: flat, both fields required, no bound on `new_text`, since a server
/// enforces a bound by cutting the text.
pub(crate) fn schema() -> Value {
    let mut schema = schemars::schema_for!(SiteEdit);
    for ornament in ["$schema", "title", "description"] {
        schema.remove(ornament);
    }
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn completion(choice: &Value) -> Result<SiteEdit, ReplyFault> {
        serde_json::from_value::<Completion>(json!({"choices": [choice]})).unwrap().site_edit()
    }

    fn new_text(text: &str) -> Result<String, ReplyFault> {
        read_site_edit(text).map(|edit| edit.new_text)
    }

    #[test]
    fn the_schema_is_flat_and_bounds_the_rationale_alone() {
        assert_eq!(
            schema(),
            json!({
                "type": "object",
                "properties": {"new_text": {"type": "string"}, "rationale": {"type": "string", "maxLength": 200}},
                "required": ["new_text", "rationale"],
                "additionalProperties": false
            })
        );
    }

    #[test]
    fn an_answer_is_read_through_its_wrappings() {
        let plain = r#"{"new_text": "f(\"}\", {1})", "rationale": "why"}"#;
        for text in [
            plain.to_owned(),
            format!("```json\n{plain}\n```"),
            format!("```\n{plain}"),
            format!("<think>{{\"new_text\": \"no\"}}</think>\n{plain}"),
            format!("Here {{it}} is: {plain} and {{\"new_text\": \"late\"}}"),
            r#"{ "new_text" : "f(\"}\", {1})" }"#.to_owned(),
            r#"{"new_text": "f(\"}\", {1})", "rationale": null, "more": 1}"#.to_owned(),
        ] {
            assert_eq!(new_text(&text).as_deref(), Ok("f(\"}\", {1})"), "{text}");
        }
    }

    #[test]
    fn code_that_looks_like_a_wrapping_is_kept() {
        let code = "f('```', \"</think>\", {1: '}'})";
        let plain = json!({"new_text": code, "rationale": "why"}).to_string();
        for text in [plain.clone(), format!("```json\n{plain}\n```"), format!("```\n{plain}")] {
            assert_eq!(new_text(&text).as_deref(), Ok(code), "{text}");
        }
        assert_eq!(new_text(&format!("so {{x}} it is</think>{plain}")).as_deref(), Ok(code));
    }

    #[test]
    fn what_is_no_answer_is_told_by_its_fault() {
        for text in ["{\"new_text\": \"f(", "{\"new_text\": 1}", "f(1)", "{}", "{\"rationale\": \"x\"}"] {
            assert_eq!(new_text(text), Err(ReplyFault::NoSiteEdit), "{text}");
        }
        assert_eq!(new_text("<think>x</think>"), Err(ReplyFault::Empty));
    }

    #[test]
    fn a_long_rationale_is_cut_and_not_held_against_the_answer() {
        let text = json!({"new_text": "x", "rationale": "é".repeat(300)}).to_string();
        assert_eq!(read_site_edit(&text).unwrap().rationale.chars().count(), 200);
    }

    #[test]
    fn the_answer_is_found_where_servers_put_it() {
        let edit = r#"{"new_text": "x"}"#;
        for message in [
            json!({"content": edit}),
            json!({"content": "", "reasoning_content": edit}),
            json!({"content": null, "reasoning": edit, "role": "assistant"}),
            json!({"content": [{"type": "text", "text": edit}]}),
        ] {
            assert!(completion(&json!({"message": message, "finish_reason": "stop"})).is_ok(), "{message}");
        }
        assert!(completion(&json!({"message": {"content": edit}})).is_ok());
        assert_eq!(completion(&json!({"message": {}, "finish_reason": "stop"})), Err(ReplyFault::Empty));
    }

    #[test]
    fn a_reply_that_did_not_stop_by_itself_is_a_failed_sample() {
        for reason in ["length", "content_filter", "tool_calls", "something-new"] {
            let fault = completion(&json!({"message": {"content": "{\"new_text\": \"x\"}"}, "finish_reason": reason}));
            assert_eq!(fault, Err(ReplyFault::Cut { finish_reason: reason.to_owned() }));
        }
    }
}
