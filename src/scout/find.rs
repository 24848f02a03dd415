//! Drives a scout: asks the sources about every mention, follows aliases to a fixpoint, and freezes the result.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{
    Definition, FileState, ListedFile, Mention, MentionClass, MentionKind, Near, Reason, Site, SiteId, SiteKind,
    Source, Symbol, SymbolKind, Unresolvable, Worklist,
};
use crate::python::{
    self, BindingKind, DeclarationKind, ImportClause, ImportRef, Module, NameToken, Role, StringUse, TextKind, Usage,
};
use crate::text::{ByteOffset, ByteSpan, Position, RelPath, SourceText};

use super::census::{self, Answer, Facts, Judgement, ScopeAnswer};
use super::codebase::{self, Codebase, Loaded};
use super::describe::{describe, describe_token};
use super::discovery::{Definitions, Discovery, GroupQuestion, Place, PlaceFile};
use super::group::Group;
use super::variables::{Holders, Variable};
use super::{ScoutError, Watch};

/// More longer names than this are listed without what they resolve to: each costs a question.
const MAX_NEAR_QUESTIONS: usize = 300;
/// Functions whose string argument names an attribute.
const NAMING_CALLS: [&str; 9] =
    ["getattr", "setattr", "hasattr", "delattr", "object", "attrgetter", "methodcaller", "patch", "import_module"];

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

    fn facts(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Facts {
        let listed =
            |source| self.cross_checks.get(&source).is_some_and(|uses| uses.contains(&(file.clone(), token.span)));
        let (glean, references) = (listed(Source::Glean), listed(Source::References));
        let place = Place { file: PlaceFile::Inside(file.clone()), span: token.span };
        let is_alias_binding = token.role == Role::Store
            && self.holders.is_binding(file, token.span)
            && !self.variable_of(file, loaded, token).is_some_and(|variable| self.holders.is_own(&variable));
        // What points at one of its bindings says nothing about the other.
        let ambiguous = self.is_ambiguous_alias(file, loaded, token);
        Facts {
            role: token.role,
            symbol: self.group.kind,
            declares: self.group.members.contains(&place) || is_alias_binding,
            definition: if ambiguous { Answer::Nothing } else { self.definition(file, loaded, token) },
            scopes: if ambiguous { ScopeAnswer::Perhaps } else { self.scope_answer(file, loaded, token) },
            glean: glean && !ambiguous,
            references: references && !ambiguous,
            after_error: loaded.module.broken_from.is_some_and(|error| error <= token.span.start()),
        }
    }

    /// What the definition at a token says, once its targets were looked at.
    fn definition(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Answer {
        match token.role {
            Role::Definition | Role::Parameter | Role::TypeParameter => {
                return Answer::Elsewhere(describe_token(self.codebase, file, token.span));
            }
            Role::ImportModule => return Answer::Elsewhere(module_of_import(loaded, token)),
            Role::ImportAlias if self.holders.is_binding(file, token.span) => return Answer::Group,
            Role::ImportAlias => return Answer::Elsewhere(describe_token(self.codebase, file, token.span)),
            Role::Load
            | Role::Store
            | Role::Delete
            | Role::AttributeLoad
            | Role::AttributeStore
            | Role::KeywordLabel
            | Role::ImportName
            | Role::Declared => {}
        }
        let mut places = self.answers.get(&(file.clone(), token.span.start())).cloned().unwrap_or_default();
        if token.role == Role::KeywordLabel {
            places = places.into_iter().map(|place| self.label_target(place)).collect();
        }
        if places.iter().any(|place| self.points_at_symbol(place) && !is_at(place, file, token.span)) {
            return Answer::Group;
        }
        match places.first() {
            Some(place) => self.look_at_target(file, loaded, token, place),
            None => Answer::Nothing,
        }
    }

    /// What a label means whose definition is said to be an attribute: the checker names the attribute of a class,
    /// where the parameter of its own `__init__` is meant.
    fn label_target(&mut self, place: Place) -> Place {
        let PlaceFile::Inside(file) = &place.file else { return place };
        let Some(loaded) = self.codebase.load(file) else { return place };
        let attribute = loaded.module.declaration_at(place.span).filter(|d| d.kind == DeclarationKind::Attribute);
        let Some((name, class)) = attribute.and_then(|attribute| attribute.qualname.split_last()) else { return place };
        let parameter = loaded.module.declarations.iter().find(|d| {
            d.kind == DeclarationKind::Parameter
                && d.qualname.strip_prefix(class).is_some_and(|rest| rest == ["__init__", name.as_str()])
        });
        match parameter {
            Some(parameter) => Place { span: parameter.name, ..place },
            None => place,
        }
    }

    fn look_at_target(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken, place: &Place) -> Answer {
        let itself = is_at(place, file, token.span);
        if let PlaceFile::Inside(target) = &place.file {
            if let Some(variable) = self.holders.variable_bound_at(self.codebase, target, place.span).cloned() {
                let rebinds = itself && !self.holders.is_own(&variable);
                let is_here = self.variable_of(file, loaded, token).as_ref() == Some(&variable);
                if !rebinds && token.role.is_plain() && is_here && !is_store(token.role) {
                    return Answer::OtherBinding(describe(self.codebase, place));
                }
                if !rebinds && self.holders.holds_at_end(self.codebase, &variable) {
                    return Answer::SameVariable;
                }
            }
            let at_import = self.codebase.load(target).and_then(|loaded| unresolved_import_at(&loaded, place.span));
            if let Some(module) = at_import {
                return Answer::UnresolvedImport(module);
            }
        }
        // A use that is its own definition: broken syntax, or an alias that refers to itself.
        if itself && !matches!(token.role, Role::Store | Role::AttributeStore | Role::Delete) {
            return Answer::Nothing;
        }
        let what = describe(self.codebase, place);
        if self.is_of_other_binding(file, loaded, token, place) {
            return Answer::OtherBinding(what);
        }
        let target_text = match &place.file {
            PlaceFile::Inside(target) => self.codebase.load(target),
            PlaceFile::Outside(path) => self.codebase.load_outside(path),
        };
        let target_text = target_text.and_then(|target| target.source.slice(place.span).map(str::to_owned));
        let is_module = place.span.is_empty();
        if is_module || target_text.as_deref() == text_of(&loaded.source, token) {
            Answer::Elsewhere(what)
        } else {
            Answer::Foreign(what)
        }
    }

    /// Whether the place is another variable of the name in the same file, or what an import brings to the variable
    /// that a token reads. Of both the scopes know more than the checker, which names the first of several.
    fn is_of_other_binding(&self, file: &RelPath, loaded: &Loaded, token: &NameToken, place: &Place) -> bool {
        if !token.role.is_plain() || is_store(token.role) {
            return false;
        }
        let Some(variable) = self.variable_of(file, loaded, token) else { return false };
        if place.file == PlaceFile::Inside(file.clone()) {
            let target = loaded.module.name_at(place.span.start());
            return target.is_some_and(|target| {
                matches!(target.role, Role::Store | Role::Definition | Role::Parameter)
                    && text_of(&loaded.source, target) == text_of(&loaded.source, token)
            });
        }
        loaded.module.scopes.bindings(variable.scope, &variable.name).iter().any(|binding| {
            let clause = loaded.module.import_at(binding.span.start());
            let answer = clause.and_then(|clause| self.answers.get(&(file.clone(), clause.name.start())));
            answer.is_some_and(|places| places.contains(place))
        })
    }

    fn scope_answer(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> ScopeAnswer {
        if token.role == Role::ImportName {
            return self.import_answer(file, loaded, token);
        }
        if token.role.is_attribute() && self.module_exports(file, loaded, token) {
            return ScopeAnswer::Exported;
        }
        if !token.role.is_plain() {
            return ScopeAnswer::Silent;
        }
        let Some(variable) = self.variable_of(file, loaded, token) else {
            let name = text_of(&loaded.source, token).unwrap_or_default();
            let brought = self.star_import_brings(file, loaded, name);
            return if brought { ScopeAnswer::Exported } else { ScopeAnswer::Silent };
        };
        if is_store(token.role) {
            return self.store_answer(file, token, &variable);
        }
        let reaching = loaded.module.reaching(token, variable.scope, &variable.name);
        if self.holders.hold_any(file, &reaching) {
            return ScopeAnswer::Symbol;
        }
        if self.holders.holds(&variable) && reaching.is_empty() {
            return ScopeAnswer::Perhaps;
        }
        for binding in &reaching {
            if let BindingKind::Import(target) = &binding.kind
                && self.codebase.resolve_import(file, target).is_empty()
            {
                return ScopeAnswer::UnresolvedImport(dotted(target.level, &target.module));
            }
        }
        // Where none comes before, the name is that variable all the same.
        let bindings = loaded.module.scopes.bindings(variable.scope, &variable.name);
        match reaching.first().copied().or(bindings.first()) {
            Some(binding) => ScopeAnswer::Other(describe_token(self.codebase, file, binding.span)),
            None => ScopeAnswer::Silent,
        }
    }

    fn store_answer(&mut self, file: &RelPath, token: &NameToken, variable: &Variable) -> ScopeAnswer {
        if self.holders.is_own(variable) || self.holders.is_binding(file, token.span) {
            ScopeAnswer::Symbol
        } else {
            ScopeAnswer::Other(describe_token(self.codebase, file, token.span))
        }
    }

    fn import_answer(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> ScopeAnswer {
        match loaded.module.import_at(token.span.start()) {
            Some(clause) if self.import_holds(file, loaded, clause) => ScopeAnswer::Symbol,
            Some(clause) if self.codebase.resolve_import(file, &clause.target).is_empty() => {
                ScopeAnswer::UnresolvedImport(dotted(clause.target.level, &clause.target.module))
            }
            _ => ScopeAnswer::Silent,
        }
    }

    /// Whether what stands before the dot is a module that exports the symbol under the token's name.
    fn module_exports(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        let (Some(name), Some(receiver)) = (text_of(&loaded.source, token), token.receiver) else { return false };
        let modules = self.modules_meant(file, loaded, receiver);
        modules.iter().any(|module| self.holders.exports(self.codebase, module, name))
    }

    /// The files of the module that an expression of names and dots means by the imports of its file.
    fn modules_meant(&self, file: &RelPath, loaded: &Loaded, expression: ByteSpan) -> Vec<RelPath> {
        let text = loaded.source.slice(expression).unwrap_or_default();
        let parts: Vec<&str> = text.split('.').map(str::trim).collect();
        let Some(first) = loaded.module.name_at(expression.start()).filter(|token| token.role == Role::Load) else {
            return Vec::new();
        };
        let Some(scope) = loaded.module.variable_scope(first, parts[0]) else { return Vec::new() };
        let mut found = Vec::new();
        for binding in loaded.module.reaching(first, scope, parts[0]) {
            let BindingKind::Import(target) = &binding.kind else { continue };
            let renamed = loaded.module.import_at(binding.span.start()).is_some_and(|clause| clause.alias.is_some());
            let named = match &target.name {
                Some(name) => vec![target.module.as_str(), name],
                None if renamed => vec![target.module.as_str()],
                None => vec![parts[0]],
            };
            let module = named.into_iter().chain(parts[1..].iter().copied()).filter(|part| !part.is_empty());
            let module = module.collect::<Vec<_>>().join(".");
            found.extend(self.codebase.resolve_import(file, &ImportRef { level: target.level, module, name: None }));
        }
        found
    }

    fn star_import_brings(&self, file: &RelPath, loaded: &Loaded, name: &str) -> bool {
        let stars = loaded.module.imports.iter().filter(|clause| clause.star);
        stars
            .flat_map(|clause| self.codebase.resolve_import(file, &clause.target))
            .any(|exporter| self.holders.exports(self.codebase, &exporter, name))
    }

    /// Whether an assignment makes the name an alias in one place and something else in another, both of which may
    /// count where it is used: then nobody knows what it stands for.
    fn is_ambiguous_alias(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        let Some(variable) = self.variable_of(file, loaded, token).filter(|_| token.role == Role::Load) else {
            return false;
        };
        let reaching = loaded.module.reaching(token, variable.scope, &variable.name);
        let held = |binding: &&python::Binding| self.holders.hold_any(file, &[*binding]);
        let by_assignment = |binding: &&python::Binding| held(binding) && binding.kind == BindingKind::Variable;
        !self.holders.is_own(&variable) && reaching.iter().any(by_assignment) && !reaching.iter().all(held)
    }

    async fn freeze(mut self, definitions: &mut impl Definitions) -> Result<Worklist, ScoutError> {
        let mut parts = Parts::default();
        for file in self.candidates() {
            let Some(loaded) = self.codebase.load(&file) else {
                let (reason, message) = self.codebase.why_not(&file);
                parts.unresolvable.push(whole_file(&file, reason, message));
                continue;
            };
            self.census_of(&file, &loaded, &mut parts);
            self.near_of(definitions, &file, &loaded, &mut parts).await?;
        }
        for file in self.codebase.unnameable_with(&self.name) {
            let message = "its name isn't UTF-8, so it can't be looked at".to_owned();
            parts.unresolvable.push(Unresolvable { file, place: None, reason: Reason::Unreadable, message });
        }
        for unread in self.codebase.unread_with(&self.name) {
            parts.unresolvable.push(whole_file(&unread.file, unread.reason, unread.message));
        }
        self.uncovered_leads(&mut parts);
        let symbol = symbol_of(self.codebase, &self.group);
        if self.group.is_protocol {
            let at = symbol.definitions.first().map_or("", |definition| &definition.file);
            let message =
                "a Protocol: classes that match it by shape alone, without naming it as a base, can't be seen";
            parts.unresolvable.push(Unresolvable {
                file: at.to_owned(),
                place: None,
                reason: Reason::StructuralImplementors,
                message: message.to_owned(),
            });
        }
        let Parts { sites, unresolvable, near, files, mentions, counted, .. } = parts;
        Ok(Worklist::freeze(symbol, sites, unresolvable, near, files, mentions, self.notes, counted)?)
    }

    fn census_of(&mut self, file: &RelPath, loaded: &Loaded, parts: &mut Parts) {
        let before = parts.mentions.len();
        let words = python::words(loaded.source.as_str(), &self.name);
        parts.counted += words.len();
        for word in words {
            match loaded.module.name_at(word.start()).filter(|token| token.span == word) {
                Some(token) => self.name_mention(file, loaded, token, parts),
                None => self.text_mention(file, loaded, word, parts),
            }
        }
        let aliases = self.holders.names();
        for token in loaded.module.names() {
            let alias = text_of(&loaded.source, token).unwrap_or_default();
            if alias != self.name && aliases.contains(alias) && self.is_alias_mention(file, loaded, token) {
                parts.counted += 1;
                self.name_mention(file, loaded, token, parts);
            }
        }
        let generated = codebase::is_generated(file, &loaded.source);
        if parts.mentions.len() == before {
            return;
        }
        let state = match (generated, loaded.module.broken_from) {
            (true, _) => FileState::Generated,
            (false, Some(_)) => FileState::Broken,
            (false, None) => FileState::Analysed,
        };
        if generated {
            let message = "generated or vendored: its sites are listed, and edited only with --include";
            parts.unresolvable.push(whole_file(file, Reason::Generated, message.to_owned()));
        }
        if let Some(error) = loaded.module.broken_from {
            let message = "a syntax error: what stands behind it is a reference only where the type checker says so";
            parts.unresolvable.push(entry(
                file,
                &loaded.source,
                ByteSpan::new(error.get(), error.get()),
                Reason::BrokenSyntax,
                message,
            ));
        }
        parts.files.push(ListedFile { file: file.clone(), revision: loaded.source.revision().clone(), state });
    }

    fn is_alias_mention(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        match token.role {
            Role::AttributeLoad | Role::AttributeStore => {
                self.may_be_mention(file, loaded, token) && self.definition(file, loaded, token) == Answer::Group
            }
            Role::ImportName | Role::ImportAlias => loaded.module.import_at(token.span.start()).is_some_and(|clause| {
                let is_name = clause.name == token.span;
                self.import_holds(file, loaded, clause) && (is_name || self.holders.is_binding(file, token.span))
            }),
            Role::Load
            | Role::Store
            | Role::Delete
            | Role::Definition
            | Role::Parameter
            | Role::TypeParameter
            | Role::KeywordLabel
            | Role::ImportModule
            | Role::Declared => self.may_be_mention(file, loaded, token),
        }
    }

    fn name_mention(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken, parts: &mut Parts) {
        let facts = self.facts(file, loaded, token);
        let judgement = census::judge(&facts);
        let Ok(position) = loaded.source.position(token.span.start()) else { return };
        let kind = site_kind(token);
        if judgement.class == MentionClass::Site {
            parts.sites.push(self.site(file, loaded, token, position, &judgement));
        }
        if let Some((reason, message)) = &judgement.unresolved {
            parts.unresolvable.push(entry(file, &loaded.source, token.span, *reason, message));
        }
        let binds = matches!(token.role, Role::Definition | Role::Store | Role::Parameter | Role::TypeParameter);
        parts.mentions.push(Mention {
            file: file.clone(),
            position,
            span: token.span,
            class: judgement.class,
            kind: if binds { MentionKind::Binding } else { MentionKind::Name(kind) },
            resolves_to: judgement.resolves_to,
            reason: judgement.unresolved.map(|(reason, _)| reason),
        });
    }

    fn site(&self, file: &RelPath, loaded: &Loaded, token: &NameToken, at: Position, judgement: &Judgement) -> Site {
        let name = text_of(&loaded.source, token).unwrap_or_default();
        let module = self.codebase.module_name(file);
        let enclosing = loaded.module.enclosing(token.scope);
        Site {
            id: SiteId::new(file, token.span.start()),
            file: file.clone(),
            position: at,
            span: token.span,
            region: token.region,
            kind: site_kind(token),
            alias: (name != self.name).then(|| name.to_owned()),
            text: loaded.source.slice(token.region).unwrap_or_default().to_owned(),
            enclosing: if enclosing.is_empty() { module } else { format!("{module}.{enclosing}") },
            sources: judgement.sources.clone(),
        }
    }

    fn text_mention(&mut self, file: &RelPath, loaded: &Loaded, word: ByteSpan, parts: &mut Parts) {
        let Ok(position) = loaded.source.position(word.start()) else { return };
        let broken = loaded.module.broken_from.is_some_and(|error| error <= word.start());
        let text = loaded.module.text_around(word);
        let (class, kind, reason) = match text {
            _ if broken => (MentionClass::Unresolved, MentionKind::Broken, Some(Reason::BrokenSyntax)),
            Some(TextKind::Comment) => (MentionClass::Text, MentionKind::Comment, None),
            Some(TextKind::Docstring) => (MentionClass::Text, MentionKind::Docstring, None),
            Some(TextKind::String) => (MentionClass::Text, MentionKind::String, None),
            // Neither an identifier nor text: `match`, `case` or `type` as a keyword.
            None => (MentionClass::Decoy, MentionKind::Binding, None),
        };
        if broken {
            let message = "in or behind a part of the file that doesn't parse";
            parts.unresolvable.push(entry(file, &loaded.source, word, Reason::BrokenSyntax, message));
        } else if let Some(message) = self.exact_string(loaded, word) {
            parts.unresolvable.push(entry(file, &loaded.source, word, Reason::ExactString, &message));
        }
        let resolves_to = (class == MentionClass::Decoy).then(|| "a keyword of the language".to_owned());
        let (file, span) = (file.clone(), word);
        parts.mentions.push(Mention { file, position, span, class, kind, resolves_to, reason });
    }

    /// Why a string mention may be a reference at run time.
    fn exact_string(&self, loaded: &Loaded, word: ByteSpan) -> Option<String> {
        let string = loaded.module.plain_strings.iter().find(|string| string.span.contains(word))?;
        let content = loaded.source.slice(string.span)?;
        let dotted = content.replace(':', ".");
        let is_dotted_name = content != self.name
            && crate::plan::SymbolPath::parse(&dotted).is_ok_and(|path| path.is_suffix_of(&self.group.path));
        if is_dotted_name {
            return Some(format!("the string {content:?} is exactly the symbol's dotted name"));
        }
        match &string.usage {
            _ if content != self.name => None,
            StringUse::Exported => Some("listed in `__all__`".to_owned()),
            StringUse::Argument(Some(callee)) if NAMING_CALLS.contains(&callee.as_str()) => {
                Some(format!("looked up by name, in a call of `{callee}`"))
            }
            StringUse::Key if self.group.kind == SymbolKind::Attribute => {
                Some("a key that may be the field of a TypedDict".to_owned())
            }
            StringUse::Argument(_) | StringUse::Key => None,
        }
    }

    async fn near_of(
        &mut self,
        definitions: &mut impl Definitions,
        file: &RelPath,
        loaded: &Loaded,
        parts: &mut Parts,
    ) -> Result<(), ScoutError> {
        let words = python::longer_words(loaded.source.as_str(), &self.name);
        let is_identifier = |word: &ByteSpan| loaded.module.name_at(word.start()).filter(|t| t.span == *word).cloned();
        // A longer alias is no near name but one of the symbol's own.
        let aliases = self.holders.names();
        let is_alias = |token: &NameToken| text_of(&loaded.source, token).is_some_and(|text| aliases.contains(text));
        let tokens: Vec<NameToken> = words.iter().filter_map(is_identifier).filter(|token| !is_alias(token)).collect();
        let (asked, own): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|token| is_asked(token.role));
        let room = MAX_NEAR_QUESTIONS.saturating_sub(parts.near_questions);
        let questions: Vec<ByteOffset> = asked.iter().take(room).map(|token| token.span.start()).collect();
        parts.near_questions += questions.len();
        let answers = if questions.is_empty() {
            Vec::new()
        } else {
            definitions.definitions(self.codebase, file, &questions).await?
        };
        for (index, token) in asked.iter().enumerate() {
            let place = answers.get(index).and_then(|places| places.first()).cloned();
            let resolves_to = place.map(|place| describe(self.codebase, &place));
            parts.near.extend(near(file, loaded, token, resolves_to));
        }
        for token in &own {
            let resolves_to = describe_token(self.codebase, file, token.span);
            parts.near.extend(near(file, loaded, token, Some(resolves_to)));
        }
        Ok(())
    }

    /// Places that a cross-check lists and the census doesn't know: something went wrong, and a person should see it.
    fn uncovered_leads(&mut self, parts: &mut Parts) {
        let known: BTreeSet<(RelPath, ByteSpan)> = parts.mentions.iter().map(|m| (m.file.clone(), m.span)).collect();
        for (source, uses) in &self.cross_checks {
            for (file, span) in uses.difference(&known) {
                // A file that isn't looked at, such as a link to another one, is listed as a whole.
                let Some(loaded) = self.codebase.loaded(file).filter(|_| self.codebase.contains(file)) else {
                    continue;
                };
                // In a string that holds the name the whole content may be meant.
                let holds_mention = known.iter().any(|(known_file, known)| known_file == file && span.contains(*known));
                if holds_mention || loaded.module.name_at(span.start()).is_none() {
                    continue;
                }
                let message = format!("{} lists this place, which isn't spelled like the symbol", source.as_str());
                parts.unresolvable.push(entry(file, &loaded.source, *span, Reason::Disagreement, &message));
            }
        }
    }
}

#[derive(Default)]
struct Parts {
    sites: Vec<Site>,
    unresolvable: Vec<Unresolvable>,
    near: Vec<Near>,
    files: Vec<ListedFile>,
    mentions: Vec<Mention>,
    counted: usize,
    near_questions: usize,
}

fn text_of<'s>(source: &'s SourceText, token: &NameToken) -> Option<&'s str> {
    source.slice(token.span)
}

fn is_at(place: &Place, file: &RelPath, span: ByteSpan) -> bool {
    place.span == span && place.file == PlaceFile::Inside(file.clone())
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

/// The region and the kind of the use whose name stands at `span`; `None` where no name is used there.
pub(crate) fn use_at(module: &Module, span: ByteSpan) -> Option<(ByteSpan, SiteKind)> {
    let token = module.name_at(span.start()).filter(|token| token.span == span)?;
    let is_use = match token.role {
        Role::Definition
        | Role::Parameter
        | Role::TypeParameter
        | Role::ImportModule
        | Role::ImportName
        | Role::ImportAlias => false,
        Role::Load
        | Role::Store
        | Role::Delete
        | Role::AttributeLoad
        | Role::AttributeStore
        | Role::KeywordLabel
        | Role::Declared => true,
    };
    is_use.then(|| (token.region, site_kind(token)))
}

fn site_kind(token: &NameToken) -> SiteKind {
    match token.usage {
        Usage::Call => SiteKind::Call,
        Usage::Value => SiteKind::Value,
        Usage::Annotation => SiteKind::Annotation,
        Usage::Base => SiteKind::Base,
        Usage::Decorator => SiteKind::Decorator,
        Usage::AttributeAssignment => SiteKind::AttributeAssignment,
        Usage::KeywordLabel => SiteKind::KeywordLabel,
        Usage::Import => SiteKind::Import,
    }
}

fn dotted(level: usize, module: &str) -> String {
    format!("{}{module}", ".".repeat(level))
}

/// The module of the import clause whose name token this is, where the server stops at it.
fn unresolved_import_at(loaded: &Loaded, token: ByteSpan) -> Option<String> {
    let is_import = loaded.module.name_at(token.start()).is_some_and(|token| token.role.is_import());
    let clause = is_import.then(|| loaded.module.import_at(token.start())).flatten()?;
    Some(dotted(clause.target.level, &clause.target.module))
}

fn module_of_import(loaded: &Loaded, token: &NameToken) -> String {
    loaded
        .source
        .slice(token.region)
        .map_or_else(|| "a module".to_owned(), |statement| format!("a module, in `{}`", first_line(statement)))
}

fn first_line(text: &str) -> &str {
    text.split(['\n', '\r']).next().unwrap_or(text).trim_end()
}

fn whole_file(file: &RelPath, reason: Reason, message: String) -> Unresolvable {
    Unresolvable { file: file.to_string(), place: None, reason, message }
}

fn entry(file: &RelPath, source: &SourceText, span: ByteSpan, reason: Reason, message: &str) -> Unresolvable {
    let place = source.position(span.start()).ok().map(|position| (position, span));
    Unresolvable { file: file.to_string(), place, reason, message: message.to_owned() }
}

fn near(file: &RelPath, loaded: &Loaded, token: &NameToken, resolves_to: Option<String>) -> Option<Near> {
    let position = loaded.source.position(token.span.start()).ok()?;
    let text = text_of(&loaded.source, token)?.to_owned();
    Some(Near { file: file.clone(), position, span: token.span, text, resolves_to })
}
