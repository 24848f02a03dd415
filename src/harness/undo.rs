//! Reads the journal backwards: a run's files get the bytes that they had before it. An undo is itself a run, so
//! it can be undone as well.

use super::apply::{PlannedWrite, apply};
use super::clock::Clock;
use super::error::{ApplyError, UndoError};
use super::journal::{Journal, NewRun, RunId, RunRecord, RunState};
use crate::text::{ProjectRoot, RelPath, Revision};

/// A run that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UndoOutcome {
    pub(crate) undone: RunId,
    /// The undo's own entry.
    pub(crate) run: RunId,
    pub(crate) files: Vec<RelPath>,
}

/// Undoes one run: the one that is named, else the latest that is applied and is no undo itself, so that asking
/// again goes one further back.
pub(crate) fn undo(
    journal: &mut Journal,
    root: &ProjectRoot,
    clock: &dyn Clock,
    run: Option<RunId>,
) -> Result<UndoOutcome, UndoError> {
    let record = match run {
        Some(id) => journal.history().run(id)?,
        None => latest(journal)?,
    };
    if record.state != RunState::Applied {
        return Err(UndoError::NotApplied { run: record.id, state: record.state });
    }
    let writes = writes_back(journal, root, &record)?;
    let files: Vec<RelPath> = writes.iter().map(|write| write.file.clone()).collect();
    let new = NewRun { command: "undo".to_owned(), symbol: record.symbol, undoes: Some(record.id), report: None };
    let changed = |files| UndoError::Changed { run: record.id, files };
    match apply(journal, root, clock, &new, writes) {
        Ok(Some(run)) => Ok(UndoOutcome { undone: record.id, run, files }),
        Ok(None) => Err(UndoError::Nothing),
        Err(ApplyError::Stale { files }) => Err(changed(files)),
        Err(error) => Err(error.into()),
    }
}

fn latest(journal: &Journal) -> Result<RunRecord, UndoError> {
    let mut runs = journal.history().runs()?;
    runs.retain(|run| run.state == RunState::Applied && run.undoes.is_none());
    runs.pop().ok_or(UndoError::Nothing)
}

/// The writes that bring a run's files back; refused when one no longer holds what the run wrote.
fn writes_back(journal: &Journal, root: &ProjectRoot, record: &RunRecord) -> Result<Vec<PlannedWrite>, UndoError> {
    let mut writes = Vec::new();
    let mut changed = Vec::new();
    for file in &record.files {
        let found = std::fs::read(root.join(&file.file)).ok();
        match found.filter(|bytes| Revision::of(bytes) == file.after) {
            Some(before_bytes) => writes.push(PlannedWrite {
                file: file.file.clone(),
                before: file.after.clone(),
                before_bytes,
                after_bytes: journal.history().pre_image(record.id, file)?,
            }),
            None => changed.push(file.file.clone()),
        }
    }
    if changed.is_empty() { Ok(writes) } else { Err(UndoError::Changed { run: record.id, files: changed }) }
}
