//! Talks to one language server: where a name or its type is defined, and who refers to it.
//!
//! The only room that knows the protocol. Bytes become messages in [`framing`], messages become answers in
//! [`client`], answers become our words in [`session`]; [`server`] says how each server is started and what it needs,
//! [`process`] owns the program, [`uri`] and [`convert`] translate. Deliberately absent: diagnostics (the gate asks the checker program), renames, code actions.

mod client;
mod convert;
mod error;
mod framing;
mod process;
mod server;
mod session;
mod uri;

pub(crate) use error::LspError;
pub(crate) use server::{Limits, Mode, Server};
pub(crate) use session::{Question, Session, Target, TargetFile};

#[cfg(test)]
mod tests;
