//! Where a name stands in a text as a whole word, found without looking at the syntax: the independent
//! count that the census has to add up to.

use memchr::memmem;

use crate::text::ByteSpan;

/// Whether a character can be part of an identifier.
pub(crate) fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether the text is one Python identifier (keywords are not told apart here).
pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic()) && text.chars().all(is_word_char)
}

/// Every place where `name` stands as a whole word.
pub(crate) fn words(text: &str, name: &str) -> Vec<ByteSpan> {
    occurrences(text, name).filter(|&place| surrounding_word(text, place) == place).collect()
}

/// Every longer word that contains `name`, each once.
pub(crate) fn longer_words(text: &str, name: &str) -> Vec<ByteSpan> {
    let mut found: Vec<ByteSpan> = occurrences(text, name)
        .map(|place| (place, surrounding_word(text, place)))
        .filter(|(place, word)| place != word)
        .map(|(_, word)| word)
        .collect();
    found.dedup();
    found
}

fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = ByteSpan> + 't {
    memmem::find_iter(text.as_bytes(), name.as_bytes()).map(|start| ByteSpan::new(start, start + name.len()))
}

/// The maximal run of identifier characters around a place.
fn surrounding_word(text: &str, place: ByteSpan) -> ByteSpan {
    let before = text.get(..place.start().get()).unwrap_or_default();
    let after = text.get(place.end().get()..).unwrap_or_default();
    let lead: usize = before.chars().rev().take_while(|&c| is_word_char(c)).map(char::len_utf8).sum();
    let tail: usize = after.chars().take_while(|&c| is_word_char(c)).map(char::len_utf8).sum();
    ByteSpan::new(place.start().get() - lead, place.end().get() + tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: &str, expected: &[(usize, usize)]) {
        let found: Vec<_> = words(text, name).iter().map(|s| (s.start().get(), s.end().get())).collect();
        assert_eq!(found, expected, "{name} in {text:?}");
    }

    #[test]
    fn only_whole_words_count() {
        check("f(f1, _f, f)", "f", &[(0, 1), (10, 11)]);
        check("éf f é.f", "f", &[(4, 5), (9, 10)]);
        check("été(été)", "été", &[(0, 5), (6, 11)]);
        check("", "f", &[]);
    }

    #[test]
    fn longer_words_are_listed_once_each() {
        let text = "render render_x rerender render";
        let found: Vec<_> = longer_words(text, "render").iter().map(|s| s.range()).collect();
        assert_eq!(found, [7..15, 16..24]);
    }
}
