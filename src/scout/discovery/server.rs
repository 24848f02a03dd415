//! The language server as a backend: definitions without an index, references with one.

use std::path::PathBuf;

use crate::lsp::{Mode, Session, Target, TargetFile};
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::Codebase;
use crate::text::{ByteOffset, ByteSpan, RelPath, SourceText, Utf16Position};

use super::{Definitions, Discovery, Found, GroupQuestion, Place, PlaceFile};

/// `textDocument/definition` at every mention: needs no index, so there is no race and no barrier.
pub(crate) struct ServerDefinitions {
    program: PathBuf,
    session: Option<Session>,
}

impl ServerDefinitions {
    /// The server is started at the first question.
    pub(crate) const fn new(program: PathBuf) -> Self {
        Self { program, session: None }
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop().await;
        }
    }
}

impl Definitions for ServerDefinitions {
    async fn definitions(
        &mut self,
        codebase: &mut Codebase,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError> {
        let Some(loaded) = codebase.load(file) else { return Ok(vec![Vec::new(); at.len()]) };
        if self.session.is_none() {
            self.session = Some(Session::start(&self.program, Mode::Definitions, codebase.root()).await?);
        }
        let session = self.session.as_mut().expect("the session was started just now");
        session.open(file, &loaded.source).await?;
        let answers = session.definitions(file, &loaded.source, at).await?;
        session.close(file).await?;
        Ok(answers.iter().map(|targets| targets.iter().filter_map(|t| place(codebase, t)).collect()).collect())
    }
}

/// `textDocument/references` at every member of the group, behind the readiness barrier.
pub(crate) struct ServerReferences {
    program: PathBuf,
}

impl ServerReferences {
    pub(crate) const fn new(program: PathBuf) -> Self {
        Self { program }
    }
}

impl Discovery for ServerReferences {
    fn source(&self) -> Source {
        Source::References
    }

    async fn uses(&mut self, codebase: &mut Codebase, group: &GroupQuestion) -> Result<Found, ScoutError> {
        let mut found = Found::default();
        let mut session = Session::start(&self.program, Mode::References, codebase.root()).await?;
        for member in &group.members {
            // The index covers the workspace: a declaration outside it can't be asked about.
            let PlaceFile::Inside(file) = &member.file else { continue };
            let Some(loaded) = codebase.load(file) else { continue };
            for target in session.references(file, &loaded.source, member.span.start()).await? {
                if let Some(Place { file: PlaceFile::Inside(file), span }) = place(codebase, &target) {
                    found.uses.insert((file, span));
                }
            }
        }
        session.stop().await;
        Ok(found)
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
