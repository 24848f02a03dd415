//! The few questions we ask a language server, in our words.
//!
//! Guards against what pyrefly does silently:
//! - A file that isn't open, or a position that doesn't exist, is answered with nothing: both are refused here.
//! - References asked before the index is built are `[]`. Nothing tells when it is built, but a request that
//!   needs it waits for it, so throw-away requests around `didOpen` are the barrier ([`Session::open`]).
//! - A byte-order mark counts as one column of line 0, in the text that we send and in the file on disk that
//!   answers refer to. We send it, and take it out of the columns here, since [`SourceText`] doesn't count it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lsp_types::Uri;
use serde_json::{Value, json};
use tokio::process::{ChildStdin, ChildStdout};

use super::client::Client;
use super::convert::Location;
use super::error::{ClientError, LspError};
use super::process::ServerProcess;
use super::server::{Limits, Mode, Server};
use super::{convert, uri};
use crate::text::{ByteOffset, ProjectRoot, RelPath, Revision, SourceText, Utf16Position};

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
/// After which waits a server that may not be ready is asked again, while it has answered nothing yet.
const FIRST_WAITS: &[Duration] =
    &[Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
const GOODBYE: Duration = Duration::from_secs(3);
/// How long a server that closed its output may take to end, so that its exit code can be told.
const DYING: Duration = Duration::from_secs(2);

/// What can be asked about a place of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Definition,
    TypeDefinition,
}

impl Question {
    const fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::TypeDefinition => "textDocument/typeDefinition",
        }
    }
}

/// The file of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TargetFile {
    /// Below the root that the session was started with.
    Inside(RelPath),
    /// Elsewhere: the standard library, a dependency. What is no file at all is here by its URI.
    Outside(PathBuf),
}

/// A place that the server answered with, as columns of the file on disk without a byte-order mark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) file: TargetFile,
    pub(crate) start: Utf16Position,
    pub(crate) end: Utf16Position,
}

/// A conversation with one language server about one tree. The server ends with it.
pub(crate) struct Session {
    program: String,
    mode: Mode,
    root: ProjectRoot,
    limits: Limits,
    /// What is left of [`FIRST_WAITS`]; nothing once the server has answered something.
    first_waits: &'static [Duration],
    client: Client<ChildStdout, ChildStdin>,
    process: ServerProcess,
    open: BTreeMap<RelPath, Revision>,
    /// Whether a file on disk starts with a byte-order mark, for those that answers named.
    marked: BTreeMap<PathBuf, bool>,
}

impl Session {
    /// Starts the server and waits until it is there.
    pub(crate) async fn start(server: &Server, root: &ProjectRoot) -> Result<Self, LspError> {
        let root_uri = uri::from_path(root.as_path())?;
        let program = server.launch.program.display().to_string();
        let (process, stdout, stdin) = ServerProcess::start(&server.launch, root)
            .map_err(|source| LspError::Start { program: program.clone(), source })?;
        let client = Client::new(stdout, stdin, server.settings.clone());
        let (open, marked) = (BTreeMap::new(), BTreeMap::new());
        let (mode, limits) = (server.mode, server.limits);
        let first_waits = if server.is_slow_starter { FIRST_WAITS } else { &[] };
        let root = root.clone();
        let mut session = Self { program, mode, root, limits, first_waits, client, process, open, marked };
        let hello = convert::initialize(root_uri);
        let answer = session.client.ask::<_, Value>("initialize", &hello, limits.start).await;
        let answer = session.told(answer).await?;
        // Every column would be taken for another one.
        if let Some(encoding) = convert::foreign_encoding(&answer) {
            return Err(LspError::Encoding { program: session.program, encoding });
        }
        session.client.notify("initialized", &json!({}));
        Ok(session)
    }

    /// Hands a file's text over; questions about it are refused before. Another text replaces the old one.
    pub(crate) async fn open(&mut self, file: &RelPath, source: &SourceText) -> Result<(), LspError> {
        if self.open.get(file) == Some(source.revision()) {
            return Ok(());
        }
        self.close(file).await?;
        let params = convert::did_open(self.uri(file)?, source.as_str());
        self.wait_for_index().await?;
        self.client.notify("textDocument/didOpen", &params);
        self.wait_for_index().await?;
        self.open.insert(file.clone(), source.revision().clone());
        Ok(())
    }

    /// Lets the server forget a file's text; nothing happens when it isn't open.
    #[expect(clippy::unused_async, reason = "whoever closes a file talks to the server, like whoever opens it")]
    pub(crate) async fn close(&mut self, file: &RelPath) -> Result<(), LspError> {
        if self.open.remove(file).is_some() {
            let params = convert::did_close(self.uri(file)?);
            self.client.notify("textDocument/didClose", &params);
        }
        Ok(())
    }

    /// Where each place of an open file is defined, or its type is: one sorted list per place, in their order.
    pub(crate) async fn locate(
        &mut self,
        question: Question,
        file: &RelPath,
        source: &SourceText,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Target>>, LspError> {
        let uri = self.uri(file)?;
        let mut questions = Vec::with_capacity(at.len());
        for &offset in at {
            questions.push(convert::definition(uri.clone(), self.position(file, source, offset)?));
        }
        loop {
            let answers = self.client.ask_all(question.method(), &questions, self.limits.answer).await;
            let answers = self.told(answers).await?;
            let answers: Vec<_> = answers.into_iter().map(|answer| self.targets(convert::locations(answer))).collect();
            match self.first_waits.split_first() {
                Some((wait, rest)) if answers.iter().all(Vec::is_empty) => {
                    self.first_waits = rest;
                    tokio::time::sleep(*wait).await;
                }
                _ => {
                    self.first_waits = &[];
                    return Ok(answers);
                }
            }
        }
    }

    /// The references to what is declared at a place, without the declaration itself, sorted. The file is
    /// opened if it isn't open yet.
    pub(crate) async fn references(
        &mut self,
        file: &RelPath,
        source: &SourceText,
        at: ByteOffset,
    ) -> Result<Vec<Target>, LspError> {
        if self.mode != Mode::References {
            return Err(LspError::NoIndex);
        }
        if !self.open.contains_key(file) {
            self.open(file, source).await?;
        }
        let question = convert::references(self.uri(file)?, self.position(file, source, at)?);
        let answer = self.client.ask("textDocument/references", &question, self.limits.index).await;
        let answer: Option<Vec<Location>> = self.told(answer).await?;
        Ok(self.targets(answer.unwrap_or_default()))
    }

    /// Ends the server politely, or else by force.
    pub(crate) async fn stop(mut self) {
        if self.client.ask::<_, Value>("shutdown", &(), GOODBYE).await.is_ok() {
            self.client.notify("exit", &());
            // Whether it heard us or not, the process is waited for, and killed after that.
            drop(self.client.flush(GOODBYE).await);
        }
        drop(self.client);
        self.process.end(GOODBYE).await;
    }

    #[cfg(test)]
    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// The barrier: the server answers this only when the index covers what it was told so far.
    async fn wait_for_index(&mut self) -> Result<(), LspError> {
        if self.mode == Mode::References {
            let query = json!({"query": ""});
            let answer = self.client.ask::<_, Value>("workspace/symbol", &query, self.limits.index).await;
            self.told(answer).await?;
        }
        Ok(())
    }

    /// Adds to a failure what the server said on its stderr.
    async fn told<T>(&mut self, answer: Result<T, ClientError>) -> Result<T, LspError> {
        let source = match answer {
            Ok(answer) => return Ok(answer),
            Err(source) => Box::new(source),
        };
        let patience = if matches!(*source, ClientError::Closed { .. }) { DYING } else { Duration::ZERO };
        let (status, stderr) = self.process.post_mortem(patience).await;
        let status = status.map(|status| status.to_string());
        Err(LspError::Server { program: self.program.clone(), status, stderr, source })
    }

    fn uri(&self, file: &RelPath) -> Result<Uri, LspError> {
        uri::from_path(&self.root.join(file))
    }

    /// A place of an open file as the server counts it.
    fn position(&self, file: &RelPath, source: &SourceText, at: ByteOffset) -> Result<Utf16Position, LspError> {
        let opened = self.open.get(file).ok_or_else(|| LspError::NotOpen { file: file.clone() })?;
        if opened != source.revision() {
            return Err(LspError::OtherText { file: file.clone() });
        }
        let position = source.utf16(at).map_err(|source| LspError::NoSuchPlace { file: file.clone(), source })?;
        let marked = position.line() == 0 && source.bom_len() > 0;
        Ok(Utf16Position::new(position.line(), position.unit() + u32::from(marked)))
    }

    fn targets(&mut self, locations: Vec<Location>) -> Vec<Target> {
        let mut targets: Vec<Target> = locations.into_iter().map(|location| self.target(&location)).collect();
        targets.sort();
        targets.dedup();
        targets
    }

    fn target(&mut self, location: &Location) -> Target {
        let (start, end) = convert::ends(location.range);
        let Some(path) = uri::to_path(&location.uri) else {
            return Target { file: TargetFile::Outside(PathBuf::from(&location.uri)), start, end };
        };
        let start = self.without_mark(&path, start);
        let end = self.without_mark(&path, end);
        let file = self.root.relativize(&path).map_or_else(|_| TargetFile::Outside(path), TargetFile::Inside);
        Target { file, start, end }
    }

    /// A position of the server without the column that a byte-order mark takes. Answers refer to the file on
    /// disk, whatever text is open.
    fn without_mark(&mut self, path: &Path, position: Utf16Position) -> Utf16Position {
        if position.line() > 0 || position.unit() == 0 {
            return position;
        }
        let marked = *self.marked.entry(path.to_owned()).or_insert_with(|| starts_with_mark(path));
        Utf16Position::new(0, position.unit() - u32::from(marked))
    }
}

fn starts_with_mark(path: &Path) -> bool {
    let mut start = [0; BOM.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == BOM
}
