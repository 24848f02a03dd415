//! The edit alone, without any type checker: it stays in its region, changes something, and the file still parses.
//!
//! Whether the file parses is asked of a function that the caller brings, since only `python` knows the parser.

use std::fmt;

use crate::plan::Proposal;
use crate::text::SourceText;

/// Why an edit isn't one that may be judged further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShapeFault {
    NoRegion,
    OutsideRegion,
    NotCharacters,
    NothingChanged,
    DoesNotParse,
}

impl fmt::Display for ShapeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRegion => "its region is not a place in the file",
            Self::OutsideRegion => "it changes text outside its region",
            Self::NotCharacters => "it cuts a character in two",
            Self::NothingChanged => "it changes nothing",
            Self::DoesNotParse => "the file would no longer parse",
        })
    }
}

/// Looks at one proposal as if it were the only one. A file that didn't parse before can't be judged by parsing:
/// there the type checker's own parse errors, compared like all others, decide.
pub(super) fn shape(source: &SourceText, proposal: &Proposal, parses: impl Fn(&str) -> bool) -> Result<(), ShapeFault> {
    let before = source.slice(proposal.region).ok_or(ShapeFault::NoRegion)?;
    let edits = &proposal.edits;
    if edits.edits().iter().any(|edit| !proposal.region.contains(edit.span)) {
        return Err(ShapeFault::OutsideRegion);
    }
    let after = edits.apply(source).map_err(|_| ShapeFault::NotCharacters)?;
    let region = edits.map_span(proposal.region).and_then(|region| after.get(region.range()));
    if region.ok_or(ShapeFault::NotCharacters)? == before {
        return Err(ShapeFault::NothingChanged);
    }
    if !parses(&after) && parses(source.as_str()) {
        return Err(ShapeFault::DoesNotParse);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SiteId;
    use crate::text::{ByteOffset, ByteSpan, Edit, EditSet, RelPath};

    /// A stand-in for the parser: the brackets of the text are balanced.
    fn balanced(text: &str) -> bool {
        text.matches('(').count() == text.matches(')').count()
    }

    fn check(text: &str, region: (usize, usize), edit: (usize, usize, &str)) -> Result<(), ShapeFault> {
        let file = RelPath::new("a.py").unwrap();
        let edits = EditSet::new(vec![Edit::replace(ByteSpan::new(edit.0, edit.1), edit.2)]).unwrap();
        let site = SiteId::new(&file, ByteOffset::new(region.0));
        let proposal = Proposal { site, file, region: ByteSpan::new(region.0, region.1), edits };
        shape(&SourceText::from_text(text), &proposal, balanced)
    }

    #[test]
    fn an_edit_inside_its_region_passes() {
        assert_eq!(check("é = f(1)\n", (5, 9), (8, 8, ", k=1")), Ok(()));
    }

    #[test]
    fn an_edit_outside_its_region_does_not_pass() {
        assert_eq!(check("x = f(1)\n", (4, 8), (0, 1, "y")), Err(ShapeFault::OutsideRegion));
    }

    #[test]
    fn an_edit_that_changes_nothing_does_not_pass() {
        assert_eq!(check("x = f(1)\n", (4, 8), (4, 8, "f(1)")), Err(ShapeFault::NothingChanged));
    }

    #[test]
    fn a_file_that_no_longer_parses_does_not_pass() {
        assert_eq!(check("x = f(1)\n", (4, 8), (4, 8, "f(1")), Err(ShapeFault::DoesNotParse));
    }

    #[test]
    fn a_file_that_never_parsed_is_left_to_the_type_checker() {
        assert_eq!(check("x = f(1)\n(", (4, 8), (7, 7, ", 2")), Ok(()));
    }

    #[test]
    fn offsets_that_are_no_places_of_the_file_do_not_pass() {
        assert_eq!(check("é", (0, 1), (0, 0, "x")), Err(ShapeFault::NoRegion));
        assert_eq!(check("é", (0, 9), (0, 0, "x")), Err(ShapeFault::NoRegion));
        assert_eq!(check("é", (0, 2), (1, 1, "x")), Err(ShapeFault::NotCharacters));
    }
}
