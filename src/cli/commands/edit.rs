//! `tainie edit`: from a task or a symbol to a report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::{Context, EditArgs, Editor, Format, GateMode, ModelArgs};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::progress::Bar;
use crate::cli::render;
use crate::cli::request::{Here, site_kinds};
use crate::harness::{
    self, EditDone, EditRequest, EditorChoice, GateChoice, HarnessError, ModelRequest, SystemClock, Target, Task,
    Writing,
};

pub(super) async fn run(args: &EditArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let request = request(args, here)?;
    let bar = Bar::new(output.is_quiet());
    let done = harness::edit(&here.surroundings, &request, &SystemClock, &bar).await;
    bar.finish();
    let done = done?;
    talk(&done, output);
    match args.format {
        Format::Json => output.exact(&render::json(&done.report)),
        Format::Text if args.dry_run => output.exact(&render::diff(&done.texts)),
        Format::Text => output.data(&render::report(&done.report, &done.texts, request.writing)),
    }
    if args.dry_run && args.format == Format::Text {
        output.say(render::outcomes(&done.report, request.writing).trim_end());
    }
    let would_change = args.check && !done.texts.is_empty();
    Ok(if done.report.is_complete() && !would_change { Exit::Done } else { Exit::Incomplete })
}

fn talk(done: &EditDone, output: &Output) {
    if let Some(recovered) = &done.recovered {
        output.say(&format!("note: run {} had been interrupted and was brought to an end first", recovered.run.get()));
    }
    if let Some(chosen) = &done.chosen {
        output.say(&format!("symbol: {chosen}"));
    }
}

/// What the arguments come to here.
fn request(args: &EditArgs, here: &Here) -> Result<EditRequest, HarnessError> {
    let task = match &args.task {
        Some(path) => Some((path.display().to_string(), harness::read_task(&here.folder.join(path))?)),
        None => None,
    };
    // With a task, and with a worklist, the first positional argument is the workspace.
    let names_symbol = args.task.is_none() && args.worklist.is_none();
    let (symbol, path) = match (&args.symbol, &args.path) {
        (Some(symbol), path) if names_symbol => (Some(symbol), path.clone()),
        (Some(only), None) => (None, Some(PathBuf::from(only))),
        (symbol, path) => (symbol.as_ref(), path.clone()),
    };
    let folder = workspace_folder(here, path.as_deref(), args.task.as_deref(), task.as_ref().map(|(_, task)| task));
    let workspace = here.workspace(Some(&folder))?;
    let target = match (symbol, &args.worklist) {
        (Some(symbol), _) => Target::Asked(here.asked(symbol, &workspace)?),
        (None, Some(file)) => {
            Target::Worklist { file: file.display().to_string(), json: read_worklist(&here.folder.join(file))? }
        }
        (None, None) => Target::Task,
    };
    Ok(EditRequest {
        workspace,
        target,
        scout: args.scouting.options(here.import_roots(&args.scouting.roots)?),
        second_opinion: args.scouting.second_opinion(&here.folder),
        task,
        instruction: args.instruction.clone(),
        operation: args.operation.clone(),
        editor: match args.editor {
            Editor::Auto => EditorChoice::Auto,
            Editor::Rules => EditorChoice::Rules,
            Editor::Model => EditorChoice::Model,
        },
        model: model_request(&args.model, here),
        gate: match args.gate {
            GateMode::Project => GateChoice::Project,
            GateMode::File => GateChoice::File,
            GateMode::Off => GateChoice::Off,
        },
        kinds: site_kinds(&args.kind)?,
        strict: args.strict,
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        oracle: args.oracle.clone(),
        show_file: args.context == Context::File,
        writing: if args.dry_run || args.check { Writing::Nothing } else { Writing::Apply },
    })
}

/// The model that the arguments and the environment name.
pub(super) fn model_request(args: &ModelArgs, here: &Here) -> ModelRequest {
    ModelRequest {
        base_url: here.base_url(args),
        model: args.model.clone(),
        api_key: here.api_key.clone(),
        attempts: usize::from(args.attempts),
        time_limit: Duration::from_secs(args.timeout),
    }
}

/// PATH, else the task's own, else `work/` beside the task file, else the current folder.
fn workspace_folder(here: &Here, path: Option<&Path>, task_file: Option<&Path>, task: Option<&Task>) -> PathBuf {
    if let Some(path) = path {
        return here.folder.join(path);
    }
    let beside = task_file.map(|file| here.folder.join(file)).and_then(|file| file.parent().map(Path::to_owned));
    match (task.and_then(|task| task.workspace.as_deref()), beside) {
        (Some(named), Some(beside)) => beside.join(named),
        (None, Some(beside)) if beside.join("work").is_dir() => beside.join("work"),
        _ => here.folder.clone(),
    }
}

fn read_worklist(path: &Path) -> Result<String, HarnessError> {
    let path_text = path.display().to_string();
    let unreadable = |reason: String| HarnessError::NoInput { what: "worklist", path: path_text.clone(), reason };
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable("it isn't UTF-8".to_owned()))
}
