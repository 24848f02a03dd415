//! Which other language server is asked for a second opinion: the ones that are known by name, and any other by its path.
//!
//! To make another one known: a variant of `plan::Opinion`, a row of [`KNOWN`], and its description in `lsp/server.rs`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::checker::{self, FindOptions};
use crate::lsp::{Limits, Server};
use crate::plan::Opinion;

use super::HarnessError;

/// Who is asked, as the command line has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpinionRequest {
    /// `auto`, a known name, or a program with its arguments.
    pub(crate) named: String,
    /// The folder that a relative path starts from.
    pub(crate) folder: PathBuf,
    /// How long the server may be silent.
    pub(crate) time_limit: Duration,
}

/// A server that is known by name.
pub(super) struct Known {
    pub(super) opinion: Opinion,
    /// What is looked for.
    pub(super) program: &'static str,
    describe: fn(PathBuf) -> Server,
}

/// In the order in which `auto` takes them: ty needs a fraction of the time.
pub(super) const KNOWN: [Known; 2] = [
    Known { opinion: Opinion::Ty, program: "ty", describe: Server::ty },
    Known { opinion: Opinion::Basedpyright, program: "basedpyright-langserver", describe: Server::basedpyright },
];

impl Known {
    /// The command that installs it: the package has the name of the opinion.
    pub(super) fn installer(&self) -> String {
        format!("python3 -m pip install {}", self.opinion.as_str())
    }
}

/// Who gives a second opinion, or one line about why nobody does.
pub(super) enum Consulted {
    Server(Opinion, Server),
    Nobody(String),
}

/// Finds the server that was asked for.
pub(super) fn consult(request: &OpinionRequest, options: &FindOptions) -> Result<Consulted, HarnessError> {
    let found = |known: &Known| checker::find_program(options, known.program).map(known.describe);
    let limited =
        |opinion, server: Server| Consulted::Server(opinion, server.with_limits(Limits::all(request.time_limit)));
    if request.named == "auto" {
        let first = KNOWN.iter().find_map(|known| Some(limited(known.opinion, found(known)?)));
        let nobody = || {
            let names = KNOWN.map(|known| known.opinion.as_str()).join(" nor ");
            Consulted::Nobody(format!("no second opinion: neither {names} is installed ({})", KNOWN[0].installer()))
        };
        return Ok(first.unwrap_or_else(nobody));
    }
    if let Some(known) = KNOWN.iter().find(|known| known.opinion.as_str() == request.named) {
        let missing = || HarnessError::NoOpinion { server: request.named.clone(), install: Some(known.installer()) };
        return found(known).map(|server| limited(known.opinion, server)).ok_or_else(missing);
    }
    let missing = || HarnessError::NoOpinion { server: request.named.clone(), install: None };
    let (opinion, server) = by_path(request, options).ok_or_else(missing)?;
    Ok(limited(opinion, server))
}

/// A program by its path or name, with its arguments behind it; a known one is started as it needs to be.
fn by_path(request: &OpinionRequest, options: &FindOptions) -> Option<(Opinion, Server)> {
    // A path may hold blanks, so the whole is tried first.
    let mut words = request.named.split_whitespace().map(str::to_owned);
    let (program, arguments) = match program_at(&request.named, &request.folder, options) {
        Some(program) => (program, Vec::new()),
        None => (program_at(&words.next()?, &request.folder, options)?, words.collect()),
    };
    let stem = program.file_stem()?.to_str().unwrap_or_default();
    match KNOWN.iter().find(|known| known.program == stem && arguments.is_empty()) {
        Some(known) => Some((known.opinion, (known.describe)(program))),
        None => Some((Opinion::Other, Server::other(program, arguments))),
    }
}

fn program_at(text: &str, folder: &Path, options: &FindOptions) -> Option<PathBuf> {
    if Path::new(text).components().count() > 1 {
        return Some(folder.join(text)).filter(|program| program.is_file());
    }
    checker::find_program(options, text)
}
