//! What shows that a clean check means something: the probe of each call, and the task's own oracle.

use std::path::Path;

use crate::editor::{self, Understood};
use crate::gate::{Gate, GateMode};
use crate::harness::HarnessError;
use crate::harness::oracle::{Oracle, OracleRun};
use crate::harness::report::ReportedOracle;
use crate::harness::work::proposal;
use crate::plan::Proposal;
use crate::text::EditSet;

use super::Run;

impl Run<'_> {
    pub(super) async fn oracle_before(&mut self) -> Result<Option<OracleRun>, HarnessError> {
        let Some(oracle) = &self.job.oracle else { return Ok(None) };
        let no_shadow = || HarnessError::Oracle {
            command: oracle.command.clone(),
            reason: "it runs in the shadow, and with --gate off there is none".to_owned(),
        };
        let gate = self.gate.as_ref().ok_or_else(no_shadow)?;
        let shadow = gate.shadow_workspace().ok_or_else(no_shadow)?.to_owned();
        gate.complete_shadow()?;
        Ok(Some(run_oracle(oracle, gate, &shadow).await?))
    }

    /// Finds the sites whose call the type checker doesn't look at: there, "nothing new" proves nothing.
    pub(super) async fn probe(&mut self) -> Result<(), HarnessError> {
        let Some(Understood { operation, .. }) = self.job.understood.clone() else { return Ok(()) };
        let mut probes = Vec::new();
        let mut untried = Vec::new();
        for index in 0..self.work.len() {
            let Some((assignment, _)) = self.assignment(index, Some(operation.clone())) else { continue };
            let Some(work) = self.work.get(index).filter(|work| work.is_open()) else { continue };
            let Some(probe) = editor::probe(&assignment) else {
                untried.push(work.site.id.clone());
                continue;
            };
            let edits = probe.edits.iter().map(|edit| edit.shifted(work.site.region.start())).collect();
            if let Ok(edits) = EditSet::within(work.site.region, edits) {
                probes.push((proposal(&work.site, edits), probe.needle));
            }
        }
        let Some(gate) = self.gate.as_mut().filter(|gate| gate.mode() != GateMode::Off) else { return Ok(()) };
        for site in &untried {
            gate.distrust(site);
        }
        if !probes.is_empty() {
            self.checks += 1;
            gate.probe(&self.sources, &probes).await?;
        }
        Ok(())
    }

    pub(super) async fn oracle_after(
        &mut self,
        before: Option<OracleRun>,
        accepted: &[Proposal],
    ) -> Result<Option<ReportedOracle>, HarnessError> {
        let (Some(oracle), Some(before)) = (&self.job.oracle, before) else { return Ok(None) };
        let command = oracle.command.clone();
        if accepted.is_empty() {
            return Ok(Some(ReportedOracle { command, before: before.green, after: None, output: None }));
        }
        // The shadow holds exactly what was accepted.
        let Some(gate) = &self.gate else { return Ok(None) };
        let Some(shadow) = gate.shadow_workspace() else { return Ok(None) };
        let after = run_oracle(oracle, gate, shadow).await?;
        let output = (!after.green).then_some(after.output);
        Ok(Some(ReportedOracle { command, before: before.green, after: Some(after.green), output }))
    }
}

/// Runs the oracle in the shadow. One that changes the code there judges something else than what would be written.
async fn run_oracle(oracle: &Oracle, gate: &Gate, shadow: &Path) -> Result<OracleRun, HarnessError> {
    let before = gate.shadow_revisions()?;
    let run = oracle.run(shadow).await?;
    let after = gate.shadow_revisions()?;
    let changed = before.iter().filter(|(file, revision)| after.get(*file) != Some(revision));
    let files: Vec<String> = changed.map(|(file, _)| file.clone()).collect();
    if files.is_empty() { Ok(run) } else { Err(HarnessError::OracleMeddles { command: oracle.command.clone(), files }) }
}
