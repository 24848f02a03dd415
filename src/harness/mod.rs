//! Owns the run: what a command does from its request to its report.
//!
//! [`wiring`] is the composition root, the only file that names concrete backends. [`scouting`] answers `scout`
//! and `resolve`. [`state`] finds where a workspace keeps its record, [`journal`] is that record, [`apply`] changes
//! all files of a run or none, [`undo`] reads the journal backwards. [`doctor`] says what is there and installs what
//! is missing, [`demo`] proves the whole on the embedded [`fixtures`]. [`listing`] narrows
//! a worklist for whoever reads it, [`explain`] says of one place what each source said. [`wire`] is the JSON surface.

mod apply;
mod cache;
mod chosen;
mod clock;
mod declared;
mod demo;
mod doctor;
mod editing;
mod error;
mod explain;
mod failure;
mod fixtures;
mod job;
mod journal;
mod listing;
mod opinion;
mod oracle;
mod readback;
mod records;
mod report;
mod request;
mod rounds;
mod run;
mod scouting;
mod signature;
mod state;
mod survey;
mod task;
mod undo;
mod wire;
mod wiring;
mod work;

pub(crate) use apply::{Foreign, PlannedWrite, Recovered, RecoveredTo, apply, recover};
pub(crate) use clock::{Clock, SystemClock};
pub(crate) use demo::{Demo, Demonstration};
pub(crate) use doctor::{Check, CheckState, Checkup, CheckupRequest, doctor, looks_like_workspace, provision, setup};
#[cfg(test)]
pub(crate) use error::PathRefusal;
pub(crate) use error::{ApplyError, JournalError, StateError, UndoError};
pub(crate) use explain::{Answered, Explained, ExplainedReason, Explanation, explain, explanation_schema};
pub(crate) use failure::{Advice, Failure, HarnessError};
pub(crate) use fixtures::{FIXTURES, fixture_files};
#[cfg(test)]
pub(crate) use journal::RunFile;
pub(crate) use journal::{History, Journal, NewRun, RunId, RunRecord, RunState};
pub(crate) use listing::{Filter, Listing, Sources};
pub(crate) use opinion::OpinionRequest;
pub(crate) use records::{recover_run, run_record, runs, undo_run};
pub(crate) use report::{Outcome, Report, ReportedFinding, ReportedSite, report_schema};
pub(crate) use request::{EditDone, EditRequest, EditorChoice, GateChoice, ModelRequest, Target, Writing};
pub(crate) use run::{edit, read_task};
pub(crate) use scouting::{Asked, Progress, Scouted, resolve, scout, workspace_root};
pub(crate) use state::{STATE_FOLDER, find_state, workspace_of};
pub(crate) use task::{Task, TaskError};
pub(crate) use undo::{UndoOutcome, undo};
pub(crate) use wire::{Detail, WireWorklist, line_schema, worklist_schema};
pub(crate) use wiring::Surroundings;

#[cfg(test)]
mod tests;
