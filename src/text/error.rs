//! What can go wrong with one text, its places and its changes.

use super::{ByteSpan, Utf16Position};

/// Why a path was refused as a path inside the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("{path:?} is absolute; paths are relative to the workspace")]
    Absolute { path: String },
    #[error("{path:?} holds an empty, `.` or `..` segment, or a NUL")]
    BadSegment { path: String },
    #[error("{path:?} is not UTF-8, so no JSON and no protocol can name it")]
    NotUtf8 { path: String },
    #[error("{path:?} is not below {root:?}")]
    Outside { path: String, root: String },
}

/// Why bytes are not a source text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    #[error("byte {at} can't be decoded as UTF-8")]
    NotUtf8 { at: usize },
    #[error("it is larger than 4 GiB")]
    TooLarge,
}

/// Why a place doesn't exist in this text, told from 1 as people count. Nothing is clamped: a position that doesn't fit means that
/// whoever made it looked at another text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PositionError {
    #[error("line {} is past the end ({lines} {})", line + 1, if *lines == 1 { "line" } else { "lines" })]
    LinePastEnd { line: usize, lines: usize },
    #[error("column {} is past the end of line {} ({length} wide)", column + 1, line + 1)]
    ColumnPastEnd { line: usize, column: usize, length: usize },
    #[error("UTF-16 position {}:{} is inside a surrogate pair", .0.line(), .0.unit())]
    InsideSurrogatePair(Utf16Position),
    #[error("byte {at} is inside a character or past the end")]
    NotABoundary { at: usize },
}

/// Why a set of edits can't be made or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("edits {first} and {second} overlap")]
    Overlap { first: ByteSpan, second: ByteSpan },
    #[error("edit {edit} lies outside the region {region}")]
    OutsideRegion { edit: ByteSpan, region: ByteSpan },
    #[error("edit {edit} does not lie on character borders of the text")]
    NotABoundary { edit: ByteSpan },
}
