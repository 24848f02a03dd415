//! stdout and stderr. A closed pipe silences output and changes nothing else.

use std::fmt::Display;
use std::io::Write as _;

use crate::harness::{Advice, HarnessError};

use super::render::safe_lines;

/// The two streams of the program.
pub(super) struct Output {
    quiet: bool,
    /// Nobody reads any more, or nothing more can be written.
    closed: bool,
    /// Why stdout can't be written, where it isn't a reader that went away.
    failure: Option<std::io::Error>,
}

impl Output {
    pub(super) const fn new(quiet: bool) -> Self {
        Self { quiet, closed: false, failure: None }
    }

    pub(super) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Data: goes to stdout, colours only where a terminal reads them.
    pub(super) fn data(&mut self, text: &str) {
        if !self.closed {
            let written = anstream::stdout().lock().write_all(text.as_bytes());
            self.note(written);
        }
    }

    /// Data for programs: goes to stdout byte for byte. What [`Self::data`] prints loses its control characters where
    /// no terminal reads it.
    pub(super) fn exact(&mut self, text: &str) {
        if !self.closed {
            let written = std::io::stdout().lock().write_all(text.as_bytes());
            self.note(written);
        }
    }

    /// Talk: goes to stderr.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet {
            drop(writeln!(anstream::stderr().lock(), "{}", safe_lines(text)));
        }
    }

    /// An error with its causes and what to do next.
    #[expect(clippy::unused_self, reason = "all output goes through the one value that stands for the streams")]
    pub(super) fn error(&self, error: &dyn Display, next: &[String]) {
        let mut stderr = anstream::stderr().lock();
        drop(writeln!(stderr, "error: {}", safe_lines(&format!("{error:#}"))));
        for line in next {
            drop(writeln!(stderr, "  {}", safe_lines(line)));
        }
    }

    /// Writes out what is left, and says whether all of it could be written; a closed pipe is no failure.
    pub(super) fn finish(&mut self) -> Result<(), std::io::Error> {
        if !self.closed {
            let flushed = anstream::stdout().lock().flush();
            self.note(flushed);
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn note(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            self.closed = true;
            self.failure = Some(error).filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }
}

/// What the user can do about an error: the one function from error to hint.
pub(super) fn advice(error: &HarnessError) -> Vec<String> {
    match error.advice() {
        Advice::None => Vec::new(),
        Advice::CloseNames(close) if close.is_empty() => {
            vec!["no name is close to it; give FILE:LINE of its definition or of a use".to_owned()]
        }
        Advice::CloseNames(close) => {
            let list = close.iter().map(|c| format!("  {}  {}", c.symbol, c.place));
            std::iter::once("did you mean".to_owned()).chain(list).collect()
        }
        Advice::Candidates(candidates) => {
            let list = candidates.iter().map(|c| format!("  {}  {}", c.symbol, c.place));
            let how = "give more of the dotted name, or one of these places as FILE:LINE";
            list.chain([how.to_owned()]).collect()
        }
        Advice::WordOrModel => vec![
            "say exactly what to do with --operation 'add-keyword NAME=VALUE' (or `operation:` in the task's front matter),".to_owned(),
            "or let a model read the instruction: --base-url http://127.0.0.1:11434/v1 (or TAINIE_BASE_URL)".to_owned(),
        ],
        Advice::NameServer => vec![
            "name a running OpenAI-compatible server with --base-url or TAINIE_BASE_URL, and its model with --model".to_owned(),
        ],
        Advice::GiveTime => vec![
            "give it more time with --timeout SECONDS, or name another server with --base-url or TAINIE_BASE_URL".to_owned(),
        ],
        Advice::BuildWithModel => vec![
            "build it with `cargo build --features openai`, or say exactly what to do with --operation 'add-keyword NAME=VALUE'"
                .to_owned(),
        ],
        Advice::NameSymbol => vec![
            "write `symbol: pkg.mod.name` in the task's front matter, or run `tainie edit SYMBOL --instruction '…'`".to_owned(),
        ],
        Advice::SayWhat => vec![
            "say what to do with --instruction '…', --operation 'add-keyword NAME=VALUE' or --task FILE".to_owned(),
        ],
        Advice::Looked(folders) => {
            let looked = format!("looked in {}", folders.join(", "));
            vec![looked, "name the workspace with --workspace DIR; a journal is made by the first edit that writes".to_owned()]
        }
        Advice::AnotherPlace => vec![
            "give FILE:LINE[:COL] of a name, both counted from 1 as editors do, or the symbol's dotted name".to_owned(),
        ],
        Advice::Setup => vec!["run `tainie setup` to install the pinned pyrefly, or `tainie doctor` to see why".to_owned()],
        Advice::MendProject => {
            vec!["mend, move or remove what it names (a broken link, say), and run the command again".to_owned()]
        }
        Advice::Installer => vec![
            "install `uv`, or python3 with venv and pip (`tainie doctor` says how), and see that the network is there;".to_owned(),
            "or name a pyrefly that you have: --pyrefly PATH (or TAINIE_PYREFLY)".to_owned(),
        ],
        Advice::InstallServer(Some(command)) => vec![
            format!("install it: {command}"),
            "or give the path of one that you have: --second-opinion PATH".to_owned(),
        ],
        Advice::InstallServer(None) => vec![
            "name ty, basedpyright, auto, or a language server by its path: --second-opinion \"PATH ARGUMENTS\"".to_owned(),
        ],
        Advice::Scout => vec!["somebody changed them meanwhile; run the command again to look at them afresh".to_owned()],
        Advice::ScoutAgain { symbol } => vec![format!("make it anew: `tainie scout {symbol} --format json`")],
        Advice::BringBack { run } => vec![format!(
            "give them back what the run wrote (`tainie show {run}` tells its edits) and undo again, or mend them by hand"
        )],
        Advice::NameWorkspace => vec!["give the folder that holds the Python sources as PATH".to_owned()],
        Advice::Wait => vec!["wait for it to end, then run the command again".to_owned()],
        Advice::FileWritable { file } => vec![format!("make it writable; an edit can also leave it out with --exclude '{file}'")],
        Advice::FolderWritable { folder } => vec![format!(
            "make the folder {folder} writable, since a file is replaced as a whole; an edit can also leave it out with --exclude"
        )],
        Advice::StateWritable => {
            vec!["make it writable, or set TAINIE_STATE_DIR for a journal elsewhere".to_owned()]
        }
        Advice::MoveJournal { path } => vec![format!(
            "its runs can't be taken back any more: move {path} out of the way, and the next edit begins a new one"
        )],
        Advice::RenameFolder => {
            vec!["rename the folder (or the one above it that is meant), or work on a copy elsewhere".to_owned()]
        }
    }
}
