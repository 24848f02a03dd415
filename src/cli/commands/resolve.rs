//! `tainie resolve`: which symbol is meant.

use serde_json::json;

use crate::cli::args::{Format, ResolveArgs};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, HarnessError};

pub(super) async fn run(args: &ResolveArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let workspace = here.workspace(args.path.as_deref())?;
    let asked = here.asked(&args.symbol, &workspace)?;
    let found = harness::resolve(&here.surroundings, &workspace, &asked, &here.import_roots(&args.roots)?).await?;
    match args.format {
        Format::Json => output.data(&render::json(&json!({
            "schema_version": 1,
            "fqn": found.symbol,
            "kind": found.kind,
            "definitions": found.definitions,
        }))),
        Format::Text => {
            let defined: String =
                found.definitions.iter().map(|definition| ["  defined at ", definition, "\n"].concat()).collect();
            output.data(&format!("{}  ({})\n{defined}", found.symbol, found.kind));
        }
    }
    Ok(Exit::Done)
}
