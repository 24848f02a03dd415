//! What the sources said of one mention, as evidence that can be shown to a person afterwards.

use crate::plan::{Evidence, Heard, Rule, Source, Statement};
use crate::python::NameToken;
use crate::text::RelPath;

use super::Scout;
use crate::scout::census::{Answer, Facts};
use crate::scout::codebase::{Loaded, is_notebook};
use crate::scout::discovery::{Place, PlaceFile};

impl Scout<'_> {
    pub(super) fn evidence(&mut self, file: &RelPath, token: &NameToken, facts: &Facts, rule: Rule) -> Evidence {
        let places = self.answers.get(&(file.clone(), token.span.start())).cloned().unwrap_or_default();
        let definition = if !token.is_asked() {
            Statement::not_asked()
        } else if facts.definition == Answer::Nothing && !places.is_empty() {
            Statement::new("set-aside", "points at a place that proves nothing here")
        } else {
            facts.definition.statement()
        };
        let heard = |source, counted: bool| match self.cross_checks.get(&source) {
            None => Heard::NotAsked,
            Some(_) if is_notebook(file) => Heard::NotAsked,
            Some(_) if counted => Heard::Yes,
            Some(uses) if uses.contains(&(file.clone(), token.span)) => Heard::SetAside,
            Some(_) if self.asked_about.get(&source).is_some_and(|files| !files.contains(file)) => Heard::NotAsked,
            Some(_) => Heard::No,
        };
        let (glean, references) = (heard(Source::Glean, facts.glean), heard(Source::References, facts.references));
        let points_at = places.iter().filter_map(|place| self.shown(place)).collect();
        let (scopes, syntax) = (facts.scopes.statement(), token.role.describe());
        let opinion = facts.opinion.as_ref().map(|(who, answer)| (*who, answer.statement()));
        Evidence { rule, definition, points_at, glean, references, opinion, scopes, syntax }
    }

    /// `FILE:LINE:COLUMN`, 1-based; the file alone where the place is a module.
    fn shown(&mut self, place: &Place) -> Option<String> {
        let (file, loaded) = match &place.file {
            PlaceFile::Inside(file) => (file.to_string(), self.codebase.load(file)),
            PlaceFile::Outside(path) => (path.display().to_string(), self.codebase.load_outside(path)),
        };
        if place.span.is_empty() {
            return Some(file);
        }
        let at = |loaded: &Loaded| loaded.source.position(place.span.start()).ok();
        let position = loaded.as_deref().and_then(at)?;
        Some(format!("{file}:{}:{}", position.line() + 1, position.column() + 1))
    }
}
