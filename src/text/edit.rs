//! Changes to one text: spans replaced by new text.

use super::{ByteOffset, ByteSpan, EditError, SourceText};

/// Replaces the bytes of a span; an empty span inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: ByteSpan,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { span: ByteSpan::new(at, at), text: text.into() }
    }

    pub(crate) fn replace(span: ByteSpan, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub(crate) fn shifted(&self, base: ByteOffset) -> Self {
        Self { span: self.span.shifted(base), text: self.text.clone() }
    }
}

/// Edits of one text, sorted by place and disjoint. Insertions at one place keep the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EditSet {
    edits: Vec<Edit>,
}

impl EditSet {
    pub(crate) fn new(mut edits: Vec<Edit>) -> Result<Self, EditError> {
        edits.sort_by_key(|edit| edit.span);
        for pair in edits.windows(2) {
            let [first, second] = pair else { continue };
            if first.span.end() > second.span.start() {
                return Err(EditError::Overlap { first: first.span, second: second.span });
            }
        }
        Ok(Self { edits })
    }

    /// The same, and every edit must lie inside `region`.
    pub(crate) fn within(region: ByteSpan, edits: Vec<Edit>) -> Result<Self, EditError> {
        if let Some(edit) = edits.iter().find(|edit| !region.contains(edit.span)) {
            return Err(EditError::OutsideRegion { edit: edit.span, region });
        }
        Self::new(edits)
    }

    pub(crate) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Both sets as one.
    pub(crate) fn merged(&self, other: &Self) -> Result<Self, EditError> {
        Self::new(self.edits.iter().chain(&other.edits).cloned().collect())
    }

    /// The text with all edits made.
    pub(crate) fn apply(&self, source: &SourceText) -> Result<String, EditError> {
        self.apply_to(source.as_str())
    }

    /// The same for a piece of text whose first byte is offset 0.
    pub(crate) fn apply_to(&self, text: &str) -> Result<String, EditError> {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for edit in &self.edits {
            let not_a_boundary = EditError::NotABoundary { edit: edit.span };
            out.push_str(text.get(copied..edit.span.start().get()).ok_or_else(|| not_a_boundary.clone())?);
            if !text.is_char_boundary(edit.span.end().get()) {
                return Err(not_a_boundary);
            }
            out.push_str(&edit.text);
            copied = edit.span.end().get();
        }
        out.push_str(text.get(copied..).expect("the last edit ended on a character border of the text"));
        Ok(out)
    }

    /// Where an offset of the old text stands in the new one; `None` strictly inside a replaced span.
    /// An offset at an insertion moves behind it.
    pub(crate) fn map_offset(&self, offset: ByteOffset) -> Option<ByteOffset> {
        let mut at = offset.get();
        for edit in &self.edits {
            if edit.span.start() > offset {
                break;
            }
            if edit.span.end() > offset && edit.span.start() < offset {
                return None;
            }
            if edit.span.start() == offset && !edit.span.is_empty() {
                break;
            }
            at = at + edit.text.len() - edit.span.len();
        }
        Some(ByteOffset::new(at))
    }

    /// Where a span of the old text stands in the new one, when no edit straddles one of its ends:
    /// edits inside it make it longer or shorter.
    pub(crate) fn map_span(&self, span: ByteSpan) -> Option<ByteSpan> {
        let mut before = 0isize;
        let mut inside = 0isize;
        for edit in &self.edits {
            let grown = isize::try_from(edit.text.len()).ok()? - isize::try_from(edit.span.len()).ok()?;
            if span.contains(edit.span) {
                inside += grown;
            } else if edit.span.end() <= span.start() {
                before += grown;
            } else if edit.span.start() < span.end() {
                return None;
            }
        }
        let start = span.start().get().checked_add_signed(before)?;
        Some(ByteSpan::new(start, span.end().get().checked_add_signed(before + inside)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(edits: &[(usize, usize, &str)]) -> EditSet {
        EditSet::new(edits.iter().map(|&(a, b, t)| Edit::replace(ByteSpan::new(a, b), t)).collect()).unwrap()
    }

    #[test]
    fn edits_are_made_from_one_old_text() {
        assert_eq!(set(&[(4, 5, "Z"), (0, 1, "long"), (2, 2, "+")]).apply_to("abcdef").unwrap(), "longb+cdZf");
    }

    #[test]
    fn overlapping_edits_are_refused() {
        let edits = vec![Edit::replace(ByteSpan::new(0, 3), ""), Edit::replace(ByteSpan::new(2, 4), "")];
        assert!(matches!(EditSet::new(edits), Err(EditError::Overlap { .. })));
    }

    #[test]
    fn an_edit_outside_its_region_is_refused() {
        let edits = vec![Edit::insert(9, "x")];
        assert!(matches!(EditSet::within(ByteSpan::new(0, 8), edits), Err(EditError::OutsideRegion { .. })));
    }

    #[test]
    fn an_edit_inside_a_character_is_refused() {
        assert!(set(&[(1, 1, "x")]).apply_to("é").is_err());
    }

    #[test]
    fn old_offsets_have_one_new_place() {
        let edits = set(&[(2, 2, "++"), (4, 6, "")]);
        let map = |at| edits.map_offset(ByteOffset::new(at)).map(ByteOffset::get);
        assert_eq!(
            (map(0), map(2), map(3), map(4), map(5), map(6), map(7)),
            (Some(0), Some(4), Some(5), Some(6), None, Some(6), Some(7))
        );
    }

    #[test]
    fn a_span_grows_with_the_edits_inside_it() {
        let edits = set(&[(0, 0, "#"), (5, 5, "abc")]);
        assert_eq!(edits.map_span(ByteSpan::new(4, 6)), Some(ByteSpan::new(5, 10)));
        assert_eq!(set(&[(3, 5, "")]).map_span(ByteSpan::new(4, 8)), None);
    }
}
