//! The runs of a workspace as its journal has them: `undo`, `recover`, `history` and `show`.

use std::path::{Path, PathBuf};

use crate::text::{ProjectRoot, Revision};

use super::scouting;
use super::{
    Clock, Foreign, HarnessError, History, Journal, Recovered, RecoveredTo, RunId, RunRecord, RunState, STATE_FOLDER,
    Surroundings, UndoOutcome, find_state, recover, undo,
};

/// A workspace's state folder: `.tainie`, or one of its own below `TAINIE_STATE_DIR`.
pub(super) fn state_folder(surroundings: &Surroundings, workspace: &ProjectRoot) -> PathBuf {
    match &surroundings.state_dir {
        None => workspace.as_path().join(STATE_FOLDER),
        Some(folder) => {
            let key = Revision::of(workspace.to_string().as_bytes());
            folder.join(key.as_str().get(..16).unwrap_or_default())
        }
    }
}

/// The workspace and state folder that `undo`, `history` and `show` are about.
pub(super) fn recorded(
    surroundings: &Surroundings,
    folder: &Path,
    named: Option<&ProjectRoot>,
) -> Result<(ProjectRoot, PathBuf), HarnessError> {
    match named {
        Some(workspace) => Ok((workspace.clone(), state_folder(surroundings, workspace))),
        None if surroundings.state_dir.is_some() => {
            let workspace = scouting::workspace_root(&super::workspace_of(folder))?;
            let state = state_folder(surroundings, &workspace);
            Ok((workspace, state))
        }
        None => {
            let found = find_state(folder)?;
            Ok((scouting::workspace_root(&found.workspace)?, found.state))
        }
    }
}

fn run_id(run: Option<&str>) -> Result<Option<RunId>, HarnessError> {
    match run {
        None => Ok(None),
        Some(text) => match RunId::parse(text) {
            Some(id) => Ok(Some(id)),
            None => Err(HarnessError::NoRun { run: text.to_owned() }),
        },
    }
}

/// Takes a run back.
pub(crate) fn undo_run(
    surroundings: &Surroundings,
    folder: &Path,
    named: Option<&ProjectRoot>,
    run: Option<&str>,
    clock: &dyn Clock,
) -> Result<UndoOutcome, HarnessError> {
    let (workspace, state) = recorded(surroundings, folder, named)?;
    let run = run_id(run)?;
    let mut journal = Journal::open_existing(&state)?;
    let recovered = recover(&mut journal, &workspace, clock, Foreign::Refuse)?;
    // Who asks after a crash means the run that crashed: taking back one more would be one too many.
    if let Some(recovered) = recovered.filter(|recovered| run.is_none_or(|run| run == recovered.run))
        && recovered.to == RecoveredTo::Before
        && journal.history().run(recovered.run)?.undoes.is_none()
    {
        return Ok(UndoOutcome { undone: recovered.run, run: recovered.run, files: recovered.restored });
    }
    Ok(undo(&mut journal, &workspace, clock, run)?)
}

/// Brings a run that was interrupted to an end; files that somebody changed since are left alone.
pub(crate) fn recover_run(
    surroundings: &Surroundings,
    folder: &Path,
    named: Option<&ProjectRoot>,
    clock: &dyn Clock,
) -> Result<Option<Recovered>, HarnessError> {
    let (workspace, state) = recorded(surroundings, folder, named)?;
    let mut journal = Journal::open_existing(&state)?;
    Ok(recover(&mut journal, &workspace, clock, Foreign::Leave)?)
}

/// The runs of a workspace, oldest first.
pub(crate) fn runs(
    surroundings: &Surroundings,
    folder: &Path,
    named: Option<&ProjectRoot>,
) -> Result<Vec<RunRecord>, HarnessError> {
    let (_, state) = recorded(surroundings, folder, named)?;
    Ok(History::open(&state)?.runs()?)
}

/// One run: the one that was asked for, else the last edit.
pub(crate) fn run_record(
    surroundings: &Surroundings,
    folder: &Path,
    named: Option<&ProjectRoot>,
    run: Option<&str>,
) -> Result<RunRecord, HarnessError> {
    let (_, state) = recorded(surroundings, folder, named)?;
    let history = History::open(&state)?;
    if let Some(id) = run_id(run)? {
        return Ok(history.run(id)?);
    }
    let runs = history.runs()?;
    let last = runs.iter().rfind(|run| run.undoes.is_none() && run.state != RunState::RolledBack);
    last.or(runs.last()).cloned().ok_or_else(|| HarnessError::NoRun { run: "last".to_owned() })
}
