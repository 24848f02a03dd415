//! `tainie undo`, `recover`, `history` and `show`: what the journal knows.

use serde_json::json;

use crate::cli::args::{Format, HistoryArgs, RecoverArgs, ShowArgs, UndoArgs};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, HarnessError, RecoveredTo, RunRecord, SystemClock};
use crate::text::ProjectRoot;

pub(super) fn undo(args: &UndoArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let named = named(args.workspace.as_deref(), here)?;
    let done = harness::undo_run(&here.surroundings, &here.folder, named.as_ref(), args.run.as_deref(), &SystemClock)?;
    let files: Vec<&str> = done.files.iter().map(crate::text::RelPath::as_str).collect();
    output.data(&format!("run {} is undone (as run {}): {}\n", done.undone.get(), done.run.get(), files.join(", ")));
    Ok(Exit::Done)
}

pub(super) fn recover(args: &RecoverArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let named = named(args.workspace.as_deref(), here)?;
    let Some(done) = harness::recover_run(&here.surroundings, &here.folder, named.as_ref(), &SystemClock)? else {
        output.data("no run was interrupted\n");
        return Ok(Exit::Done);
    };
    let to = match done.to {
        RecoveredTo::Before => "all of its files are as before",
        RecoveredTo::After => "all of its files are as it wrote them",
    };
    output.data(&format!("run {} had been interrupted; {to}\n", done.run.get()));
    for file in &done.left {
        output.data(&format!("{file} was changed by somebody else since, and is left as it is\n"));
    }
    Ok(if done.left.is_empty() { Exit::Done } else { Exit::Incomplete })
}

pub(super) fn history(args: &HistoryArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let named = named(args.workspace.as_deref(), here)?;
    let runs = harness::runs(&here.surroundings, &here.folder, named.as_ref())?;
    match args.format {
        Format::Json => {
            let runs: Vec<_> = runs.iter().map(record).collect();
            output.data(&render::json(&json!({"schema_version": 1, "runs": runs})));
        }
        Format::Text => output.data(&render::history(&runs)),
    }
    Ok(Exit::Done)
}

pub(super) fn show(args: &ShowArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let named = named(args.workspace.as_deref(), here)?;
    let run = harness::run_record(&here.surroundings, &here.folder, named.as_ref(), args.run.as_deref())?;
    match (args.format, &run.report) {
        (Format::Json, Some(report)) => output.data(&render::json(report)),
        (Format::Json, None) => output.data(&render::json(&record(&run))),
        (Format::Text, _) => output.data(&render::run(&run)),
    }
    Ok(Exit::Done)
}

fn named(workspace: Option<&std::path::Path>, here: &Here) -> Result<Option<ProjectRoot>, HarnessError> {
    workspace.map(|folder| here.workspace(Some(folder))).transpose()
}

fn record(run: &RunRecord) -> serde_json::Value {
    json!({
        "run": run.id.get(),
        "command": run.command,
        "symbol": run.symbol,
        "started": run.started,
        "ended": run.ended,
        "state": run.state.as_str(),
        "undoes": run.undoes.map(harness::RunId::get),
        "files": run.files.iter().map(|file| json!({
            "file": file.file.as_str(),
            "before": file.before.as_str(),
            "after": file.after.as_str(),
        })).collect::<Vec<_>>(),
    })
}
