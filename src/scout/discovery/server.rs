//! The language server as a backend: definitions without an index, references with one.

use std::collections::BTreeSet;

use crate::lsp::{Question, Server, Session, Target, TargetFile};
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::{Codebase, is_notebook};
use crate::text::{ByteOffset, ByteSpan, RelPath, SourceText, Utf16Position};

use super::{Definitions, Discovery, GroupQuestion, Place, PlaceFile};

/// `textDocument/definition` at every mention: needs no index, so there is no race and no barrier.
pub(crate) struct ServerDefinitions {
    server: Server,
    session: Option<Session>,
}

impl ServerDefinitions {
    /// The server is started at the first question.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, session: None }
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop().await;
        }
    }
}

impl Definitions for ServerDefinitions {
    async fn locate(
        &mut self,
        codebase: &mut Codebase,
        question: Question,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError> {
        let Some(loaded) = codebase.load(file).filter(|_| !is_notebook(file)) else {
            return Ok(vec![Vec::new(); at.len()]);
        };
        if self.session.is_none() {
            self.session = Some(Session::start(&self.server, codebase.root()).await?);
        }
        let session = self.session.as_mut().expect("the session was started just now");
        session.open(file, &loaded.source).await?;
        let answers = session.locate(question, file, &loaded.source, at).await?;
        session.close(file).await?;
        Ok(answers.iter().map(|targets| targets.iter().filter_map(|t| place(codebase, t)).collect()).collect())
    }
}

/// `textDocument/references` at every member of the group, behind the readiness barrier.
pub(crate) struct ServerReferences {
    server: Server,
}

impl ServerReferences {
    /// A server for references.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server }
    }
}

impl Discovery for ServerReferences {
    type Answer = Vec<Target>;

    fn source(&self) -> Source {
        Source::References
    }

    async fn ask(&self, question: &GroupQuestion) -> Result<Vec<Target>, ScoutError> {
        let mut session = Session::start(&self.server, &question.root).await?;
        let mut found = Vec::new();
        for member in &question.members {
            // The index covers the workspace: a declaration outside it can't be asked about.
            let PlaceFile::Inside(file) = &member.place.file else { continue };
            found.extend(session.references(file, &member.loaded.source, member.place.span.start()).await?);
        }
        session.stop().await;
        Ok(found)
    }

    fn uses(&self, codebase: &mut Codebase, answer: Vec<Target>) -> BTreeSet<(RelPath, ByteSpan)> {
        let places = answer.iter().filter_map(|target| place(codebase, target));
        let inside = places.filter_map(|place| match place.file {
            PlaceFile::Inside(file) => Some((file, place.span)),
            PlaceFile::Outside(_) => None,
        });
        inside.collect()
    }
}

/// A target as a span of bytes; `None` when the file can't be read or has no such place.
fn place(codebase: &mut Codebase, target: &Target) -> Option<Place> {
    let (file, loaded) = match &target.file {
        TargetFile::Inside(file) => (PlaceFile::Inside(file.clone()), codebase.load(file)?),
        TargetFile::Outside(path) => (PlaceFile::Outside(path.clone()), codebase.load_outside(path)?),
    };
    Some(Place { file, span: byte_span(&loaded.source, target.start, target.end)? })
}

fn byte_span(source: &SourceText, start: Utf16Position, end: Utf16Position) -> Option<ByteSpan> {
    let start = source.offset_of_utf16(start).ok()?;
    let end = source.offset_of_utf16(end).ok()?;
    (start <= end).then(|| ByteSpan::new(start.get(), end.get()))
}
