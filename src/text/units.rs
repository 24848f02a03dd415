//! The units in which places are counted, one type each; deliberately no arithmetic across them.

use std::fmt;

/// A byte offset in a file's exact bytes, 0-based, a byte-order mark counted. A scout keeps some for each name of each
/// file that it looks at, so they are small: [`SourceText`](super::SourceText) takes no text of 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ByteOffset(u32);

impl ByteOffset {
    /// Panics at 4 GiB, which no offset in a text reaches.
    pub(crate) const fn new(offset: usize) -> Self {
        assert!(offset <= u32::MAX as usize, "an offset lies in a text, which is smaller than 4 GiB");
        #[expect(clippy::cast_possible_truncation, reason = "just checked")]
        Self(offset as u32)
    }

    pub(crate) const fn get(self) -> usize {
        self.0 as usize
    }
}

/// A half-open range of bytes: `start <= end`, checked when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ByteSpan {
    start: ByteOffset,
    end: ByteOffset,
}

impl ByteSpan {
    /// Makes a span; panics when `start > end`, which no caller can reach with offsets of one text.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        assert!(start <= end, "a span ends at or after its start: {start}..{end}");
        Self { start: ByteOffset::new(start), end: ByteOffset::new(end) }
    }

    pub(crate) const fn start(self) -> ByteOffset {
        self.start
    }

    pub(crate) const fn end(self) -> ByteOffset {
        self.end
    }

    pub(crate) const fn len(self) -> usize {
        self.end.get() - self.start.get()
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(crate) const fn range(self) -> std::ops::Range<usize> {
        self.start.get()..self.end.get()
    }

    /// Whether `other` lies in this span; a span contains itself.
    pub(crate) const fn contains(self, other: Self) -> bool {
        self.start.0 <= other.start.0 && other.end.0 <= self.end.0
    }

    /// Whether the offset lies in the span or at its end (where a cursor just behind a word stands).
    pub(crate) const fn touches(self, offset: ByteOffset) -> bool {
        self.start.0 <= offset.0 && offset.0 <= self.end.0
    }

    /// This span as seen from `base`, the start of a span that contains it.
    pub(crate) fn relative_to(self, base: ByteOffset) -> Self {
        Self::new(self.start.get() - base.get(), self.end.get() - base.get())
    }

    /// A span relative to `base` as a span of the whole text.
    pub(crate) fn shifted(self, base: ByteOffset) -> Self {
        Self::new(self.start.get() + base.get(), self.end.get() + base.get())
    }
}

impl fmt::Display for ByteSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start.0, self.end.0)
    }
}

/// A line and a column in characters (code points), both 0-based; a byte-order mark is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    line: usize,
    column: usize,
}

impl Position {
    pub(crate) const fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }

    /// 0-based line.
    pub(crate) const fn line(self) -> usize {
        self.line
    }

    /// 0-based column in characters.
    pub(crate) const fn column(self) -> usize {
        self.column
    }
}

/// A position as the language server protocol counts it: 0-based line, 0-based UTF-16 code unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Utf16Position {
    line: u32,
    unit: u32,
}

impl Utf16Position {
    pub(crate) const fn new(line: u32, unit: u32) -> Self {
        Self { line, unit }
    }

    pub(crate) const fn line(self) -> u32 {
        self.line
    }

    pub(crate) const fn unit(self) -> u32 {
        self.unit
    }
}
