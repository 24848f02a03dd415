//! Drives a scout: asks the sources about every mention, follows aliases to a fixpoint, and freezes the result.

mod evidence;
mod ledger;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Definition, MentionClass, Source, Symbol, SymbolKind, Worklist};
use crate::python::{BindingKind, DeclarationKind, ImportClause, NameToken, Role};
use crate::text::{ByteOffset, ByteSpan, Position, RelPath, SourceText};

use super::census;
use super::codebase::{Codebase, Loaded};
use super::discovery::{Definitions, Discovery, GroupQuestion, Place, PlaceFile};
use super::group::Group;
use super::variables::{Holders, Variable};
use super::{ScoutError, Watch};

pub(crate) use ledger::use_at;

/// Finds and classifies every mention of a resolved symbol.
pub(crate) async fn find<D: Definitions, G: Discovery, R: Discovery>(
    codebase: &mut Codebase,
    group: Group,
    definitions: &mut D,
    glean: Option<&mut G>,
    references: Option<&mut R>,
    watch: &dyn Watch,
) -> Result<Worklist, ScoutError> {
    let mut scout = Scout::new(codebase, group);
    scout.settle(definitions, watch).await?;
    if let Some(glean) = glean {
        scout.cross_check(glean, watch).await?;
    }
    if let Some(references) = references {
        scout.cross_check(references, watch).await?;
    }
    // What a cross-check added may have made new aliases.
    scout.settle(definitions, watch).await?;
    watch.step("looking at longer names", 0);
    scout.freeze(definitions).await
}

/// The group as a symbol, its members with their places.
pub(crate) fn symbol_of(codebase: &mut Codebase, group: &Group) -> Symbol {
    let mut definitions = Vec::new();
    for member in &group.members {
        let (file, external, loaded) = match &member.file {
            PlaceFile::Inside(file) => (file.to_string(), false, codebase.load(file)),
            PlaceFile::Outside(path) => (path.display().to_string(), true, codebase.load_outside(path)),
        };
        let position = loaded.and_then(|loaded| loaded.source.position(member.span.start()).ok());
        let position = position.unwrap_or(Position::new(0, 0));
        definitions.push(Definition { file, position, span: member.span, external });
    }
    Symbol { path: group.path.clone(), kind: group.kind, definitions }
}

struct Scout<'c> {
    codebase: &'c mut Codebase,
    group: Group,
    name: String,
    holders: Holders,
    /// What `textDocument/definition` said, by the start of the token.
    answers: BTreeMap<(RelPath, ByteOffset), Vec<Place>>,
    cross_checks: BTreeMap<Source, BTreeSet<(RelPath, ByteSpan)>>,
    notes: Vec<String>,
}

impl<'c> Scout<'c> {
    fn new(codebase: &'c mut Codebase, group: Group) -> Self {
        let name = group.path.name().to_owned();
        let mut holders = Holders::default();
        for member in &group.members {
            let PlaceFile::Inside(file) = &member.file else { continue };
            let Some(loaded) = codebase.load(file) else { continue };
            // An import that doesn't resolve is all that there is of its symbol.
            let scope = match loaded.module.declaration_at(member.span) {
                Some(declaration) if declaration.kind == DeclarationKind::Attribute => {
                    // `self.x` binds no name that a scope could see; `x = 1` in the class body does.
                    let is_name = loaded.module.name_at(member.span.start()).is_some_and(|t| t.role == Role::Store);
                    is_name.then_some(declaration.scope)
                }
                Some(declaration) => Some(declaration.scope),
                None => loaded.module.import_at(member.span.start()).map(|clause| clause.scope),
            };
            let Some(scope) = scope else { continue };
            let variable = Variable { file: file.clone(), scope, name: name.clone() };
            holders.insert_own(variable.clone(), member.span);
            // Whatever else is bound to it is its value, except what an import brings from elsewhere.
            for binding in loaded.module.scopes.bindings(scope, &name) {
                if !matches!(binding.kind, BindingKind::Import(_)) {
                    holders.insert_own(variable.clone(), binding.span);
                }
            }
        }
        let notes = group.notes.clone();
        let (answers, cross_checks) = (BTreeMap::new(), BTreeMap::new());
        Self { codebase, group, name, holders, answers, cross_checks, notes }
    }

    /// The symbol's own name and its aliases.
    fn names(&self) -> BTreeSet<String> {
        let mut names = self.holders.names();
        names.insert(self.name.clone());
        names
    }

    fn candidates(&self) -> BTreeSet<RelPath> {
        self.codebase.files_with(&self.names())
    }

    /// Asks for definitions and follows what they show until nothing new comes of it.
    async fn settle(&mut self, definitions: &mut impl Definitions, watch: &dyn Watch) -> Result<(), ScoutError> {
        loop {
            let candidates = self.candidates();
            watch.step("asking where each mention is defined", candidates.len());
            for file in &candidates {
                self.ask(definitions, file).await?;
                watch.tick();
            }
            if !self.spread(&candidates) {
                return Ok(());
            }
        }
    }

    async fn ask(&mut self, definitions: &mut impl Definitions, file: &RelPath) -> Result<(), ScoutError> {
        let Some(loaded) = self.codebase.load(file) else { return Ok(()) };
        let names = self.names();
        let questions: Vec<ByteOffset> = loaded
            .module
            .names()
            .filter(|token| text_of(&loaded.source, token).is_some_and(|text| names.contains(text)))
            .filter(|token| is_asked(token.role) && !self.answers.contains_key(&(file.clone(), token.span.start())))
            .filter(|token| self.may_be_mention(file, &loaded, token))
            .map(|token| token.span.start())
            .collect();
        if questions.is_empty() {
            return Ok(());
        }
        let answers = definitions.definitions(self.codebase, file, &questions).await?;
        self.answers.extend(questions.into_iter().map(|at| (file.clone(), at)).zip(answers));
        Ok(())
    }

    /// Whether a token spelled like the symbol or an alias stands where that name can mean the symbol.
    fn may_be_mention(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        let Some(text) = text_of(&loaded.source, token) else { return false };
        text == self.name
            || match token.role {
                Role::Load | Role::Store | Role::Delete | Role::Declared => {
                    match self.variable_of(file, loaded, token) {
                        Some(variable) => self.holders.holds(&variable),
                        None => self.star_import_brings(file, loaded, text),
                    }
                }
                Role::AttributeLoad | Role::AttributeStore => self.sees_alias(file, loaded, text),
                Role::ImportName | Role::ImportAlias => true,
                Role::Definition | Role::Parameter | Role::TypeParameter | Role::KeywordLabel | Role::ImportModule => {
                    false
                }
            }
    }

    /// Whether a file makes the alias or imports a file that does.
    fn sees_alias(&self, file: &RelPath, loaded: &Loaded, alias: &str) -> bool {
        self.holders.variables().filter(|variable| variable.name == alias).any(|variable| {
            variable.file == *file
                || loaded.module.imports.iter().any(|clause| self.imports_file(file, clause, &variable.file))
        })
    }

    fn imports_file(&self, file: &RelPath, clause: &ImportClause, wanted: &RelPath) -> bool {
        let mut as_module = clause.target.clone();
        if let Some(name) = as_module.name.take() {
            as_module.module = if as_module.module.is_empty() { name } else { format!("{}.{name}", as_module.module) };
        }
        self.codebase.resolve_import(file, &clause.target).contains(wanted)
            || self.codebase.resolve_import(file, &as_module).contains(wanted)
    }

    #[expect(clippy::unused_self, reason = "asked like the others of its kind")]
    fn variable_of(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Option<Variable> {
        let name = text_of(&loaded.source, token)?;
        let scope = loaded.module.variable_scope(token, name)?;
        Some(Variable { file: file.clone(), scope, name: name.to_owned() })
    }

    /// Notes which imports and assignments bind the symbol to a name; says whether any is new.
    fn spread(&mut self, candidates: &BTreeSet<RelPath>) -> bool {
        let mut news = false;
        for file in candidates {
            let Some(loaded) = self.codebase.load(file) else { continue };
            for clause in &loaded.module.imports {
                if !clause.star && self.import_holds(file, &loaded, clause) {
                    let token = clause.alias.as_ref().map_or(clause.name, |(_, span)| *span);
                    let name = clause.bound_name().to_owned();
                    news |= self.holders.insert(Variable { file: file.clone(), scope: clause.scope, name }, token);
                }
            }
            if !self.can_be_renamed_by_assignment() {
                continue;
            }
            for alias in &loaded.module.assigned_aliases {
                let value = loaded.module.name_at(alias.value.start());
                let Some(name) = loaded.source.slice(alias.name) else { continue };
                let variable = Variable { file: file.clone(), scope: alias.scope, name: name.to_owned() };
                if !self.holders.is_own(&variable) && value.is_some_and(|token| self.is_reference(file, &loaded, token))
                {
                    news |= self.holders.insert(variable, alias.name);
                }
            }
        }
        news
    }

    /// `h = f` makes `h` another name of a function or class; `v = COUNT` copies a value.
    const fn can_be_renamed_by_assignment(&self) -> bool {
        match self.group.kind {
            SymbolKind::Function | SymbolKind::Class | SymbolKind::TypeAlias => true,
            SymbolKind::Method => !self.group.is_property,
            SymbolKind::Variable | SymbolKind::Attribute | SymbolKind::Parameter => false,
        }
    }

    fn is_reference(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        let known = text_of(&loaded.source, token).is_some_and(|text| self.names().contains(text));
        known && self.may_be_mention(file, loaded, token) && {
            let facts = self.facts(file, loaded, token);
            census::judge(&facts).class == MentionClass::Site
        }
    }

    fn import_holds(&self, file: &RelPath, loaded: &Loaded, clause: &ImportClause) -> bool {
        let Some(name) = &clause.target.name else { return false };
        let places = self.answers.get(&(file.clone(), clause.name.start())).map_or(&[][..], Vec::as_slice);
        if places.iter().any(|place| self.points_at_symbol(place)) {
            return true;
        }
        let spelled_alike = places.iter().any(|place| self.is_known_elsewhere(file, loaded, clause.name, place));
        let exporting = self.codebase.resolve_import(file, &clause.target);
        !spelled_alike
            && exporting.iter().any(|exporter| exporter != file && self.holders.exports(self.codebase, exporter, name))
    }

    /// Whether an import's definition is somewhere else, and not just the import itself.
    fn is_known_elsewhere(&self, file: &RelPath, loaded: &Loaded, token: ByteSpan, place: &Place) -> bool {
        let name = loaded.source.slice(token);
        match &place.file {
            PlaceFile::Inside(target) if target == file && place.span == token => false,
            PlaceFile::Inside(target) => {
                self.codebase.loaded(target).is_some_and(|l| l.source.slice(place.span) == name)
            }
            PlaceFile::Outside(_) => true,
        }
    }

    fn points_at_symbol(&self, place: &Place) -> bool {
        self.group.holds(place)
            || match &place.file {
                PlaceFile::Inside(file) => self.holders.is_binding(file, place.span),
                PlaceFile::Outside(_) => false,
            }
    }

    async fn cross_check(&mut self, discovery: &mut impl Discovery, watch: &dyn Watch) -> Result<(), ScoutError> {
        watch.step(&format!("cross-checking with {}", discovery.source().as_str()), 0);
        let question =
            GroupQuestion { members: self.group.members.iter().cloned().collect(), candidates: self.candidates() };
        let found = discovery.uses(self.codebase, &question).await?;
        self.notes.extend(found.notes);
        self.cross_checks.insert(discovery.source(), found.uses);
        Ok(())
    }
}

fn text_of<'s>(source: &'s SourceText, token: &NameToken) -> Option<&'s str> {
    source.slice(token.span)
}

const fn is_store(role: Role) -> bool {
    matches!(role, Role::Store)
}

/// Whether the definition at such a token says more than its syntax.
const fn is_asked(role: Role) -> bool {
    match role {
        Role::Definition | Role::Parameter | Role::TypeParameter | Role::ImportModule | Role::ImportAlias => false,
        Role::Load
        | Role::Store
        | Role::Delete
        | Role::AttributeLoad
        | Role::AttributeStore
        | Role::KeywordLabel
        | Role::ImportName
        | Role::Declared => true,
    }
}

fn dotted(level: usize, module: &str) -> String {
    format!("{}{module}", ".".repeat(level))
}
