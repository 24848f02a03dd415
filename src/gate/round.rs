//! One round of judging: one check when all is well, a bisection for what that check can't tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::GateError;
use super::attribute::attribute;
use super::check::{Judging, name_in};
use super::diagnostics::{Change, Found, new_findings, span_of};
use crate::plan::{Finding, Proposal, Verdict};
use crate::text::{ByteSpan, EditSet, RelPath, SourceText};

/// What a check said of a set of proposals.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// All that is new, in order.
    pub(super) new: Vec<Finding>,
    /// New findings in the region of a proposal, by its index.
    pub(super) blamed: BTreeMap<usize, Vec<Finding>>,
}

/// One round of judging: all proposals by index, and what is known of sets of them.
pub(super) struct Round<'a> {
    judging: &'a mut Judging,
    sources: &'a BTreeMap<RelPath, SourceText>,
    proposals: &'a [&'a Proposal],
    answers: BTreeMap<BTreeSet<usize>, Answer>,
    /// Runs of the type checker so far.
    pub(super) checks: usize,
}

impl<'a> Round<'a> {
    pub(super) const fn new(
        judging: &'a mut Judging,
        sources: &'a BTreeMap<RelPath, SourceText>,
        proposals: &'a [&'a Proposal],
    ) -> Self {
        Self { judging, sources, proposals, answers: BTreeMap::new(), checks: 0 }
    }

    /// Finds the proposals of the group that can't be kept, adds the others to `settled`, and leaves the shadow with those.
    ///
    /// New findings in a proposal's region are its fault. When there are others, the group is halved: whatever is
    /// clean on top of what is settled joins it, and what can't be halved any more is the cause.
    pub(super) async fn settle(
        &mut self,
        settled: &mut BTreeSet<usize>,
        group: BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, Verdict>, GateError> {
        let mut rejected = BTreeMap::new();
        let mut by_region = BTreeSet::new();
        let mut bisected = false;
        let mut groups = vec![group];
        while let Some(mut group) = groups.pop() {
            while !group.is_empty() {
                let answer = self.look(&settled.union(&group).copied().collect()).await?;
                if answer.new.is_empty() {
                    settled.append(&mut group);
                    break;
                }
                let blamed: Vec<usize> = answer.blamed.keys().copied().filter(|index| group.contains(index)).collect();
                for index in &blamed {
                    group.remove(index);
                    by_region.insert(*index);
                    rejected.insert(*index, rejection(answer.blamed.get(index).cloned().unwrap_or_default()));
                }
                if !blamed.is_empty() {
                    continue;
                }
                bisected = true;
                if group.len() == 1 {
                    rejected.extend(group.iter().map(|&index| (index, rejection(answer.new.clone()))));
                    break;
                }
                let middle = group.iter().nth(group.len() / 2).copied().expect("a group of two has a middle");
                groups.push(group.split_off(&middle));
            }
        }
        // With the true cause gone, those that merely stood where its findings came up may be innocent.
        if bisected && !by_region.is_empty() {
            self.look_again(settled, &by_region, &mut rejected).await?;
        }
        self.put(settled)?;
        Ok(rejected)
    }

    /// Gives proposals that were blamed by region a second chance, once.
    async fn look_again(
        &mut self,
        settled: &mut BTreeSet<usize>,
        blamed: &BTreeSet<usize>,
        rejected: &mut BTreeMap<usize, Verdict>,
    ) -> Result<(), GateError> {
        let mut group = blamed.clone();
        while !group.is_empty() {
            let answer = self.look(&settled.union(&group).copied().collect()).await?;
            if answer.new.is_empty() {
                rejected.retain(|index, _| !group.contains(index));
                settled.append(&mut group);
                break;
            }
            let before = group.len();
            group.retain(|index| !answer.blamed.contains_key(index));
            if group.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// What the type checker says of this set of proposals, on top of nothing else.
    pub(super) async fn look(&mut self, set: &BTreeSet<usize>) -> Result<Answer, GateError> {
        if let Some(known) = self.answers.get(set) {
            return Ok(known.clone());
        }
        let changes = self.put(set)?;
        let after = self.judging.check().await?;
        self.checks += 1;
        let new = new_findings(&self.judging.baseline, &after, &changes);
        let judging = &*self.judging;
        let blamed = attribute(&new, &changes, set, self.proposals, |proposal| judging.name_of(&proposal.file));
        let told = |found: Vec<&Found>| found.into_iter().map(|found| self.finding(found, &changes)).collect();
        let answer =
            Answer { blamed: blamed.into_iter().map(|(index, found)| (index, told(found))).collect(), new: told(new) };
        self.answers.insert(set.clone(), answer.clone());
        Ok(answer)
    }

    /// Makes the shadow hold exactly this set of proposals.
    pub(super) fn put(&mut self, set: &BTreeSet<usize>) -> Result<BTreeMap<String, Change<'a>>, GateError> {
        let mut by_file: BTreeMap<&RelPath, Vec<(ByteSpan, &EditSet)>> = BTreeMap::new();
        for proposal in set.iter().filter_map(|&index| self.proposals.get(index)) {
            by_file.entry(&proposal.file).or_default().push((proposal.region, &proposal.edits));
        }
        let (mut texts, mut changes) = (BTreeMap::new(), BTreeMap::new());
        for (file, parts) in by_file {
            let source = self.sources.get(file).ok_or_else(|| GateError::NoSource { file: file.clone() })?;
            let change =
                Change::new(source, &parts).map_err(|source| GateError::Settled { file: file.clone(), source })?;
            texts.insert(file.clone(), change.after().as_str().to_owned());
            changes.insert(self.judging.name_of(file), change);
        }
        self.judging.put(texts, self.sources)?;
        Ok(changes)
    }

    /// A finding in the terms of the plan: its file as seen from the workspace.
    fn finding(&self, found: &Found, changes: &BTreeMap<String, Change<'_>>) -> Finding {
        let shadow = &self.judging.shadow;
        let span = changes.get(&found.file).map_or_else(
            || {
                let bytes = std::fs::read(shadow.root().join(&found.file)).ok()?;
                span_of(&SourceText::from_bytes(bytes).ok()?, found)
            },
            |change| span_of(change.after(), found),
        );
        Finding {
            file: from_workspace(&found.file, &name_in(shadow.workspace(), shadow.root())),
            position: found.start,
            span,
            rule: found.rule.clone(),
            message: found.message.clone(),
        }
    }
}

/// A path below the project root as seen from the workspace, which is a folder below it too.
fn from_workspace(file: &str, workspace: &str) -> String {
    if Path::new(file).is_absolute() {
        return file.to_owned();
    }
    let file: Vec<&str> = file.split('/').collect();
    let workspace: Vec<&str> = workspace.split('/').filter(|part| !part.is_empty()).collect();
    let shared = file.iter().zip(&workspace).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", workspace.len() - shared);
    up.chain(file.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
}

fn rejection(findings: Vec<Finding>) -> Verdict {
    let first = findings.first().map(|f| format!("{}:{}: {}", f.file, f.position.line() + 1, f.message));
    let more = findings.len().saturating_sub(1);
    let reason = match (first, more) {
        (Some(first), 0) => first,
        (Some(first), more) => format!("{first} (and {more} more)"),
        (None, _) => "the type checker has something new to say".to_owned(),
    };
    Verdict::Rejected { reason, findings }
}
