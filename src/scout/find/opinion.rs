//! The second opinion: another server's definition at every mention, heard after all else was. It is a help and never
//! a reason to fail: a server that fails is left out as a whole, so that no worklist depends on how far it came.

use std::collections::BTreeMap;

use crate::plan::{Extent, MentionClass, Opinion, Source};
use crate::python::{ImportClause, NameToken};
use crate::text::{ByteOffset, RelPath};

use super::Scout;
use crate::scout::census::{self, Answer};
use crate::scout::codebase::Loaded;
use crate::scout::discovery::{Definitions, Place};
use crate::scout::{ScoutError, Watch};

/// Which of the two servers is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    First,
    Second,
}

/// What the second server said.
#[derive(Debug)]
pub(super) struct Heard {
    who: Opinion,
    answers: BTreeMap<(RelPath, ByteOffset), Vec<Place>>,
}

impl Scout<'_> {
    /// Asks the second server, and follows what it shows until nothing new comes of it.
    pub(super) async fn hear(
        &mut self,
        who: Opinion,
        second: &mut impl Definitions,
        definitions: &mut impl Definitions,
        watch: &dyn Watch,
    ) -> Result<(), ScoutError> {
        let holders = self.holders.clone();
        self.heard = Some(Heard { who, answers: BTreeMap::new() });
        loop {
            watch.step(&format!("asking {} for a second opinion", who.as_str()), 0);
            if let Err(error) = self.ask_second(second, watch).await {
                self.heard = None;
                self.holders = holders;
                self.note_failure(who, &error);
                return Ok(());
            }
            if !self.spread(&self.candidates()) {
                break;
            }
            self.settle(definitions, watch).await?;
        }
        self.asked.insert(Source::SecondOpinion(who), Extent::All);
        let answers = self.heard.iter().flat_map(|heard| heard.answers.values());
        if answers.clone().count() > 0 && answers.clone().all(Vec::is_empty) {
            self.notes.push(format!("the second opinion of {} is empty: it knows no definition here", who.as_str()));
        }
        Ok(())
    }

    async fn ask_second(&mut self, second: &mut impl Definitions, watch: &dyn Watch) -> Result<(), ScoutError> {
        for file in self.candidates() {
            let Some(loaded) = self.codebase.load(&file) else { continue };
            let questions = self.questions(Voice::Second, &file, &loaded);
            if questions.is_empty() {
                continue;
            }
            let answers = second.definitions(self.codebase, &file, &questions).await?;
            let answers = questions.into_iter().map(|at| (file.clone(), at)).zip(answers);
            if let Some(heard) = &mut self.heard {
                heard.answers.extend(answers);
            }
            watch.tick();
        }
        Ok(())
    }

    fn note_failure(&mut self, who: Opinion, error: &ScoutError) {
        let why = with_causes(error);
        self.notes.push(format!("no second opinion of {}, and the list is complete without it: {why}", who.as_str()));
    }

    pub(super) fn answers_of(&self, voice: Voice) -> &BTreeMap<(RelPath, ByteOffset), Vec<Place>> {
        static NONE: BTreeMap<(RelPath, ByteOffset), Vec<Place>> = BTreeMap::new();
        match voice {
            Voice::First => &self.answers,
            Voice::Second => self.heard.as_ref().map_or(&NONE, |heard| &heard.answers),
        }
    }

    /// What the second server says of a mention, where it was asked about it.
    pub(super) fn opinion_of(
        &mut self,
        file: &RelPath,
        loaded: &Loaded,
        token: &NameToken,
    ) -> Option<(Opinion, Answer)> {
        let heard = self.heard.as_ref()?;
        let who = heard.who;
        heard.answers.contains_key(&(file.clone(), token.span.start())).then_some(())?;
        Some((who, self.answer_of(Voice::Second, file, loaded, token)))
    }

    /// Whether the second server alone ties an import to the symbol: then the name that it binds is an alias, too.
    pub(super) fn opinion_holds_import(&mut self, file: &RelPath, loaded: &Loaded, clause: &ImportClause) -> bool {
        let answers = self.answers_of(Voice::Second).get(&(file.clone(), clause.name.start()));
        let points_here = answers.is_some_and(|places| places.iter().any(|place| self.points_at_symbol(place)));
        let Some(token) = loaded.module.name_at(clause.name.start()).filter(|_| points_here) else { return false };
        census::judge(&self.facts(file, loaded, token)).class == MentionClass::Import
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
