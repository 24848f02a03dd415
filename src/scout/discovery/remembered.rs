//! What backends said before about the very same bytes, and backends that remember.
//!
//! Whether the bytes are the same is not known here: whoever fills [`Facts`] vouches for it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::lsp::Question;
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::Codebase;
use crate::text::{ByteOffset, ByteSpan, RelPath, Revision};

use super::{Definitions, Discovery, GroupQuestion, Place, PlaceFile};

/// Uses of a declaration group, by their name tokens.
pub(crate) type Uses = BTreeSet<(RelPath, ByteSpan)>;

/// Places that were named in answer to a question at an offset.
pub(crate) type Places = BTreeMap<(RelPath, ByteOffset), Vec<Place>>;

/// Answers of the backends about one state of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Where the name at an offset is defined.
    pub(crate) definitions: Places,
    /// Where the type of the name at an offset is.
    pub(crate) types: Places,
    /// By a digest of the source and of the question.
    pub(crate) uses: BTreeMap<String, Uses>,
    /// Whether something came in since they were read.
    pub(crate) grown: bool,
}

impl Facts {
    const fn places(&mut self, question: Question) -> &mut Places {
        match question {
            Question::Definition => &mut self.definitions,
            Question::TypeDefinition => &mut self.types,
        }
    }
}

/// A backend that is asked only what nobody knows yet.
pub(crate) struct Remembered<'f, B> {
    facts: &'f RefCell<Facts>,
    backend: B,
}

impl<'f, B> Remembered<'f, B> {
    pub(crate) const fn new(facts: &'f RefCell<Facts>, backend: B) -> Self {
        Self { facts, backend }
    }

    pub(crate) fn into_backend(self) -> B {
        self.backend
    }
}

impl<D: Definitions> Definitions for Remembered<'_, D> {
    async fn locate(
        &mut self,
        codebase: &mut Codebase,
        question: Question,
        file: &RelPath,
        at: &[ByteOffset],
    ) -> Result<Vec<Vec<Place>>, ScoutError> {
        let key = |at: &ByteOffset| (file.clone(), *at);
        let new: Vec<ByteOffset> = {
            let mut facts = self.facts.borrow_mut();
            let known = facts.places(question);
            at.iter().filter(|at| !known.contains_key(&key(at))).copied().collect()
        };
        if !new.is_empty() {
            let answers = self.backend.locate(codebase, question, file, &new).await?;
            let mut facts = self.facts.borrow_mut();
            facts.places(question).extend(new.iter().map(key).zip(answers));
            facts.grown = true;
        }
        let mut facts = self.facts.borrow_mut();
        let known = facts.places(question);
        Ok(at.iter().map(|at| known.get(&key(at)).cloned().unwrap_or_default()).collect())
    }
}

/// What is known already, or an answer with the key under which it will be.
pub(crate) enum Recalled<A> {
    Known(Uses),
    New { key: String, answer: A },
}

impl<D: Discovery> Discovery for Remembered<'_, D> {
    type Answer = Recalled<D::Answer>;

    fn source(&self) -> Source {
        self.backend.source()
    }

    async fn ask(&self, question: &GroupQuestion) -> Result<Self::Answer, ScoutError> {
        let key = key_of(self.source(), question);
        let known = self.facts.borrow().uses.get(&key).cloned();
        match known {
            Some(uses) => Ok(Recalled::Known(uses)),
            None => Ok(Recalled::New { key, answer: self.backend.ask(question).await? }),
        }
    }

    fn uses(&self, codebase: &mut Codebase, answer: Self::Answer) -> Uses {
        match answer {
            Recalled::Known(uses) => uses,
            Recalled::New { key, answer } => {
                let uses = self.backend.uses(codebase, answer);
                let mut facts = self.facts.borrow_mut();
                facts.uses.insert(key, uses.clone());
                facts.grown = true;
                uses
            }
        }
    }
}

/// Everything that an answer depends on, apart from the bytes of the tree.
fn key_of(source: Source, question: &GroupQuestion) -> String {
    let mut text = format!("{}\n", source.as_str());
    for member in &question.members {
        let file = match &member.place.file {
            PlaceFile::Inside(file) => file.to_string(),
            PlaceFile::Outside(path) => path.display().to_string(),
        };
        writeln!(text, "{file:?} {:?}", member.place.span).expect("writing to a string can't fail");
    }
    for file in &question.files {
        writeln!(text, "{:?}", file.as_str()).expect("writing to a string can't fail");
    }
    Revision::of(text.as_bytes()).to_string()
}
