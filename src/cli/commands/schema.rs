//! `tainie schema`: the JSON Schemas of what is printed.

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render;
use crate::harness::{explanation_schema, line_schema, report_schema, worklist_schema};

pub(super) fn run(args: &SchemaArgs, output: &mut Output) -> Exit {
    let schema = match args.name.as_str() {
        "report" => report_schema(),
        "jsonl" => line_schema(),
        "why" => explanation_schema(),
        _ => worklist_schema(),
    };
    output.data(&render::json(&schema));
    Exit::Done
}
