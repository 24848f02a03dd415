//! Drives a scout: asks the sources about every mention, follows aliases to a fixpoint, and freezes the result.

mod evidence;
mod ledger;
mod opinion;
mod owners;
mod testimony;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Definition, Effort, Extent, MentionClass, Opinion, Source, Symbol, SymbolKind, Worklist};
use crate::python::{BindingKind, DeclarationKind, ImportClause, NameToken, Role, ScopeId};
use crate::text::{ByteOffset, ByteSpan, Position, RelPath, SourceText};

use super::census;
use super::codebase::{Codebase, Loaded, is_notebook};
use super::discovery::{Definitions, Discovery, GroupQuestion, Member, Place, PlaceFile};
use super::group::Group;
use super::variables::{Holders, Variable};
use super::{ScoutError, Watch};
use opinion::{Heard, Voice};

pub(crate) use ledger::use_at;

/// Above so many Python files the index for references costs far more than everything else together: on Django
/// (2,818 files) 11 of 17 CPU seconds for a name with 53 mentions, and glean 3 more, to add no site and no doubt.
const ORDINARY_TREE: usize = 1000;

/// Finds and classifies every mention of a resolved symbol. Without `references` that source is left out, and the
/// worklist says so.
pub(crate) async fn find<D: Definitions, G: Discovery, R: Discovery, S: Definitions>(
    codebase: &mut Codebase,
    group: Group,
    definitions: &mut D,
    (glean, references): (&G, Option<&R>),
    opinion: Option<(Opinion, &mut S)>,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Worklist, ScoutError> {
    let mut scout = Scout::new(codebase, group);
    if effort.verify || scout.codebase.files().count() <= ORDINARY_TREE {
        scout.ask_everything(definitions, (glean, references), effort, watch).await?;
    } else {
        scout.ask_what_is_open(definitions, glean, watch).await?;
    }
    // What a cross-check added may have made new aliases.
    scout.settle(definitions, watch).await?;
    if let Some((who, second)) = opinion {
        scout.hear(who, second, definitions, watch).await?;
    }
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
    asked: BTreeMap<Source, Extent>,
    /// The files that a source was asked about where that isn't all of them.
    asked_about: BTreeMap<Source, BTreeSet<RelPath>>,
    /// The second opinion, where one was asked for.
    heard: Option<Heard>,
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
        let asked = BTreeMap::from([(Source::Definition, Extent::All)]);
        let asked_about = BTreeMap::new();
        Self { codebase, group, name, holders, answers, cross_checks, asked, asked_about, heard: None, notes }
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
        let questions = self.questions(Voice::First, file, &loaded);
        if questions.is_empty() {
            return Ok(());
        }
        let answers = definitions.definitions(self.codebase, file, &questions).await?;
        self.answers.extend(questions.iter().map(|at| (file.clone(), *at)).zip(answers));
        self.ask_owners(definitions, file, &loaded, &questions).await
    }

    /// The tokens about which a server has to be asked yet.
    fn questions(&self, voice: Voice, file: &RelPath, loaded: &Loaded) -> Vec<ByteOffset> {
        let names = self.names();
        let answers = self.answers_of(voice);
        let tokens = loaded
            .module
            .names()
            .chain(loaded.module.in_strings())
            .filter(|token| text_of(&loaded.source, token).is_some_and(|text| names.contains(text)))
            .filter(|token| token.is_asked() && !answers.contains_key(&(file.clone(), token.span.start())))
            .filter(|token| self.may_be_mention(file, loaded, token));
        tokens.map(|token| token.span.start()).collect()
    }

    /// Whether a token spelled like the symbol or an alias stands where that name can mean the symbol.
    fn may_be_mention(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        let Some(text) = text_of(&loaded.source, token) else { return false };
        if token.role == Role::Key {
            return text == self.name && self.group.kind == SymbolKind::Attribute;
        }
        text == self.name
            || match token.role {
                Role::Load | Role::Store | Role::Delete | Role::Declared | Role::Spelled => {
                    match self.variable_of(file, loaded, token) {
                        Some(variable) => self.holders.holds(&variable),
                        None => self.star_import_brings(file, loaded, text),
                    }
                }
                Role::AttributeLoad | Role::AttributeStore => self.sees_alias(file, loaded, text),
                Role::ImportName | Role::ImportAlias => true,
                Role::Definition
                | Role::Parameter
                | Role::TypeParameter
                | Role::KeywordLabel
                | Role::ImportModule
                | Role::Slot
                | Role::Dotted
                | Role::Key => false,
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
                let holds = !clause.star
                    && (self.import_holds(file, &loaded, clause) || self.opinion_holds_import(file, &loaded, clause));
                if holds {
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
            && exporting.iter().any(|exporter| {
                // At module level a module that imports from itself only says that a name is its own.
                (exporter != file || clause.scope != ScopeId::MODULE)
                    && self.holders.exports(self.codebase, exporter, name)
            })
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

    /// Asks all sources about all mentions; each needs only the question, so the index is built while the census
    /// goes on.
    async fn ask_everything<D: Definitions, G: Discovery, R: Discovery>(
        &mut self,
        definitions: &mut D,
        (glean, references): (&G, Option<&R>),
        effort: Effort,
        watch: &dyn Watch,
    ) -> Result<(), ScoutError> {
        let question = self.question(self.candidates());
        let asked = async {
            Ok::<_, ScoutError>(match references {
                Some(references) => Some((references, references.ask(&question).await?)),
                None => None,
            })
        };
        let (facts, found) = if effort.is_sequential() {
            self.settle(definitions, watch).await?;
            (glean.ask(&question).await?, asked.await?)
        } else {
            let ((), facts, found) = tokio::try_join!(self.settle(definitions, watch), glean.ask(&question), asked)?;
            (facts, found)
        };
        self.take(glean, facts, Extent::All);
        match found {
            Some((references, found)) => self.take(references, found, Extent::All),
            None => drop(self.asked.insert(Source::References, Extent::Nothing)),
        }
        // Files that hold the symbol only under another name came to light meanwhile.
        let rest = &self.candidates() - &question.files;
        self.cross_check(glean, rest, Extent::All, watch).await
    }

    /// Asks glean about the files in which the definitions and scopes leave something open, and for references not
    /// at all.
    async fn ask_what_is_open<D: Definitions, G: Discovery>(
        &mut self,
        definitions: &mut D,
        glean: &G,
        watch: &dyn Watch,
    ) -> Result<(), ScoutError> {
        self.settle(definitions, watch).await?;
        self.leave_out(Source::References);
        let open = self.open_files();
        self.asked_about.insert(glean.source(), open.clone());
        self.cross_check(glean, open, Extent::Open, watch).await
    }

    async fn cross_check<G: Discovery>(
        &mut self,
        glean: &G,
        files: BTreeSet<RelPath>,
        extent: Extent,
        watch: &dyn Watch,
    ) -> Result<(), ScoutError> {
        watch.step("cross-checking", 0);
        let facts = glean.ask(&self.question(files)).await?;
        self.take(glean, facts, extent);
        Ok(())
    }

    /// Who uses the members of the group, in these files?
    fn question(&mut self, files: BTreeSet<RelPath>) -> GroupQuestion {
        let mut members = Vec::new();
        for place in &self.group.members {
            let loaded = match &place.file {
                PlaceFile::Inside(file) => self.codebase.load(file),
                PlaceFile::Outside(path) => self.codebase.load_outside(path),
            };
            members.extend(loaded.map(|loaded| Member { place: place.clone(), loaded }));
        }
        let import_roots = self.codebase.import_roots().to_vec();
        let files = files.into_iter().filter(|file| !is_notebook(file)).collect();
        GroupQuestion { root: self.codebase.root().clone(), import_roots, members, files }
    }

    /// Notes what a source lists.
    fn take<S: Discovery>(&mut self, discovery: &S, answer: S::Answer, extent: Extent) {
        let uses = discovery.uses(self.codebase, answer);
        self.cross_checks.entry(discovery.source()).or_default().extend(uses);
        self.asked.insert(discovery.source(), extent);
    }

    fn leave_out(&mut self, source: Source) {
        self.asked.insert(source, Extent::Nothing);
        self.notes.push(format!(
            "a large tree: {} weren't asked, and glean only about files with an open question; --verify asks all of all",
            source.as_str()
        ));
    }

    /// The files in which the definitions and scopes leave a plain name or an import unresolved. Behind a dot glean
    /// knows the receiver's type where the definition does, and nowhere else: on Django, asking about the 2,131 open
    /// attributes called `get` took 41 CPU seconds and settled none.
    fn open_files(&mut self) -> BTreeSet<RelPath> {
        let names = self.names();
        let mut open = BTreeSet::new();
        for file in self.candidates() {
            let Some(loaded) = self.codebase.load(&file) else { continue };
            let is_open = loaded.module.names().filter(|token| !token.role.is_attribute()).any(|token| {
                let text = text_of(&loaded.source, token).unwrap_or_default();
                let is_mention =
                    text == self.name || names.contains(text) && self.is_alias_mention(&file, &loaded, token);
                is_mention && {
                    let facts = self.facts(&file, &loaded, token);
                    census::judge(&facts).class == MentionClass::Unresolved
                }
            });
            if is_open {
                open.insert(file);
            }
        }
        open
    }
}

fn text_of<'s>(source: &'s SourceText, token: &NameToken) -> Option<&'s str> {
    source.slice(token.span)
}

const fn is_store(role: Role) -> bool {
    matches!(role, Role::Store)
}

fn dotted(level: usize, module: &str) -> String {
    format!("{}{module}", ".".repeat(level))
}
