//! `tainie undo`, `history` and `show`: what the journal knows.

use serde_json::json;

use crate::cli::args::{Format, HistoryArgs, ShowArgs, UndoArgs};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, HarnessError, RunRecord, SystemClock};
use crate::text::ProjectRoot;

pub(super) fn undo(args: &UndoArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let named = named(args.workspace.as_deref(), here)?;
    let done = harness::undo_run(&here.surroundings, &here.folder, named.as_ref(), args.run.as_deref(), &SystemClock)?;
    let files: Vec<&str> = done.files.iter().map(crate::text::RelPath::as_str).collect();
    output.data(&format!("run {} is undone (as run {}): {}\n", done.undone.get(), done.run.get(), files.join(", ")));
    Ok(Exit::Done)
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
