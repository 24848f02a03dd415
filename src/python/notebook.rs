//! The Python of a notebook: its code cells as one text, with the place of every byte in the JSON (nbformat 4).
//!
//! What isn't plain Python (magics, shell lines, cells that don't parse) is left out of the text and told apart.
//! Deliberately absent: outputs and Markdown cells, which hold no code.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::text::ByteSpan;

use super::mentions::is_word_char;
use super::module::parses;
use super::places::Places;

#[derive(Deserialize)]
struct Stored<'t> {
    #[serde(borrow)]
    cells: Vec<Cell<'t>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Cell<'t> {
    #[serde(borrow)]
    cell_type: Cow<'t, str>,
    #[serde(borrow)]
    source: &'t RawValue,
}

#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<Language>,
    kernelspec: Option<Kernel>,
}

#[derive(Deserialize)]
struct Language {
    name: String,
}

#[derive(Deserialize)]
struct Kernel {
    language: Option<String>,
}

impl Metadata {
    fn is_python(&self) -> bool {
        let kernel = || self.kernelspec.as_ref().and_then(|kernel| kernel.language.as_deref());
        let language = self.language_info.as_ref().map(|language| language.name.as_str()).or_else(kernel);
        language.is_none_or(|language| language == "python")
    }
}

/// The code of a notebook.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Notebook {
    pub(super) code: String,
    pub(super) places: Places,
    /// Where the sources of the code cells stand in the file, in order.
    pub(super) cells: Vec<ByteSpan>,
    /// Parts of them that the code doesn't hold, in order.
    pub(super) left_out: Vec<ByteSpan>,
}

/// `None`: the text isn't the JSON of a notebook, or its language isn't Python.
pub(super) fn notebook(json: &str) -> Option<Notebook> {
    let stored: Stored<'_> = serde_json::from_str(json.trim_start_matches('\u{feff}')).ok()?;
    stored.metadata.is_python().then_some(())?;
    let mut notebook = Notebook::default();
    for cell in stored.cells.iter().filter(|cell| cell.cell_type == "code") {
        // The raw value is a slice of the text.
        let start = cell.source.get().as_ptr().addr() - json.as_ptr().addr();
        let span = ByteSpan::new(start, start + cell.source.get().len());
        notebook.cells.push(span);
        let mut lines = lines(cell.source.get(), start)?;
        if !are_code(&lines) {
            // Only here, for `%` may also start a line of an expression that goes on, and `?` end a comment.
            for line in &mut lines {
                line.is_magic = line.looks_like_magic();
            }
        }
        let is_magic = lines.first().is_some_and(|line| line.text.starts_with("%%"));
        if is_magic || !are_code(&lines) {
            notebook.left_out.push(span);
        } else {
            for line in &lines {
                notebook.take(line);
            }
        }
    }
    Some(notebook)
}

fn are_code(lines: &[Line]) -> bool {
    parses(&lines.iter().map(Line::code).collect::<String>(), false)
}

impl Notebook {
    fn take(&mut self, line: &Line) {
        if line.is_magic {
            self.left_out.extend(line.span);
        } else {
            for (local, file) in &line.pieces {
                self.places.push(self.code.len() + local, *file);
            }
        }
        self.code.push_str(&line.code());
    }
}

/// One line of a cell, decoded.
#[derive(Default)]
struct Line {
    text: String,
    /// Where its pieces start in it, and in the file.
    pieces: Vec<(usize, usize)>,
    /// From its first to its last byte in the file.
    span: Option<ByteSpan>,
    /// Not Python: a magic, or a command of the shell or of the help.
    is_magic: bool,
}

impl Line {
    /// Takes what stands at a place of the file; `is_apart` says that it doesn't go on from what came before.
    fn push(&mut self, text: &str, place: ByteSpan, is_apart: bool) {
        let start = self.span.map_or(place.start(), ByteSpan::start);
        self.span = Some(ByteSpan::new(start.get(), place.end().get()));
        if is_apart || self.text.is_empty() {
            self.pieces.push((self.text.len(), place.start().get()));
        }
        self.text.push_str(text);
    }

    fn looks_like_magic(&self) -> bool {
        let line = self.text.trim();
        line.starts_with(['%', '!', '?']) || line.ends_with('?')
    }

    /// The line, or one that stands for it, with its end.
    fn code(&self) -> String {
        let line = self.text.trim_end_matches(['\n', '\r']);
        if !self.is_magic {
            return format!("{line}\n");
        }
        let indent = line.len() - line.trim_start().len();
        format!("{}pass\n", line.get(..indent).unwrap_or_default())
    }
}

/// The lines of a source, which is one JSON string or a list of them, that starts at a place of the file.
fn lines(raw: &str, at: usize) -> Option<Vec<Line>> {
    let mut found = vec![Line::default()];
    let mut next = 0;
    while let Some(quote) = raw.get(next..)?.find('"') {
        next += quote + 1;
        // A string goes on behind the places of the one before, and so does what stands behind an escape.
        let mut is_apart = true;
        while let Some(character) = raw.get(next..)?.chars().next().filter(|character| *character != '"') {
            let is_escape = character == '\\';
            let length = if is_escape { escape_length(raw.get(next..)?)? } else { character.len_utf8() };
            let written = raw.get(next..next + length)?;
            let text = if is_escape { decoded(written)? } else { written.to_owned() };
            let line = found.last_mut()?;
            line.push(&text, ByteSpan::new(at + next, at + next + length), is_apart || is_escape);
            if text == "\n" {
                found.push(Line::default());
            }
            is_apart = is_escape;
            next += length;
        }
        next += 1;
    }
    Some(found.into_iter().filter(|line| !line.text.is_empty()).collect())
}

/// The same text, byte for byte, with spaces for the escapes (low lines for letters), so that the `n` of `\n` is no
/// part of a word.
pub(crate) fn without_escapes(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        // Where that is no JSON, there may be anything behind.
        let Some(length) = escape_length(escape).filter(|length| escape.is_char_boundary(*length)) else { break };
        let (written, behind) = escape.split_at(length);
        let is_letter = decoded(written).is_some_and(|text| text.chars().all(is_word_char));
        text.push_str(before);
        text.extend(std::iter::repeat_n(if is_letter { '_' } else { ' ' }, length));
        rest = behind;
    }
    text + rest
}

fn decoded(escape: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{escape}\"")).ok()
}

/// How many bytes an escape of JSON takes; both halves of a surrogate pair are one.
fn escape_length(escape: &str) -> Option<usize> {
    if !escape.starts_with("\\u") {
        return Some(2);
    }
    let unit = u32::from_str_radix(escape.get(2..6)?, 16).ok()?;
    Some(if (0xd800..0xdc00).contains(&unit) { 12 } else { 6 })
}

#[cfg(test)]
mod tests {
    use ruff_text_size::{TextRange, TextSize};

    use super::*;

    const NOTEBOOK: &str = r#"{"cells": [
        {"cell_type": "markdown", "source": ["f is *said*"]},
        {"cell_type": "code", "source": ["%load f\n", "x = \"é\\n\u00e9\" + f(1)\n", "f"]},
        {"cell_type": "code", "source": "%%bash\nf"},
        {"cell_type": "code", "source": "if f:\n    !f\n"},
        {"cell_type": "code", "source": "f f"},
        {"cell_type": "code", "source": ["(f\n", "% f) # f?"]}
    ], "metadata": {}, "nbformat": 4}"#;

    #[test]
    fn code_and_places_leave_out_what_is_not_python() {
        let found = notebook(NOTEBOOK).expect("a notebook");
        assert_eq!(found.code, "pass\nx = \"é\\né\" + f(1)\nf\nif f:\n    pass\n(f\n% f) # f?\n");
        for (at, _) in found.code.match_indices(['f', 'x']) {
            let at = TextSize::new(u32::try_from(at).unwrap());
            let place = found.places.span(TextRange::new(at, at + TextSize::new(1)));
            let code = found.code.get(at.to_usize()..at.to_usize() + 1);
            assert_eq!(NOTEBOOK.get(place.range()), code, "{at:?}");
        }
        let left_out: Vec<&str> = found.left_out.iter().filter_map(|span| NOTEBOOK.get(span.range())).collect();
        assert_eq!(left_out, [r"%load f\n", r#""%%bash\nf""#, r"    !f\n", r#""f f""#]);
    }

    #[test]
    fn an_escape_is_no_part_of_a_word() {
        for (json, expected) in [
            (r"a\nf\n", "a  f  "),
            (r"\u00e9f \u2014f", "______f       f"),
            (r"é\\nf\", r"é  nf\"),
            (r"\ud83d\ude00f \u12", r"            f \u12"),
            (r"\é", r"\é"),
        ] {
            assert_eq!(without_escapes(json), expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_notebook_of_python_is_none() {
        let julia = r#"{"cells": [], "metadata": {"kernelspec": {"language": "julia"}}}"#;
        for json in ["", "[]", "{}", r#"{"cells": 1}"#, julia] {
            assert_eq!(notebook(json), None, "{json}");
        }
    }
}
