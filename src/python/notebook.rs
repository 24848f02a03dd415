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
        let lines = lines(cell.source.get(), start)?;
        let is_magic = lines.first().is_some_and(|line| line.text.starts_with("%%"));
        let code: String = lines.iter().map(Line::code).collect();
        if is_magic || !parses(&code, false) {
            notebook.left_out.push(span);
        } else {
            lines.iter().for_each(|line| notebook.take(line));
        }
    }
    Some(notebook)
}

impl Notebook {
    fn take(&mut self, line: &Line) {
        if line.is_python() {
            for (local, file) in &line.pieces {
                self.places.push(self.code.len() + local, *file);
            }
        } else {
            self.left_out.push(line.span);
        }
        self.code.push_str(&line.code());
    }
}

/// One line of a cell, decoded.
struct Line {
    text: String,
    /// Where its pieces start in it, and in the file.
    pieces: Vec<(usize, usize)>,
    span: ByteSpan,
}

impl Line {
    /// Neither a magic nor a command of the shell or of the help.
    fn is_python(&self) -> bool {
        let line = self.text.trim();
        !line.starts_with(['%', '!', '?']) && !line.ends_with('?')
    }

    /// The line, or one that stands for it, with its end.
    fn code(&self) -> String {
        let line = self.text.trim_end_matches(['\n', '\r']);
        if self.is_python() {
            return format!("{line}\n");
        }
        let indent = line.len() - line.trim_start().len();
        format!("{}pass\n", line.get(..indent).unwrap_or_default())
    }
}

/// The lines of a source, which is one JSON string or a list of them, that starts at a place of the file.
fn lines(raw: &str, at: usize) -> Option<Vec<Line>> {
    let mut found = Vec::new();
    let mut line = Line { text: String::new(), pieces: Vec::new(), span: ByteSpan::new(at, at) };
    let mut rest = 0;
    while let Some(quote) = raw.get(rest..)?.find('"') {
        let mut from = rest + quote + 1;
        let mut starts_piece = true;
        loop {
            let character = raw.get(from..)?.chars().next()?;
            if character == '"' {
                break;
            }
            let length = if character == '\\' { escape_length(raw.get(from..)?)? } else { character.len_utf8() };
            let written = raw.get(from..from + length)?;
            if line.text.is_empty() {
                line.span = ByteSpan::new(at + from, at + from);
            }
            if starts_piece || character == '\\' {
                line.pieces.push((line.text.len(), at + from));
            }
            // Behind an escape the places go on anew.
            starts_piece = character == '\\';
            let decoded = if character == '\\' { decoded(written)? } else { written.to_owned() };
            line.text.push_str(&decoded);
            from += length;
            line.span = ByteSpan::new(line.span.start().get(), at + from);
            if decoded == "\n" {
                found.push(std::mem::replace(
                    &mut line,
                    Line { text: String::new(), pieces: Vec::new(), span: ByteSpan::new(at, at) },
                ));
                starts_piece = true;
            }
        }
        rest = from + 1;
    }
    if !line.text.is_empty() {
        found.push(line);
    }
    Some(found)
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
        {"cell_type": "code", "source": "f f"}
    ], "metadata": {}, "nbformat": 4}"#;

    #[test]
    fn code_and_places_leave_out_what_is_not_python() {
        let found = notebook(NOTEBOOK).expect("a notebook");
        assert_eq!(found.code, "pass\nx = \"é\\né\" + f(1)\nf\nif f:\n    pass\n");
        for (at, _) in found.code.match_indices('f').filter(|(at, _)| !found.code[*at..].starts_with("f f")) {
            let at = u32::try_from(at).unwrap();
            let place = found.places.span(TextRange::new(TextSize::new(at), TextSize::new(at + 1)));
            let is_of_if = found.code[..at as usize].ends_with('i');
            assert_eq!(NOTEBOOK.get(place.range()), Some("f"), "{at} {is_of_if}");
        }
        let left_out: Vec<&str> = found.left_out.iter().map(|span| &NOTEBOOK[span.range()]).collect();
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
