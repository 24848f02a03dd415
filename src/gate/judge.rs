//! The gate at work: what is asked of it, and what it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::check::Judging;
use super::round::Round;
use super::shape::shape;
use super::{GateError, ShapeFault};
use crate::checker::Pyrefly;
use crate::plan::{ExtraRoots, Proposal, SiteId, Verdict};
use crate::text::{RelPath, Revision, SourceText};

/// How much of the project is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateMode {
    /// All of it: only so is a caller in another file seen to break.
    Project,
    /// Only the files with sites.
    File,
    /// Nothing; shape alone decides.
    Off,
}

/// What a round came to.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// One per proposal that was asked about.
    pub(crate) verdicts: BTreeMap<SiteId, Verdict>,
    /// Runs of the type checker that it took.
    pub(crate) checks: usize,
}

#[cfg(test)]
impl Judgement {
    /// Whether the site's proposal may be kept.
    pub(crate) fn keeps(&self, site: &SiteId) -> bool {
        matches!(self.verdicts.get(site), Some(Verdict::Accepted | Verdict::Unchecked { .. }))
    }
}

/// A shadow with its baseline. After each judgement the shadow holds exactly what was accepted.
#[derive(Debug)]
pub(crate) struct Gate {
    mode: GateMode,
    judging: Option<Judging>,
    /// Sites of which a probe said that the type checker doesn't look at them.
    blind: BTreeSet<SiteId>,
}

impl Gate {
    /// Makes the shadow and takes the baseline, in it and in the original: they must be equal.
    pub(crate) async fn open(
        pyrefly: &Pyrefly,
        workspace: &Path,
        files: &BTreeSet<RelPath>,
        mode: GateMode,
        roots: &ExtraRoots,
    ) -> Result<Self, GateError> {
        let judging = match mode {
            GateMode::Off => None,
            GateMode::Project | GateMode::File => Some(Judging::open(pyrefly, workspace, files, mode, roots).await?),
        };
        Ok(Self { mode, judging, blind: BTreeSet::new() })
    }

    pub(crate) const fn mode(&self) -> GateMode {
        self.mode
    }

    /// The workspace's copy; none when the gate is off.
    pub(crate) fn shadow_workspace(&self) -> Option<&Path> {
        self.judging.as_ref().map(|judging| judging.shadow.workspace())
    }

    /// Copies everything else of the project into the shadow, for an oracle that reads more than Python.
    pub(crate) fn complete_shadow(&self) -> Result<(), GateError> {
        self.judging.as_ref().map_or(Ok(()), |judging| judging.shadow.complete())
    }

    /// How many diagnostics the project has without any edit.
    pub(crate) fn baseline(&self) -> usize {
        self.judging.as_ref().map_or(0, |judging| judging.baseline.len())
    }

    /// The files among those given to [`Gate::open`] that the type checker doesn't check.
    #[cfg(test)]
    pub(crate) fn uncovered(&self) -> BTreeSet<&RelPath> {
        self.judging.as_ref().map(|judging| judging.uncovered.iter().collect()).unwrap_or_default()
    }

    /// Judges the proposals of a round on top of those that earlier rounds accepted. All are edits of the texts in
    /// `sources`, the texts that were scouted.
    pub(crate) async fn judge(
        &mut self,
        sources: &BTreeMap<RelPath, SourceText>,
        already: &[Proposal],
        proposals: &[Proposal],
        parses: impl Fn(&str) -> bool,
    ) -> Result<Judgement, GateError> {
        let mut verdicts = BTreeMap::new();
        let mut group = BTreeSet::new();
        let all: Vec<&Proposal> = already.iter().chain(proposals).collect();
        let mut settled: BTreeSet<usize> = (0..already.len()).collect();
        for (index, proposal) in all.iter().enumerate().skip(already.len()) {
            let source = source_of(sources, proposal)?;
            if let Err(fault) = shape(source, proposal, &parses) {
                verdicts.insert(proposal.site.clone(), rejected_by_shape(fault));
            } else if let Some(other) = overlapping(&all, settled.iter().chain(&group), proposal) {
                let reason = format!("its edit overlaps the one of {}", other.site);
                verdicts.insert(proposal.site.clone(), Verdict::Rejected { reason, findings: Vec::new() });
            } else {
                group.insert(index);
            }
        }
        let mut checks = 0;
        if let Some(judging) = &mut self.judging {
            let mut round = Round::new(judging, sources, &all);
            let rejected = round.settle(&mut settled, group.clone()).await?;
            checks = round.checks;
            for (index, verdict) in rejected {
                group.remove(&index);
                if let Some(proposal) = all.get(index) {
                    verdicts.insert(proposal.site.clone(), verdict);
                }
            }
        }
        for proposal in group.iter().filter_map(|&index| all.get(index)) {
            verdicts.insert(proposal.site.clone(), self.verdict_of_a_clean(proposal));
        }
        Ok(Judgement { verdicts, checks })
    }

    /// What "nothing new" means for this proposal.
    fn verdict_of_a_clean(&self, proposal: &Proposal) -> Verdict {
        let unchecked = |reason: &str| Verdict::Unchecked { reason: reason.to_owned() };
        match &self.judging {
            None => unchecked("the gate is off"),
            Some(judging) if !judging.covers(&proposal.file) => unchecked("the type checker doesn't check this file"),
            Some(_) if self.blind.contains(&proposal.site) => unchecked("the type checker can't judge this place"),
            Some(_) => Verdict::Accepted,
        }
    }

    /// Which of these sites the type checker does judge: each probe is an edit that must bring a diagnostic which
    /// quotes the text beside it, such as a keyword that no function has. All are tried in one check. For the others
    /// [`Gate::judge`] says *unchecked* from now on.
    pub(crate) async fn probe(
        &mut self,
        sources: &BTreeMap<RelPath, SourceText>,
        probes: &[(Proposal, String)],
    ) -> Result<BTreeSet<SiteId>, GateError> {
        let Some(judging) = &mut self.judging else { return Ok(BTreeSet::new()) };
        let mut all: Vec<&Proposal> = Vec::new();
        let mut needles: Vec<&str> = Vec::new();
        for (probe, needle) in probes {
            let applies = probe.edits.apply(source_of(sources, probe)?).is_ok();
            if applies && overlapping(&all, (0..all.len()).collect::<Vec<_>>().iter(), probe).is_none() {
                all.push(probe);
                needles.push(needle);
            }
        }
        let group: BTreeSet<usize> = (0..all.len()).collect();
        let mut round = Round::new(judging, sources, &all);
        let answer = round.look(&group).await?;
        let quoting = |index: &usize| {
            let (findings, needle) = (answer.blamed.get(index), needles.get(*index).copied().unwrap_or_default());
            findings.is_some_and(|findings| findings.iter().any(|finding| finding.message.contains(needle)))
        };
        let judged: BTreeSet<SiteId> =
            all.iter().enumerate().filter(|(i, _)| quoting(i)).map(|(_, p)| p.site.clone()).collect();
        round.put(&BTreeSet::new())?;
        self.blind.extend(probes.iter().map(|(probe, _)| probe.site.clone()).filter(|site| !judged.contains(site)));
        Ok(judged)
    }

    /// Says *unchecked* of this site from now on: nothing could be tried there.
    pub(crate) fn distrust(&mut self, site: &SiteId) {
        self.blind.insert(site.clone());
    }

    /// What the shadow holds of that which decides the type checker's answers, by place below the workspace.
    pub(crate) fn shadow_revisions(&self) -> Result<BTreeMap<String, Revision>, GateError> {
        self.judging.as_ref().map_or_else(|| Ok(BTreeMap::new()), |judging| judging.shadow.revisions())
    }
}

fn rejected_by_shape(fault: ShapeFault) -> Verdict {
    Verdict::Rejected { reason: fault.to_string(), findings: Vec::new() }
}

fn source_of<'a>(sources: &'a BTreeMap<RelPath, SourceText>, proposal: &Proposal) -> Result<&'a SourceText, GateError> {
    sources.get(&proposal.file).ok_or_else(|| GateError::NoSource { file: proposal.file.clone() })
}

/// One of the chosen proposals whose edits can't be made together with those of this one.
fn overlapping<'a, 'i>(
    all: &[&'a Proposal],
    chosen: impl Iterator<Item = &'i usize>,
    proposal: &Proposal,
) -> Option<&'a Proposal> {
    let mut same_file = chosen.filter_map(|&index| all.get(index)).filter(|other| other.file == proposal.file);
    same_file.find(|other| other.edits.merged(&proposal.edits).is_err()).copied()
}
