//! One file per command, each a function from arguments to an exit.

mod demo;
mod doctor;
mod edit;
mod journal;
mod resolve;
mod schema;
mod scout;
mod setup;

use crate::harness::HarnessError;

use super::args::{Cli, Command};
use super::exit::Exit;
use super::output::{Output, advice};
use super::request::Here;

/// Runs the command and says how it ended.
pub(super) async fn run(cli: Cli, output: &mut Output) -> Exit {
    let here = match Here::read(&cli.global) {
        Ok(here) => here,
        Err(error) => {
            output.error(&error.context("the program can't start"), &[]);
            return Exit::Impossible;
        }
    };
    let ended = tokio::select! {
        ended = dispatch(cli.command, &here, output) => ended,
        _ = tokio::signal::ctrl_c() => return Exit::Interrupted,
    };
    ended.unwrap_or_else(|error| {
        let (exit, next) = (error.failure().into(), advice(&error));
        output.error(&anyhow::Error::from(error), &next);
        exit
    })
}

async fn dispatch(command: Command, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    match command {
        Command::Scout(args) => scout::run(&args, here, output).await,
        Command::Edit(args) => edit::run(&args, here, output).await,
        Command::Undo(args) => journal::undo(&args, here, output),
        Command::Recover(args) => journal::recover(&args, here, output),
        Command::History(args) => journal::history(&args, here, output),
        Command::Show(args) => journal::show(&args, here, output),
        Command::Resolve(args) => resolve::run(&args, here, output).await,
        Command::Schema(args) => Ok(schema::run(&args, output)),
        Command::Demo(args) => Box::pin(demo::run(&args, here, output)).await,
        Command::Doctor(args) => doctor::run(&args, here, output).await,
        Command::Setup => setup::run(here, output).await,
    }
}
