//! `tainie doctor`: what is there, what is missing, and what mends it.

use crate::cli::args::{DoctorArgs, Format};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, CheckupRequest, HarnessError};

pub(super) async fn run(args: &DoctorArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let workspace = match &args.path {
        Some(path) => Some(here.workspace(Some(path))?),
        None if harness::looks_like_workspace(&here.folder) => Some(here.workspace(None)?),
        None => None,
    };
    let request = CheckupRequest {
        folder: here.folder.clone(),
        workspace,
        named: args.path.is_some(),
        base_url: here.base_url.clone(),
        api_key: here.api_key.clone(),
    };
    let checkup = harness::doctor(&here.surroundings, &request).await;
    match args.format {
        Format::Json => output.data(&render::json(&checkup)),
        Format::Text => output.data(&render::checkup(&checkup)),
    }
    Ok(if checkup.healthy { Exit::Done } else { Exit::Incomplete })
}
