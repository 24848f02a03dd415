//! The suite: one test binary that sees the program from outside.

#![expect(
    clippy::disallowed_methods,
    reason = "tests set up files and start programs; the lint is there for what ships"
)]

mod architecture;
#[cfg(unix)]
mod cache;
mod cases;
mod determinism;
mod fixtures;
mod guards;
mod large_tree;
mod listings;
#[cfg(feature = "openai")]
mod model;
mod opinion;
mod scanner;
mod scout_corpus;
#[cfg(feature = "openai")]
mod server;
mod support;
mod traps;
#[cfg(not(feature = "openai"))]
mod without_model;
mod worklists;
