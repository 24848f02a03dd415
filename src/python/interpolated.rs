//! The f-strings and t-strings around a place, and what a Python before 3.12 can't read inside of one. What follows
//! from that for an edit is deliberately absent.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_f_string, walk_interpolated_string_element, walk_module, walk_t_string,
};
use ruff_python_ast::{FString, InterpolatedStringElement, PythonVersion, StringFlags as _, TString};
use ruff_python_parser::{Mode, ParseOptions, UnsupportedSyntaxErrorKind, parse_unchecked};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use crate::text::ByteSpan;

/// An f-string or a t-string with a place inside one of its replacement fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpolated {
    pub(crate) quote: String,
    pub(crate) kind: InterpolatedKind,
    /// Whether the field shows its own text, as `{f(1)=}` does. A field inside the format of such a field doesn't.
    pub(crate) shows_itself: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterpolatedKind {
    FString,
    /// Keeps the text of each field beside its value; Python 3.14 and later.
    TString,
}

/// The strings around a place in the text of a whole file, outermost first.
pub(crate) fn strings_around(text: &str, place: ByteSpan) -> Vec<Interpolated> {
    let size = |offset: usize| TextSize::try_from(offset).ok();
    let (Some(start), Some(end)) = (size(place.start().get()), size(place.end().get())) else { return Vec::new() };
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let mut around = Around::new(TextRange::new(start, end));
    walk_module(&mut around, parsed.syntax());
    around.found
}

/// Collects the strings around one place.
pub(super) struct Around {
    place: TextRange,
    pub(super) found: Vec<Interpolated>,
}

impl Around {
    pub(super) const fn new(place: TextRange) -> Self {
        Self { place, found: Vec::new() }
    }

    fn push(&mut self, quote: &str, kind: InterpolatedKind) {
        self.found.push(Interpolated { quote: quote.to_owned(), kind, shows_itself: false });
    }
}

impl<'a> SourceOrderVisitor<'a> for Around {
    fn visit_f_string(&mut self, string: &'a FString) {
        if string.range().contains_range(self.place) {
            self.push(string.flags.quote_str(), InterpolatedKind::FString);
            walk_f_string(self, string);
        }
    }

    fn visit_t_string(&mut self, string: &'a TString) {
        if string.range().contains_range(self.place) {
            self.push(string.flags.quote_str(), InterpolatedKind::TString);
            walk_t_string(self, string);
        }
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if !element.range().contains_range(self.place) {
            return;
        }
        if let InterpolatedStringElement::Interpolation(field) = element
            && field.debug_text.is_some()
            && field.expression.range().contains_range(self.place)
            && let Some(string) = self.found.last_mut()
        {
            string.shows_itself = true;
        }
        walk_interpolated_string_element(self, element);
    }
}

/// What of `after`, but not of `before`, a Python older than 3.12 can't read inside these strings; both are texts of
/// one expression.
pub(crate) fn unreadable_before_312(strings: &[Interpolated], before: &str, after: &str) -> Option<&'static str> {
    if strings.iter().any(|string| string.kind == InterpolatedKind::TString) {
        return None;
    }
    let old = faults(strings, before);
    let worse = |(what, count): (&'static str, usize)| (count > old.get(what).copied().unwrap_or(0)).then_some(what);
    faults(strings, after).into_iter().find_map(worse)
}

fn faults(strings: &[Interpolated], text: &str) -> BTreeMap<&'static str, usize> {
    let wrap = |text: String, string: &Interpolated| format!("f{quote}{{{text}}}{quote}", quote = string.quote);
    let whole = strings.iter().rev().fold(text.to_owned(), wrap);
    let options = ParseOptions::from(Mode::ParenthesizedExpression).with_target_version(PythonVersion::PY311);
    let mut found = BTreeMap::new();
    for error in parse_unchecked(&whole, options).unsupported_syntax_errors() {
        if let UnsupportedSyntaxErrorKind::Pep701FString(_) = error.kind {
            *found.entry(what(whole.get(error.range.to_std_range()))).or_insert(0) += 1;
        }
    }
    found
}

/// The parser keeps the kind of the fault to itself, but points at it.
fn what(at: Option<&str>) -> &'static str {
    match at {
        Some("\\") => "a backslash",
        Some("{") => "a line break",
        Some(comment) if comment.starts_with('#') => "a comment",
        _ => "its own quotes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strings around `f(`, outermost first: quote, and `=` where the field shows its own text.
    fn around(text: &str) -> Vec<String> {
        let at = text.find("f(").unwrap();
        let show = |string: Interpolated| {
            let kind = if string.kind == InterpolatedKind::TString { "t" } else { "" };
            format!("{kind}{}{}", string.quote, if string.shows_itself { "=" } else { "" })
        };
        strings_around(text, ByteSpan::new(at, at + 1)).into_iter().map(show).collect()
    }

    #[test]
    fn the_strings_around_a_place_are_known_with_their_quotes() {
        assert_eq!(around("f(1)"), [""; 0]);
        assert_eq!(around("print('a', f(1), F'{x}')"), [""; 0]);
        assert_eq!(around("Rf\"\"\"{k(F'{f(1)}')}\"\"\""), ["\"\"\"", "'"]);
        assert_eq!(around("x = 'a' F'{f(1)}' 'b'"), ["'"]);
        assert_eq!(around("x = t'{f(1)}'"), ["t'"]);
    }

    #[test]
    fn a_field_that_shows_its_own_text_is_told_from_one_that_does_not() {
        for text in ["F'{f(1)=}'", "F'{f(1) = !r:>5}'", "F'{g(f(1))=}'", "F'{(f(1))=}'", "F'{x:{f(1)=}}'"] {
            assert_eq!(around(text), ["'="], "{text}");
        }
        for text in ["F'{f(1)}='", "F'{x=}{f(1)}'", "F'{x=:{f(1)}}'", "F'{f(a=1)}'", "F'{f(1) == 2}'"] {
            assert_eq!(around(text), ["'"], "{text}");
        }
        assert_eq!(around("F\"{g(F'{f(1)}')=}\""), ["\"=", "'"]);
        assert_eq!(around("t'{f(1)=}'"), ["t'="]);
    }

    fn check(quotes: &[&str], before: &str, after: &str) -> Option<&'static str> {
        let read = |quote: &&str| {
            let plain = quote.trim_start_matches('t');
            let kind = if plain == *quote { InterpolatedKind::FString } else { InterpolatedKind::TString };
            Interpolated { quote: plain.to_owned(), kind, shows_itself: false }
        };
        unreadable_before_312(&quotes.iter().map(read).collect::<Vec<_>>(), before, after)
    }

    #[test]
    fn what_an_old_python_can_not_read_is_named() {
        assert_eq!(check(&["'"], "f(1)", "f(1, v='a')"), Some("its own quotes"));
        assert_eq!(check(&["'"], "f(1)", "f(1, v=\"a#b\")"), None);
        assert_eq!(check(&["'"], "f(1)", "f(1, v=\"\\n\")"), Some("a backslash"));
        assert_eq!(check(&["'"], "f(1)", "f(1,\nv=2)"), Some("a line break"));
        assert_eq!(check(&["'''"], "f(1)", "f(1, v='a', w=\"b\")"), None);
        assert_eq!(check(&["'''"], "f(1)", "f(1, v=\"\\n\")"), Some("a backslash"));
        assert_eq!(check(&["'''"], "f(1)", "f(1, v='''a''')"), Some("its own quotes"));
        assert_eq!(check(&["'''"], "f(\n1)", "f(\n1,\nv=2)"), None);
        assert_eq!(check(&["'''"], "f(\n1)", "f(\n1, # why\nv=2)"), Some("a comment"));
        assert_eq!(check(&["'''", "\""], "f(1)", "f(1, v='a')"), None);
        assert_eq!(check(&["'''", "\""], "f(1)", "f(1, v=\"a\")"), Some("its own quotes"));
        assert_eq!(check(&[], "f(1)", "f(1, v='a\\n')"), None);
        assert_eq!(check(&[], "g(f\"{f(1)}\")", "g(f\"{f(1, v=\"a\")}\")"), Some("its own quotes"));
    }

    #[test]
    fn what_is_there_already_and_what_only_a_new_python_reads_is_no_fault() {
        assert_eq!(check(&["'"], "f('b')", "f('b', v='a')"), None);
        assert_eq!(check(&["t'"], "f(1)", "f(1, v='a')"), None);
    }
}
