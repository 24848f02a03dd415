//! What was typed (`args`), what it means here (`request`), one function per command (`commands`), what is printed
//! (`render`) and how it ended (`exit`). stdout is data, stderr is talk.

mod args;
mod commands;
mod exit;
mod output;
mod progress;
mod render;
mod request;

use std::process::ExitCode;

use clap::Parser as _;

use args::Cli;
use exit::Exit;
use output::Output;

/// The syntax tree of a sum with ten thousand terms is ten thousand deep, and is walked by recursion. Memory is taken
/// only where it is touched.
const STACK_BYTES: usize = 512 << 20;

/// Runs the command line and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let worker = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(run);
    // A panic has printed its message by now.
    worker.map_or(Exit::Bug, |worker| worker.join().unwrap_or(Exit::Bug)).into()
}

fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe changes nothing about how it ended.
            drop(error.print());
            return if error.use_stderr() { Exit::Malformed } else { Exit::Done };
        }
    };
    let mut output = Output::new(cli.global.quiet);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output.error(&anyhow::Error::from(error).context("the program can't start"), &[]);
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(commands::run(cli, &mut output));
    match output.finish() {
        Ok(()) => exit,
        Err(error) => {
            output.error(&anyhow::Error::from(error).context("the output can't be written"), &[]);
            if exit == Exit::Done { Exit::Impossible } else { exit }
        }
    }
}
