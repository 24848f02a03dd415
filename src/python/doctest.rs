//! The examples of a docstring, as `doctest` reads them: lines behind `>>>`, and those behind `...` that go on.
//!
//! The text of an example is no stretch of its file, so it comes with [`Places`]. Its output is not looked at.

use ruff_text_size::TextRange;

use crate::text::ByteSpan;

use super::module::span;

/// Where the bytes of a text stand in the file that it was taken from; without pieces they stand where they are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Where each line starts in the text, and in the file.
    lines: Vec<(usize, usize)>,
}

impl Places {
    pub(super) fn span(&self, range: TextRange) -> ByteSpan {
        let local = span(range);
        let (start, end) = (local.start().get(), local.end().get());
        // The end of a line isn't the start of the next one, which stands elsewhere.
        let last = if start == end { end } else { end - 1 };
        ByteSpan::new(self.at(start), self.at(last) + (end - last))
    }

    fn at(&self, local: usize) -> usize {
        let line = self.lines.partition_point(|(start, _)| *start <= local);
        match line.checked_sub(1).and_then(|line| self.lines.get(line)) {
            Some((start, file)) => file + (local - start),
            None => local,
        }
    }
}

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
            example.places.lines.push((example.code.len(), from));
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
    use ruff_text_size::TextSize;

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
