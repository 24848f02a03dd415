//! In which order regions are settled, and how a new text for a region is fitted around what was settled inside it.
//! Pure.
//!
//! A model replaces its whole region, so a round never holds a region together with one inside it: inner ones come
//! first, the outer one is shown with them as they then stand, and they must come back unchanged. A reply for the
//! outer one then changes only what lies between them, which composes with their own edits:
//!
//! ```python
//! q.m(a).m(b)    # settled inside: q.m(a, x=1)
//! ```

use crate::plan::Proposal;
use crate::text::{ByteSpan, Edit, EditSet, RelPath, SourceText};

/// Groups regions into rounds: the first holds those with no other inside, and so on. Returns indices.
pub(super) fn levels(regions: &[(&RelPath, ByteSpan)]) -> Vec<Vec<usize>> {
    let depth = |index: usize| depth_of(regions, index);
    let depths: Vec<usize> = (0..regions.len()).map(depth).collect();
    let deepest = depths.iter().copied().max().unwrap_or(0);
    (0..=deepest).map(|level| (0..regions.len()).filter(|&i| depths.get(i) == Some(&level)).collect()).collect()
}

/// How many regions stand inside one another below this one.
fn depth_of(regions: &[(&RelPath, ByteSpan)], index: usize) -> usize {
    let Some(&(file, region)) = regions.get(index) else { return 0 };
    let inside =
        |&(other_file, other): &(&RelPath, ByteSpan)| other_file == file && other != region && region.contains(other);
    (0..regions.len())
        .filter(|&i| regions.get(i).is_some_and(inside))
        .map(|i| depth_of(regions, i) + 1)
        .max()
        .unwrap_or(0)
}

/// A region as it stands after earlier rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) text: String,
    /// The site's name within `text`.
    pub(super) name: ByteSpan,
    /// Settled regions inside, the outermost of them, within `text`.
    pub(super) settled: Vec<ByteSpan>,
    /// The same in the file as it was scouted.
    original: Vec<ByteSpan>,
    region: ByteSpan,
}

impl Standing {
    /// The region with the edits of `accepted` in it; `inner` are the regions inside that are settled, changed or not.
    /// `None` when an edit straddles a border, which no accepted one does.
    pub(super) fn new(
        source: &SourceText,
        region: ByteSpan,
        name: ByteSpan,
        inner: &[ByteSpan],
        accepted: &[&Proposal],
    ) -> Option<Self> {
        let base = region.start();
        let edits: Vec<Edit> = accepted
            .iter()
            .flat_map(|proposal| proposal.edits.edits())
            .filter(|edit| region.contains(edit.span))
            .map(|edit| Edit { span: edit.span.relative_to(base), text: edit.text.clone() })
            .collect();
        let edits = EditSet::new(edits).ok()?;
        let text = edits.apply_to(source.slice(region)?).ok()?;
        let original = outermost(inner);
        let settled = original.iter().map(|span| edits.map_span(span.relative_to(base))).collect::<Option<Vec<_>>>()?;
        Some(Self { text, name: edits.map_span(name.relative_to(base))?, settled, original, region })
    }

    /// The edits, in the file as it was scouted, that turn the region into `new_text` and leave what was settled
    /// inside alone. `None` when a settled part isn't in it.
    pub(super) fn fit(&self, source: &SourceText, new_text: &str) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut rest = new_text;
        let mut from = self.region.start();
        for (settled, original) in self.settled.iter().zip(&self.original) {
            let part = self.text.get(settled.range())?;
            let at = rest.find(part)?;
            push_change(&mut edits, source, ByteSpan::new(from.get(), original.start().get()), rest.get(..at)?)?;
            rest = rest.get(at + part.len()..)?;
            from = original.end();
        }
        push_change(&mut edits, source, ByteSpan::new(from.get(), self.region.end().get()), rest)?;
        Some(edits)
    }
}

fn push_change(edits: &mut Vec<Edit>, source: &SourceText, span: ByteSpan, text: &str) -> Option<()> {
    if source.slice(span)? != text {
        edits.push(Edit::replace(span, text));
    }
    Some(())
}

/// Those of the spans that no other contains, in order.
fn outermost(spans: &[ByteSpan]) -> Vec<ByteSpan> {
    let mut found: Vec<ByteSpan> = spans
        .iter()
        .filter(|span| !spans.iter().any(|other| other != *span && other.contains(**span)))
        .copied()
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SiteId;
    use crate::text::ByteOffset;

    fn spans(pairs: &[(usize, usize)]) -> Vec<ByteSpan> {
        pairs.iter().map(|&(a, b)| ByteSpan::new(a, b)).collect()
    }

    #[test]
    fn inner_regions_come_first() {
        let file = RelPath::new("a.py").unwrap();
        // f(f(f(1))) and a call beside it.
        let regions: Vec<_> = spans(&[(0, 10), (2, 9), (4, 8), (20, 24)]).into_iter().map(|s| (&file, s)).collect();
        assert_eq!(levels(&regions), [vec![2, 3], vec![1], vec![0]]);
    }

    #[test]
    fn a_reply_is_fitted_around_what_was_settled_inside() {
        let source = SourceText::from_text("q.m(a).m(b)");
        let file = RelPath::new("a.py").unwrap();
        let inner = Proposal {
            site: SiteId::new(&file, ByteOffset::new(2)),
            file: file.clone(),
            region: ByteSpan::new(0, 6),
            edits: EditSet::new(vec![Edit::insert(5, ", x=1")]).unwrap(),
        };
        let region = ByteSpan::new(0, 11);
        let standing = Standing::new(&source, region, ByteSpan::new(7, 8), &[inner.region], &[&inner]).unwrap();
        assert_eq!(standing.text, "q.m(a, x=1).m(b)");
        assert_eq!(standing.text.get(standing.name.range()), Some("m"));
        let edits = standing.fit(&source, "q.m(a, x=1).m(b, x=1)").unwrap();
        let both = EditSet::new(edits).unwrap().merged(&inner.edits).unwrap();
        assert_eq!(both.apply(&source).unwrap(), "q.m(a, x=1).m(b, x=1)");
        assert_eq!(standing.fit(&source, "q.m(a).m(b, x=1)"), None);
    }
}
