//! `tainie demo`: the main job on the embedded fixtures, in copies of their own.

use crate::cli::args::DemoArgs;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::progress::Bar;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, Demo, FIXTURES, HarnessError, SystemClock};

use super::edit::model_request;
use super::setup::Talk;

pub(super) async fn run(args: &DemoArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    harness::provision(&here.surroundings, &Talk(output)).await?;
    let model = model_request(&args.model, here);
    let mut shown = Vec::new();
    for fixture in FIXTURES.into_iter().filter(|name| args.fixture.as_ref().is_none_or(|only| only == name)) {
        let demo = Demo::prepare(&here.surroundings, fixture)?;
        let bar = Bar::new(output.is_quiet());
        let worklist = demo.scout(&bar).await;
        bar.finish();
        let worklist = worklist?;
        output.data(&render::demo_worklist(fixture, demo.headline(), &worklist));
        let done = demo.edit(&worklist, &model, &SystemClock, &bar).await;
        bar.finish();
        let done = done?;
        output.data(&render::demo_edits(&done));
        shown.push(done);
    }
    output.data(&render::demo_table(&shown));
    let holds = shown.iter().all(|done| done.problems().is_empty());
    Ok(if holds { Exit::Done } else { Exit::Incomplete })
}
