//! The suite: one test binary that sees the program from outside.

#![expect(
    clippy::disallowed_methods,
    reason = "tests set up files and start programs; the lint is there for what ships"
)]

mod architecture;
mod cases;
mod fixtures;
mod guards;
mod scanner;
mod scout_corpus;
mod support;
