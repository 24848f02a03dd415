//! The pyrefly program: find it, install it, and ask it the three questions that tainie has.
//!
//! - [`program`]: which pyrefly, how it was found, what was passed over.
//! - [`install`]: the pinned version into tainie's own folder.
//! - [`check`]: the diagnostics of a project.
//! - [`config`]: what pyrefly itself says of a project (`dump-config`): root, import roots, covered files.
//! - [`obstacles`]: the links and pipes that its walk over a project doesn't survive.
//! - [`glean`]: every use of every name in given files.
//! - [`run`]: one run of a program, with a time limit.
//! - [`scratch`]: folders that go away with their owner.
//!
//! Deliberately absent: what a diagnostic means (`gate`), which uses are references (`scout`), and printing.

mod check;
mod config;
mod error;
mod glean;
mod install;
mod obstacles;
mod program;
mod run;
mod scratch;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use check::{CheckOptions, CheckOutput, Environment};
pub(crate) use config::{Inspection, ProjectConfig};
pub(crate) use error::CheckerError;
pub(crate) use glean::{GleanFacts, UseTarget};
pub(crate) use install::{InstallStep, install};
pub(crate) use obstacles::{Odd, pattern};
#[cfg(test)]
pub(crate) use program::Candidate;
pub(crate) use program::{FindOptions, Origin, Outcome, Pyrefly, Search, find_program, search};
pub(crate) use scratch::Scratch;
