//! A new finding and the proposal in whose region it lies; pure.
//!
//! A finding elsewhere (in another file, behind the call) has no address: the caller finds its cause by bisection.

use std::collections::{BTreeMap, BTreeSet};

use super::diagnostics::{Change, Found};
use crate::plan::Proposal;
use crate::text::ByteSpan;

/// For each proposal of the group that has one, the findings in its region. The file of a proposal is named by `file_of`.
pub(super) fn attribute<'a>(
    findings: &[&'a Found],
    changes: &BTreeMap<String, Change<'_>>,
    group: &BTreeSet<usize>,
    proposals: &[&Proposal],
    file_of: impl Fn(&Proposal) -> String,
) -> BTreeMap<usize, Vec<&'a Found>> {
    let mut by_region: BTreeMap<(String, ByteSpan), Vec<usize>> = BTreeMap::new();
    for &index in group {
        if let Some(proposal) = proposals.get(index) {
            by_region.entry((file_of(proposal), proposal.region)).or_default().push(index);
        }
    }
    let mut blamed: BTreeMap<usize, Vec<&Found>> = BTreeMap::new();
    for found in findings {
        let Some(region) = changes.get(&found.file).and_then(|change| change.region_after(found)) else { continue };
        for &index in by_region.get(&(found.file.clone(), region)).into_iter().flatten() {
            blamed.entry(index).or_default().push(found);
        }
    }
    blamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SiteId;
    use crate::text::{ByteOffset, Edit, EditSet, Position, RelPath, SourceText};

    fn proposal(name: usize, region: (usize, usize), insert: usize) -> Proposal {
        let file = RelPath::new("a.py").unwrap();
        let edits = EditSet::new(vec![Edit::insert(insert, ",k=1")]).unwrap();
        Proposal {
            site: SiteId::new(&file, ByteOffset::new(name)),
            file,
            region: ByteSpan::new(region.0, region.1),
            edits,
        }
    }

    /// Which proposals are blamed for a finding at columns of the new text.
    fn check(text: &str, proposals: &[Proposal], columns: (usize, usize)) -> Vec<usize> {
        let source = SourceText::from_text(text);
        let parts: Vec<_> = proposals.iter().map(|p| (p.region, &p.edits)).collect();
        let changes = BTreeMap::from([("a.py".to_owned(), Change::new(&source, &parts).unwrap())]);
        let position = |column| Position::new(0, column);
        let (start, end) = (position(columns.0), position(columns.1));
        let found = Found { file: "a.py".into(), cell: None, start, end, rule: String::new(), message: String::new() };
        let all: Vec<&Proposal> = proposals.iter().collect();
        let group = (0..all.len()).collect();
        attribute(&[&found], &changes, &group, &all, |p| p.file.to_string()).into_keys().collect()
    }

    #[test]
    fn a_finding_is_tied_to_the_proposal_in_whose_region_it_lies() {
        // `f(1,k=1);f(2,k=1)` afterwards.
        let both = [proposal(0, (0, 4), 3), proposal(5, (5, 9), 8)];
        assert_eq!(check("f(1);f(2)", &both, (4, 5)), [0]);
        assert_eq!(check("f(1);f(2)", &both, (13, 14)), [1]);
        assert_eq!(check("f(1);f(2)", &both, (8, 9)), Vec::<usize>::new());
    }

    #[test]
    fn of_nested_regions_the_smallest_that_holds_the_whole_finding_is_to_blame() {
        // `q.m(1,k=1).m(2,k=1)` afterwards; both calls start at the same place.
        let chain = [proposal(10, (0, 11), 10), proposal(2, (0, 6), 5)];
        assert_eq!(check("q.m(1).m(2)", &chain, (6, 7)), [1]);
        assert_eq!(check("q.m(1).m(2)", &chain, (0, 19)), [0]);
        assert_eq!(check("q.m(1).m(2)", &chain, (15, 16)), [0]);
    }
}
