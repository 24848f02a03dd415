//! Owns the run: the durable record of what was done, the only writer of project files, and the way back.
//!
//! [`state`] finds where a workspace keeps its record, [`journal`] is that record, [`apply`] changes all files of
//! a run or none, [`undo`] reads the journal backwards.

mod apply;
mod clock;
mod error;
mod journal;
mod state;
mod undo;

pub(crate) use apply::{Foreign, PlannedWrite, Recovered, RecoveredTo, apply, recover};
pub(crate) use clock::{Clock, SystemClock};
pub(crate) use error::{ApplyError, JournalError, PathRefusal, StateError, UndoError};
pub(crate) use journal::{History, Journal, NewRun, RunFile, RunId, RunRecord, RunState};
pub(crate) use state::{FoundState, STATE_FOLDER, find_state, workspace_of};
pub(crate) use undo::{UndoOutcome, undo};

#[cfg(test)]
mod tests;
