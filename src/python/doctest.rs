//! The examples of a docstring, as `doctest` reads them: lines behind `>>>`, and those behind `...` that go on.
//!
//! The text of an example is no stretch of its file, so it comes with [`Places`]. Its output is not looked at.

use super::places::Places;

/// One example: its code without the prompts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) code: String,
    pub(super) places: Places,
}

/// The examples of a docstring of which `text` is the content, `at` where it stands in the file.
pub(super) fn examples(text: &str, at: usize) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut goes_on = false;
    let mut start = at;
    for line in text.split_inclusive('\n') {
        let code = behind_prompt(line, ">>>");
        let more = if goes_on { behind_prompt(line, "...") } else { None };
        if code.is_some() {
            found.push(Example::default());
        }
        if let (Some(code), Some(example)) = (code.or(more), found.last_mut()) {
            let from = start + (line.len() - code.len());
            example.places.push(example.code.len(), from);
            example.code.push_str(code.trim_end_matches(['\n', '\r']));
            example.code.push('\n');
        }
        goes_on = code.or(more).is_some();
        start += line.len();
    }
    found
}

/// What stands behind a prompt and its one space.
fn behind_prompt<'l>(line: &'l str, prompt: &str) -> Option<&'l str> {
    let behind = line.trim_start_matches([' ', '\t']).strip_prefix(prompt)?;
    if behind.trim().is_empty() { Some(behind) } else { behind.strip_prefix(' ') }
}

#[cfg(test)]
mod tests {
    use ruff_text_size::{TextRange, TextSize};

    use super::*;

    #[test]
    fn code_and_places_leave_out_prompts_and_output() {
        let text = "Says.\n\n  >>> f(1,\n  ...   2)\n  3\n  ... 4\n  >>>g\n  >>> h\n";
        let found = examples(text, 100);
        let codes: Vec<&str> = found.iter().map(|example| example.code.as_str()).collect();
        assert_eq!(codes, ["f(1,\n  2)\n", "h\n"]);
        let place = |example: usize, from: u32, to: u32| {
            let place = found[example].places.span(TextRange::new(TextSize::new(from), TextSize::new(to)));
            text.get(place.range().start - 100..place.range().end - 100).expect("a place lies in the text")
        };
        assert_eq!(place(0, 0, 1), "f");
        assert_eq!(place(0, 7, 8), "2");
        assert_eq!(place(0, 0, 4), "f(1,");
        assert_eq!(place(1, 0, 1), "h");
    }
}
