//! `tainie setup`: the pinned pyrefly in tainie's own folder. stdout is its path and nothing else.

use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::request::Here;
use crate::harness::{self, HarnessError, Progress};

pub(super) async fn run(here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let installed = harness::setup(&here.surroundings, &Talk(output)).await?;
    output.say(&format!("pyrefly {} is there", installed.version));
    output.data(&format!("{}\n", installed.program.display()));
    Ok(Exit::Done)
}

/// Each step as a line: there are few, and each takes seconds.
pub(super) struct Talk<'o>(pub(super) &'o Output);

impl Progress for Talk<'_> {
    fn step(&self, what: &str, _total: usize) {
        self.0.say(&format!("{what} …"));
    }

    fn tick(&self) {}
}
