//! Where the bytes of a text stand in the file that it was taken from: an example of a docstring, the cells of a
//! notebook.

use ruff_text_size::TextRange;

use crate::text::ByteSpan;

use super::module::span;

/// A map from a text to its file, piece by piece; without pieces everything stands where it is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Where each piece starts in the text, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl Places {
    /// The text from `local` on stands at `file`, up to the next piece.
    pub(super) fn push(&mut self, local: usize, file: usize) {
        self.pieces.push((local, file));
    }

    pub(super) fn span(&self, range: TextRange) -> ByteSpan {
        let local = span(range);
        let (start, end) = (local.start().get(), local.end().get());
        // The end of a piece isn't the start of the next one, which stands elsewhere.
        let last = if start == end { end } else { end - 1 };
        ByteSpan::new(self.at(start), self.at(last) + (end - last))
    }

    fn at(&self, local: usize) -> usize {
        let piece = self.pieces.partition_point(|(start, _)| *start <= local);
        match piece.checked_sub(1).and_then(|piece| self.pieces.get(piece)) {
            Some((start, file)) => file + (local - start),
            None => local,
        }
    }
}
