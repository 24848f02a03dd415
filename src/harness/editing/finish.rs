//! What a run came to: the writes, the texts for a diff, the report.

use std::collections::BTreeMap;
use std::path::Path;

use crate::checker::Pyrefly;
use crate::editor::Author;
use crate::gate::{Gate, GateMode};
use crate::harness::clock::{Clock, Stopwatch};
use crate::harness::oracle::OracleRun;
use crate::harness::report::{Report, ReportedFile, ReportedGate, ReportedSite};
use crate::harness::wire::WireTool;
use crate::harness::{HarnessError, PlannedWrite};
use crate::plan::Proposal;
use crate::text::{EditSet, RelPath, Revision, SourceText};

use super::{Edited, Run};

impl Run<'_> {
    pub(super) async fn finish<A: Author>(
        mut self,
        author: &A,
        pyrefly: &Pyrefly,
        mode: GateMode,
        before: Option<OracleRun>,
        clock: &dyn Clock,
    ) -> Result<Edited, HarnessError> {
        let mut watch = Stopwatch::start(clock);
        let accepted = self.accepted();
        let oracle = self.oracle_after(before, &accepted).await?;
        self.seconds.gate += watch.lap();
        let vetoed = oracle.as_ref().is_some_and(|oracle| oracle.after == Some(false));
        let texts = if vetoed { BTreeMap::new() } else { new_texts(&self.sources, &accepted)? };
        let mut writes = Vec::new();
        let mut files = Vec::new();
        for (file, (_, after)) in &texts {
            let Some(source) = self.sources.get(file) else { continue };
            let after_bytes = after.clone().into_bytes();
            files.push(ReportedFile {
                file: file.to_string(),
                before: source.revision().to_string(),
                after: Revision::of(&after_bytes).to_string(),
            });
            writes.push(PlannedWrite {
                file: file.clone(),
                before: source.revision().clone(),
                before_bytes: source.as_str().as_bytes().to_vec(),
                after_bytes,
            });
        }
        let fqn = self.job.symbol.path.to_string();
        let veto = vetoed.then_some("the oracle is red after the edits, so nothing was written");
        let sites: Vec<ReportedSite> = self.work.into_iter().map(|work| work.reported(&fqn, veto)).collect();
        let mut notes = author.remarks();
        if let Some(unused) = self.job.oracle.as_ref().filter(|_| oracle.is_none()) {
            notes.push(format!("the oracle wasn't run, since there is nothing to edit ({})", unused.command));
        }
        if oracle.as_ref().is_some_and(|oracle| oracle.before) {
            notes.push("the oracle is green before the edits, so it doesn't show that they do anything".to_owned());
        }
        let report = Report {
            schema_version: Report::VERSION,
            tool: WireTool::new(pyrefly.version()),
            run: None,
            workspace: folder_name(self.job.workspace.as_path()),
            symbol: fqn,
            instruction: self.job.instruction,
            editor: author.name().to_owned(),
            gate: ReportedGate {
                mode: mode_name(mode).to_owned(),
                checks: self.checks,
                baseline: self.gate.as_ref().map_or(0, Gate::baseline),
                new: self.objections,
            },
            oracle,
            totals: Report::totals(&sites, self.model_calls),
            sites,
            files,
            unresolved: self.job.unresolved,
            seconds: self.seconds,
            notes,
        };
        Ok(Edited { report, writes, texts })
    }
}

/// The files' texts before and after all accepted proposals.
fn new_texts(
    sources: &BTreeMap<RelPath, SourceText>,
    accepted: &[Proposal],
) -> Result<BTreeMap<RelPath, (String, String)>, HarnessError> {
    let mut texts = BTreeMap::new();
    for (file, source) in sources {
        let edits = accepted.iter().filter(|proposal| proposal.file == *file).flat_map(|p| p.edits.edits().to_vec());
        let edits = EditSet::new(edits.collect())?;
        if !edits.is_empty() {
            texts.insert(file.clone(), (source.as_str().to_owned(), edits.apply(source)?));
        }
    }
    Ok(texts)
}

const fn mode_name(mode: GateMode) -> &'static str {
    match mode {
        GateMode::Project => "project",
        GateMode::File => "file",
        GateMode::Off => "off",
    }
}

fn folder_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}
