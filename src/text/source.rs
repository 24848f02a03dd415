//! One file's text with its revision and its own line index.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::line_index::LineIndex;
use super::{ByteOffset, ByteSpan, Position, PositionError, SourceError, Utf16Position};

const BOM: char = '\u{feff}';

/// SHA-256 of a file's exact bytes, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 });
        Self(Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
    }

    /// Reads back what [`Revision::as_str`] gave; `None` unless it is 64 lower-case hexadecimal digits.
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let digits = hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| Self(hex.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A decoded file. The text is never normalised: it equals the file's bytes, byte-order mark and line
/// endings included, so every byte offset in it is an offset in the file.
#[derive(Debug, Clone)]
pub(crate) struct SourceText {
    text: String,
    revision: Revision,
    lines: LineIndex,
}

impl SourceText {
    /// Decodes UTF-8 bytes, with or without a byte-order mark.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Self, SourceError> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(SourceError::TooLarge);
        }
        let revision = Revision::of(&bytes);
        let text =
            String::from_utf8(bytes).map_err(|error| SourceError::NotUtf8 { at: error.utf8_error().valid_up_to() })?;
        let lines = LineIndex::new(&text);
        Ok(Self { text, revision, lines })
    }

    pub(crate) fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), revision: Revision::of(text.as_bytes()), lines: LineIndex::new(text) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) const fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Length of the byte-order mark: 3 bytes or none.
    pub(crate) fn bom_len(&self) -> usize {
        if self.text.starts_with(BOM) { BOM.len_utf8() } else { 0 }
    }

    /// The text of a span, or `None` where the span doesn't lie on character borders of this text.
    pub(crate) fn slice(&self, span: ByteSpan) -> Option<&str> {
        self.text.get(span.range())
    }

    pub(crate) fn position(&self, offset: ByteOffset) -> Result<Position, PositionError> {
        let (line, before) = self.before(offset)?;
        Ok(Position::new(line, before.chars().count()))
    }

    /// The byte offset of a line and a column in characters; the column may be just behind the last character.
    pub(crate) fn offset(&self, position: Position) -> Result<ByteOffset, PositionError> {
        let (start, content) = self.line_content(position.line())?;
        let mut boundaries = content.char_indices().map(|(at, _)| at).chain([content.len()]);
        let at = boundaries.nth(position.column()).ok_or_else(|| PositionError::ColumnPastEnd {
            line: position.line(),
            column: position.column(),
            length: content.chars().count(),
        })?;
        Ok(ByteOffset::new(start + at))
    }

    /// How many bytes of its line stand before the offset, a byte-order mark not counted.
    pub(crate) fn byte_column(&self, offset: ByteOffset) -> Result<usize, PositionError> {
        Ok(self.before(offset)?.1.len())
    }

    /// A line, counted from 0, without its ending and without a byte-order mark.
    pub(crate) fn line(&self, line: usize) -> Result<&str, PositionError> {
        self.line_content(line).map(|(_, content)| content)
    }

    pub(crate) fn utf16(&self, offset: ByteOffset) -> Result<Utf16Position, PositionError> {
        let (line, before) = self.before(offset)?;
        let unit: usize = before.chars().map(char::len_utf16).sum();
        let number = |n: usize| u32::try_from(n).map_err(|_| PositionError::NotABoundary { at: offset.get() });
        Ok(Utf16Position::new(number(line)?, number(unit)?))
    }

    pub(crate) fn offset_of_utf16(&self, position: Utf16Position) -> Result<ByteOffset, PositionError> {
        let wide = |n: u32| usize::try_from(n).expect("a usize holds 32 bits");
        let (line, wanted) = (wide(position.line()), wide(position.unit()));
        let (start, content) = self.line_content(line)?;
        let mut unit = 0;
        for (at, c) in content.char_indices() {
            if unit == wanted {
                return Ok(ByteOffset::new(start + at));
            }
            if unit > wanted {
                return Err(PositionError::InsideSurrogatePair(position));
            }
            unit += c.len_utf16();
        }
        match unit.cmp(&wanted) {
            std::cmp::Ordering::Equal => Ok(ByteOffset::new(start + content.len())),
            std::cmp::Ordering::Greater => Err(PositionError::InsideSurrogatePair(position)),
            std::cmp::Ordering::Less => Err(PositionError::ColumnPastEnd { line, column: wanted, length: unit }),
        }
    }

    fn content_bounds(&self, line: usize) -> Option<(usize, usize)> {
        let (start, end) = self.lines.bounds(line, self.text.len())?;
        let start = if line == 0 { self.bom_len() } else { start };
        let content = self.text.get(start..end)?;
        Some((start, start + content.trim_end_matches(['\n', '\r']).len()))
    }

    fn line_content(&self, line: usize) -> Result<(usize, &str), PositionError> {
        // What follows the last line end is a place, but no line that an editor would count.
        let after_last_end = self.lines.count() > 1 && self.text.ends_with(['\n', '\r']);
        let lines = self.lines.count() - usize::from(after_last_end);
        let past_end = PositionError::LinePastEnd { line, lines };
        let (start, end) = self.content_bounds(line).ok_or(past_end)?;
        let content = self.text.get(start..end).expect("the bounds of a line are character borders");
        Ok((start, content))
    }

    /// The line of an offset and what stands before it on that line, without a byte-order mark.
    fn before(&self, offset: ByteOffset) -> Result<(usize, &str), PositionError> {
        let not_a_boundary = PositionError::NotABoundary { at: offset.get() };
        if offset.get() > self.text.len() || !self.text.is_char_boundary(offset.get()) {
            return Err(not_a_boundary);
        }
        let line = self.lines.line_of(offset.get());
        let (start, _) = self.content_bounds(line).ok_or_else(|| not_a_boundary.clone())?;
        let before = self.text.get(start..offset.get().max(start)).ok_or(not_a_boundary)?;
        Ok((line, before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "\u{feff}a\tb\r\nxé😀y\rz\u{0301}q\n\nlast 😀";

    #[test]
    fn every_character_border_survives_the_round_trip_through_both_units() {
        let source = SourceText::from_text(NASTY);
        for (at, c) in NASTY.char_indices().chain([(NASTY.len(), ' ')]) {
            let inside_line_ending = c == '\n' && NASTY.get(..at).unwrap().ends_with('\r');
            if at == 0 || inside_line_ending {
                continue;
            }
            let offset = ByteOffset::new(at);
            assert_eq!(source.offset(source.position(offset).unwrap()).unwrap(), offset, "characters at {at}");
            assert_eq!(source.offset_of_utf16(source.utf16(offset).unwrap()).unwrap(), offset, "UTF-16 at {at}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_counted_in_bytes_and_not_in_columns() {
        let source = SourceText::from_text("\u{feff}f()\n");
        assert_eq!(source.position(ByteOffset::new(3)).unwrap(), Position::new(0, 0));
        assert_eq!(source.offset(Position::new(0, 0)).unwrap(), ByteOffset::new(3));
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        let source = SourceText::from_text("a\rb\r\nc\nd");
        let line = |at| source.position(ByteOffset::new(at)).unwrap().line();
        assert_eq!((line(0), line(2), line(5), line(7)), (0, 1, 2, 3));
    }

    #[test]
    fn a_line_comes_without_its_ending_and_a_column_in_bytes_without_the_mark() {
        let source = SourceText::from_text(NASTY);
        assert_eq!((source.line(0), source.line(1)), (Ok("a\tb"), Ok("xé😀y")));
        assert_eq!(source.byte_column(ByteOffset::new(NASTY.find('y').unwrap())), Ok(7));
        assert_eq!(source.byte_column(ByteOffset::new(3)), Ok(0));
        assert!(source.line(9).is_err());
    }

    #[test]
    fn positions_that_do_not_fit_fail_instead_of_clamping() {
        let source = SourceText::from_text("a😀\n");
        let utf16 = |line, unit| source.offset_of_utf16(Utf16Position::new(line, unit));
        assert!(matches!(utf16(0, 2), Err(PositionError::InsideSurrogatePair(_))));
        assert!(matches!(utf16(0, 9), Err(PositionError::ColumnPastEnd { length: 3, .. })));
        assert!(matches!(utf16(7, 0), Err(PositionError::LinePastEnd { lines: 1, .. })));
        assert!(matches!(source.offset(Position::new(0, 3)), Err(PositionError::ColumnPastEnd { .. })));
        assert!(matches!(source.position(ByteOffset::new(2)), Err(PositionError::NotABoundary { .. })));
    }

    #[test]
    fn a_revision_reads_back_only_what_it_wrote() {
        let revision = Revision::of(b"x");
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        assert_eq!(Revision::parse("abc"), None);
    }
}
