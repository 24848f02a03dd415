//! Whether two texts are the same outside given regions. Pure, and knows nothing of what was edited or why.

use std::ops::Range;

use crate::text::ByteSpan;

/// A part of the old text that may have become something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) whole: ByteSpan,
    /// The name inside.
    pub(super) name: ByteSpan,
}

impl Region {
    fn range(self) -> Range<usize> {
        self.whole.start().get()..self.whole.end().get()
    }
}

/// Regions that no other contains, ascending.
pub(super) fn outermost(mut regions: Vec<Region>) -> Vec<Region> {
    regions.sort_by_key(|region| (region.range().start, std::cmp::Reverse(region.range().end)));
    let mut outer: Vec<Region> = Vec::new();
    for region in regions {
        if !outer.last().is_some_and(|last| last.whole.contains(region.whole)) {
            outer.push(region);
        }
    }
    outer
}

/// Whether a region of the old text may have become this text.
pub(super) type Fits<'f> = dyn Fn(&[u8], Region, &[u8]) -> bool + 'f;

/// What lies before, between and behind the regions, one more than there are regions.
pub(super) fn gaps(length: usize, regions: &[Region]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(regions.iter().map(|region| region.range().end));
    let ends = regions.iter().map(|region| region.range().start).chain([length]);
    starts.zip(ends).map(|(start, end)| start..end.max(start)).collect()
}

/// The new texts of the regions, if everything outside of them is as it was: the new text has to be the old gaps,
/// in order, with a text that `fits` in place of each region. How long the new texts are isn't known beforehand, so
/// each way to find the gaps again is tried.
pub(super) fn new_texts<'n>(old: &[u8], new: &'n [u8], regions: &[Region], fits: &Fits<'_>) -> Option<Vec<&'n [u8]>> {
    let gaps = gaps(old.len(), regions);
    let (first, rest) = gaps.split_first()?;
    let after_first = new.strip_prefix(old.get(first.clone())?)?;
    let mut found = Vec::new();
    follow(old, after_first, rest, regions, fits, &mut found).then_some(found)
}

fn follow<'n>(
    old: &[u8],
    new: &'n [u8],
    gaps: &[Range<usize>],
    regions: &[Region],
    fits: &Fits<'_>,
    found: &mut Vec<&'n [u8]>,
) -> bool {
    let (Some((gap, gaps)), Some((region, regions))) = (gaps.split_first(), regions.split_first()) else {
        return new.is_empty();
    };
    let Some(gap) = old.get(gap.clone()) else { return false };
    for end in 0..=new.len() {
        let (Some(text), Some(rest)) = (new.get(..end), new.get(end..)) else { return false };
        let Some(rest) = rest.strip_prefix(gap) else { continue };
        // The last gap ends the text.
        if (regions.is_empty() && !rest.is_empty()) || !fits(old, *region, text) {
            continue;
        }
        found.push(text);
        if follow(old, rest, gaps, regions, fits, found) {
            return true;
        }
        found.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regions are what stands in brackets; the name is the first letter of each.
    fn marked(text: &str) -> (Vec<u8>, Vec<Region>) {
        let (mut plain, mut open, mut regions) = (Vec::new(), Vec::new(), Vec::new());
        for byte in text.bytes() {
            match byte {
                b'[' => open.push(plain.len()),
                b']' => {
                    let start = open.pop().unwrap();
                    let (whole, name) = (ByteSpan::new(start, plain.len()), ByteSpan::new(start, start + 1));
                    regions.push(Region { whole, name });
                }
                byte => plain.push(byte),
            }
        }
        (plain, outermost(regions))
    }

    fn check(old: &str, new: &str, expected: Option<&[&str]>) {
        let (old, regions) = marked(old);
        let balanced = |_: &[u8], _: Region, text: &[u8]| {
            let count = |wanted: u8| text.split(|byte| *byte == wanted).count();
            text.ends_with(b")") && count(b'(') == count(b')')
        };
        let found = new_texts(&old, new.as_bytes(), &regions, &balanced);
        let found =
            found.map(|texts| texts.into_iter().map(|text| std::str::from_utf8(text).unwrap()).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{new}");
    }

    #[test]
    fn what_stands_in_the_regions_may_change() {
        check("a = [f(1)]\nb\n", "a = f(1, 2)\nb\n", Some(&["f(1, 2)"]));
        check("[f(1)]", "f()", Some(&["f()"]));
        check("nothing", "nothing", Some(&[]));
    }

    #[test]
    fn what_stands_outside_may_not() {
        check("a = [f(1)]\nb\n", "A = f(1, 2)\nb\n", None);
        check("a = [f(1)]\nb\n", "a = f(1, 2)\nB\n", None);
        check("a = [f(1)]\nb\n", "a = f(1, 2)\nb\n\n", None);
        check("a = [f(1)]\nb = [f(2)]\n", "a = f(1)\nc = f(2)\n", None);
        check("a = [f(1)]\nb\n", "a = f(1)  \nb\n", None);
        check("nothing", "something", None);
    }

    #[test]
    fn a_gap_that_a_region_also_holds_is_found_at_its_own_place() {
        check("[f(1)], [f(2)]", "f(1, v), f(2, v)", Some(&["f(1, v)", "f(2, v)"]));
        check("[f([f(1)])]+[f(2)]", "f(f(1+1))+f(2+1)", Some(&["f(f(1+1))", "f(2+1)"]));
    }

    #[test]
    fn gaps_and_regions_make_up_the_text() {
        let (old, regions) = marked("ab[c]d[e]");
        let gaps: Vec<&[u8]> = gaps(old.len(), &regions).into_iter().map(|gap| &old[gap]).collect();
        assert_eq!(gaps, [b"ab".as_slice(), b"d", b""]);
    }
}
