//! tainie turns the name of a Python symbol into a complete, accounted-for list of the places that refer
//! to it, edits each place by itself, and keeps an edit only if the type checker has nothing new to say.
//!
//! The rooms, in reading order; each may name rooms above it, never one below (`tests/suite/architecture.rs`):
//!
//! | room | what lives there |
//! |---|---|
//! | `text` | one source text, its units of position, changes to it |
//! | `python` | what the Python text alone says: mentions, scopes, calls, imports |
//! | `plan` | the nouns that cross rooms: symbol, site, worklist, assignment, verdict |
//! | `checker` | the pyrefly program: find, install, check, glean, configuration |
//! | `lsp` | one language server: definitions and references |
//! | `scout` | a name to one declaration group, and every mention of it to one class |
//! | `gate` | did it get worse? the shadow, the diff of diagnostics, who is to blame |
//! | `editor` | one assignment to one reply, by rules or by a model |
//! | `harness` | owns the run: schedule, journal, the only writer, undo, report |
//! | `cli` | what was typed, what it means, what is printed |
//!
//! The way of the data: `cli` → `scout` → worklist → `editor` → proposals → `gate` → `harness::apply` → report.

mod checker;
mod cli;
mod editor;
mod gate;
mod harness;
mod lsp;
mod plan;
mod python;
mod scout;
mod text;

pub use cli::main;
