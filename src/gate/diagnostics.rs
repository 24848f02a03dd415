//! What is new after a change: the diagnostics after it, less those before it.
//!
//! All changes are known spans, so an old diagnostic outside of the regions has exactly one new place, and must be
//! found there; a bare count of equal messages would hide an error that appears while an equal one elsewhere goes.
//! Inside a region the text is another one, and equal messages of that region are counted.

use std::collections::BTreeMap;

use crate::text::{ByteOffset, ByteSpan, EditError, EditSet, Position, SourceText};

/// A diagnostic by what tells it from others. The long description is left out: it names the folders that were searched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// Relative to the project root, `/`-separated; absolute outside of it.
    pub(super) file: String,
    /// The cell of a notebook.
    pub(super) cell: Option<u64>,
    pub(super) start: Position,
    pub(super) end: Position,
    pub(super) rule: String,
    pub(super) message: String,
}

/// One file with its edits.
#[derive(Debug)]
pub(super) struct Change<'a> {
    before: &'a SourceText,
    after: SourceText,
    edits: EditSet,
    /// Regions of the old text with their places in the new one; smallest first.
    regions: Vec<(ByteSpan, ByteSpan)>,
}

impl<'a> Change<'a> {
    /// Makes all edits, given with the region that each set belongs to. A region of which an edit of a surrounding
    /// one takes a part has no place any more.
    pub(super) fn new(before: &'a SourceText, parts: &[(ByteSpan, &EditSet)]) -> Result<Self, EditError> {
        let edits = EditSet::new(parts.iter().flat_map(|(_, edits)| edits.edits()).cloned().collect())?;
        let after = SourceText::from_text(&edits.apply(before)?);
        let mut regions: Vec<_> =
            parts.iter().filter_map(|&(region, _)| Some((region, moved_region(region, parts)?))).collect();
        regions.sort_by_key(|(old, _)| (old.len(), *old));
        regions.dedup();
        Ok(Self { before, after, edits, regions })
    }

    pub(super) const fn after(&self) -> &SourceText {
        &self.after
    }

    /// The smallest region in which the finding of the new text lies: whole if there is one, else with its start.
    pub(super) fn region_after(&self, found: &Found) -> Option<ByteSpan> {
        self.region(span_of(&self.after, found)?, |(_, new)| *new)
    }

    fn region(&self, span: ByteSpan, side: impl Fn(&(ByteSpan, ByteSpan)) -> ByteSpan) -> Option<ByteSpan> {
        let start = ByteSpan::new(span.start().get(), span.start().get());
        // The place just behind a region belongs to what follows it.
        let holds_start = |region: ByteSpan| region.contains(start) && region.end() != start.end();
        let whole = self.regions.iter().find(|pair| side(pair).contains(span) && holds_start(side(pair)));
        whole.or_else(|| self.regions.iter().find(|pair| holds_start(side(pair)))).map(|(old, _)| *old)
    }

    fn place_before(&self, found: &Found) -> Option<Place> {
        let span = span_of(self.before, found)?;
        if let Some(region) = self.region(span, |(old, _)| *old) {
            return Some(Place::In(region));
        }
        self.edits.map_offset(span.start()).map(Place::At)
    }

    fn place_after(&self, found: &Found) -> Option<Place> {
        let span = span_of(&self.after, found)?;
        Some(self.region(span, |(_, new)| *new).map_or(Place::At(span.start()), Place::In))
    }
}

/// Where a region stands in the new text. An insertion at its border belongs to it only if it comes from this region or
/// one inside it: in `f(f(1))` the outer call may get an argument just where the inner call ends.
fn moved_region(region: ByteSpan, parts: &[(ByteSpan, &EditSet)]) -> Option<ByteSpan> {
    let (mut before, mut inside) = (0isize, 0isize);
    for (owner, edits) in parts {
        for edit in edits.edits() {
            let grown = isize::try_from(edit.text.len()).ok()? - isize::try_from(edit.span.len()).ok()?;
            if region.contains(*owner) {
                inside += grown;
            } else if edit.span.end() <= region.start() {
                before += grown;
            } else if edit.span.start() < region.end() {
                return None;
            }
        }
    }
    let start = region.start().get().checked_add_signed(before)?;
    Some(ByteSpan::new(start, region.end().get().checked_add_signed(before + inside)?))
}

/// The bytes of a finding; `None` when its place isn't one of this text.
pub(super) fn span_of(text: &SourceText, found: &Found) -> Option<ByteSpan> {
    if found.cell.is_some() {
        return None;
    }
    let (start, end) = (text.offset(found.start).ok()?, text.offset(found.end).ok()?);
    (start <= end).then(|| ByteSpan::new(start.get(), end.get()))
}

/// Where a diagnostic stands, in the terms in which before and after can be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In a file without edits, or where the checker names a place that the text doesn't have.
    Exactly(Option<u64>, Position),
    /// In an edited file outside of the regions: byte offset in the new text.
    At(ByteOffset),
    /// In this region of the old text.
    In(ByteSpan),
}

type Key<'a> = (&'a str, &'a str, &'a str, Place);

fn key(found: &Found, place: Option<Place>) -> Key<'_> {
    let place = place.unwrap_or(Place::Exactly(found.cell, found.start));
    (&found.file, &found.rule, &found.message, place)
}

/// The findings of `after` that `before` doesn't have, in order of file and place.
pub(super) fn new_findings<'a>(
    before: &[Found],
    after: &'a [Found],
    changes: &BTreeMap<String, Change<'_>>,
) -> Vec<&'a Found> {
    let mut known: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for found in before {
        let place = changes.get(&found.file).and_then(|change| change.place_before(found));
        *known.entry(key(found, place)).or_default() += 1;
    }
    let mut new = Vec::new();
    for found in after {
        let place = changes.get(&found.file).and_then(|change| change.place_after(found));
        match known.get_mut(&key(found, place)) {
            Some(left) if *left > 0 => *left -= 1,
            Some(_) | None => new.push(found),
        }
    }
    new.sort();
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Edit;

    fn found(place: (usize, usize), length: usize, message: &str) -> Found {
        let (line, column) = place;
        Found {
            file: "a.py".into(),
            cell: None,
            start: Position::new(line, column),
            end: Position::new(line, column + length),
            rule: "rule".into(),
            message: message.into(),
        }
    }

    type InRegion<'a> = ((usize, usize), (usize, usize, &'a str));

    /// The places of what is new after edits, each given with its region.
    fn check(text: &str, edits: &[InRegion<'_>], before: &[Found], after: &[Found]) -> Vec<(usize, usize)> {
        let source = SourceText::from_text(text);
        let parts: Vec<_> = edits
            .iter()
            .map(|&(region, (a, b, new))| {
                (
                    ByteSpan::new(region.0, region.1),
                    EditSet::new(vec![Edit::replace(ByteSpan::new(a, b), new)]).unwrap(),
                )
            })
            .collect();
        let parts: Vec<_> = parts.iter().map(|(region, edits)| (*region, edits)).collect();
        let changes = BTreeMap::from([("a.py".to_owned(), Change::new(&source, &parts).unwrap())]);
        new_findings(before, after, &changes).iter().map(|f| (f.start.line(), f.start.column())).collect()
    }

    const TWO: &str = "f(1)\nf(2)\n";

    #[test]
    fn a_diagnostic_that_only_moved_is_not_new() {
        // A line is put in before it, and the line that it stands on grows.
        let (before, after) = ([found((1, 4), 1, "e")], [found((2, 7), 1, "e")]);
        assert_eq!(check("f()\nf() e\n", &[((0, 3), (2, 2, "\n")), ((4, 7), (6, 6, "k=1"))], &before, &after), []);
    }

    #[test]
    fn an_error_that_appears_while_an_equal_one_goes_is_new() {
        let (before, after) = ([found((0, 2), 1, "e")], [found((1, 2), 1, "e")]);
        assert_eq!(check(TWO, &[((0, 4), (2, 3, "x")), ((5, 9), (7, 8, "y"))], &before, &after), [(1, 2)]);
    }

    #[test]
    fn an_equal_message_in_the_same_region_is_the_same_one_wherever_it_stands_there() {
        let (before, after) = ([found((0, 2), 1, "e")], [found((0, 7), 1, "e")]);
        assert_eq!(check(TWO, &[((0, 4), (2, 3, "k=1, x"))], &before, &after), []);
    }

    #[test]
    fn equal_messages_in_a_region_are_counted() {
        let (before, after) = ([found((0, 2), 1, "e")], [found((0, 2), 1, "e"), found((0, 5), 1, "e")]);
        assert_eq!(check(TWO, &[((0, 4), (2, 3, "1, x"))], &before, &after), [(0, 5)]);
    }

    #[test]
    fn a_diagnostic_of_the_outer_call_is_not_taken_for_one_of_the_inner() {
        // `f(f(1))`: the message goes from the outer argument list and comes up in the inner one.
        let (before, after) = ([found((0, 1), 6, "e")], [found((0, 3), 5, "e")]);
        assert_eq!(check("f(f(1))\n", &[((2, 6), (5, 5, ",2")), ((0, 7), (6, 6, ",3"))], &before, &after), [(0, 3)]);
    }

    #[test]
    fn what_an_outer_call_gets_just_behind_an_inner_one_is_outside_of_the_inner_one() {
        // `f(f(1,2),3)`: the message stands at what the outer call got.
        let outer = ((0, 7), (6, 6, ",3"));
        let both = [((2, 6), (5, 5, ",2")), outer];
        assert_eq!(check("f(f(1))\n", &both, &[found((0, 4), 1, "e")], &[found((0, 9), 1, "e")]), [(0, 9)]);
        assert_eq!(check("f(f(1))\n", &both, &[found((0, 4), 1, "e")], &[found((0, 6), 1, "e")]), []);
    }

    #[test]
    fn what_stands_just_behind_a_region_is_outside_of_it() {
        let (before, after) = ([found((0, 4), 1, "e")], [found((0, 6), 1, "e")]);
        assert_eq!(check("f(1)+f\n", &[((0, 4), (3, 3, ",2"))], &before, &after), []);
        assert_eq!(check("f(1)+f\n", &[((0, 4), (3, 3, ",2"))], &before, &[found((0, 2), 1, "e")]), [(0, 2)]);
    }

    #[test]
    fn a_place_that_the_text_does_not_have_is_compared_as_it_is_given() {
        let odd = [found((9, 9), 1, "e")];
        assert_eq!(check(TWO, &[((0, 4), (2, 3, "x"))], &odd, &odd), []);
        assert_eq!(check(TWO, &[((0, 4), (2, 3, "x"))], &[], &odd), [(9, 9)]);
    }

    #[test]
    fn files_without_edits_are_compared_by_place() {
        let source = |place| Found { file: "b.py".into(), ..found(place, 1, "e") };
        let none = BTreeMap::new();
        assert_eq!(new_findings(&[source((1, 0))], &[source((1, 0))], &none), Vec::<&Found>::new());
        assert_eq!(new_findings(&[source((1, 0))], &[source((2, 0))], &none).len(), 1);
    }
}
