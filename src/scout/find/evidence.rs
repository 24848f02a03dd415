//! What is known of one mention: the definition's answer once its targets were looked at, and what the scopes say.

use crate::plan::{Source, SymbolKind};
use crate::python::{self, BindingKind, DeclarationKind, ImportRef, NameToken, Role, ScopeId};
use crate::text::{ByteSpan, RelPath};

use super::opinion::Voice;
use super::{Scout, dotted, is_store, text_of};
use crate::scout::census::{Answer, Facts, ScopeAnswer};
use crate::scout::codebase::Loaded;
use crate::scout::describe::{describe, describe_token};
use crate::scout::discovery::{Place, PlaceFile};
use crate::scout::variables::Variable;

impl Scout<'_> {
    pub(super) fn facts(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Facts {
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
            opinion: if ambiguous { None } else { self.opinion_of(file, loaded, token) },
            scopes: if ambiguous { ScopeAnswer::Perhaps } else { self.scope_answer(file, loaded, token) },
            glean: glean && !ambiguous,
            references: references && !ambiguous,
            after_error: loaded.module.broken_from.is_some_and(|error| error <= token.span.start()),
        }
    }

    /// What the definition at a token says, once its targets were looked at.
    pub(super) fn definition(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Answer {
        self.answer_of(Voice::First, file, loaded, token)
    }

    /// What either server's answer at a token says: the second's targets are looked at as the first's are.
    pub(super) fn answer_of(&mut self, voice: Voice, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Answer {
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
            | Role::Declared
            | Role::Spelled
            | Role::Slot
            | Role::Dotted
            | Role::Key => {}
        }
        let mut places = self.answers_of(voice).get(&(file.clone(), token.span.start())).cloned().unwrap_or_default();
        if token.role == Role::KeywordLabel {
            places = places.into_iter().map(|place| self.label_target(place)).collect();
        }
        if places.iter().any(|place| self.points_at_symbol(place) && !is_at(place, file, token.span)) {
            return Answer::Group;
        }
        match places.first() {
            Some(place) => self.look_at_target(voice, file, loaded, token, place),
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

    fn look_at_target(
        &mut self,
        voice: Voice,
        file: &RelPath,
        loaded: &Loaded,
        token: &NameToken,
        place: &Place,
    ) -> Answer {
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
        if self.is_of_other_binding(voice, file, loaded, token, place) {
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
    fn is_of_other_binding(
        &self,
        voice: Voice,
        file: &RelPath,
        loaded: &Loaded,
        token: &NameToken,
        place: &Place,
    ) -> bool {
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
            let answer = clause.and_then(|clause| self.answers_of(voice).get(&(file.clone(), clause.name.start())));
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
        if token.role == Role::Slot {
            return self.slot_answer(file, loaded, token);
        }
        if token.role == Role::Dotted && self.is_named_by(loaded, token) {
            return ScopeAnswer::Symbol;
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

    /// A slot is the attribute of its class; of a class that sets no such attribute a base or a subclass may.
    fn slot_answer(&self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> ScopeAnswer {
        let mut attribute = loaded.module.scopes.qualname(token.scope).to_vec();
        attribute.extend(text_of(&loaded.source, token).map(str::to_owned));
        let is_here = self.group.members.iter().any(|member| member.file == PlaceFile::Inside(file.clone()));
        if is_here && attribute == self.group.qualname {
            return ScopeAnswer::Symbol;
        }
        let is_declared = loaded.module.declarations.iter().any(|declaration| declaration.qualname == attribute);
        if is_declared || self.group.kind != SymbolKind::Attribute {
            ScopeAnswer::Other(format!("the slot {}", attribute.join(".")))
        } else {
            ScopeAnswer::Silent
        }
    }

    fn store_answer(&mut self, file: &RelPath, token: &NameToken, variable: &Variable) -> ScopeAnswer {
        if self.holders.is_own(variable) || self.holders.is_binding(file, token.span) {
            ScopeAnswer::Symbol
        } else {
            ScopeAnswer::Other(describe_token(self.codebase, file, token.span))
        }
    }

    fn import_answer(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> ScopeAnswer {
        let Some(clause) = loaded.module.import_at(token.span.start()) else { return ScopeAnswer::Silent };
        if self.import_holds(file, loaded, clause) {
            return ScopeAnswer::Symbol;
        }
        let exporting = self.codebase.resolve_import(file, &clause.target);
        if exporting.is_empty() {
            return ScopeAnswer::UnresolvedImport(dotted(clause.target.level, &clause.target.module));
        }
        // Only where each of the files makes a thing of that name of its own.
        let name = clause.target.name.as_deref().unwrap_or_default();
        let own: Option<Vec<Place>> = exporting.iter().map(|file| self.declared_in(file, name)).collect();
        match own.as_deref() {
            Some([place, ..]) => ScopeAnswer::Other(describe(self.codebase, place)),
            Some([]) | None => ScopeAnswer::Silent,
        }
    }

    /// Where a module declares a name itself, other than by an import.
    fn declared_in(&mut self, file: &RelPath, name: &str) -> Option<Place> {
        let loaded = self.codebase.load(file)?;
        let bindings = loaded.module.scopes.bindings(ScopeId::MODULE, name);
        let is_own = |binding: &&python::Binding| !matches!(binding.kind, BindingKind::Import(_));
        let binding = bindings.first().filter(is_own)?;
        Some(Place { file: PlaceFile::Inside(file.clone()), span: binding.span })
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

    pub(super) fn star_import_brings(&self, file: &RelPath, loaded: &Loaded, name: &str) -> bool {
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
}

fn is_at(place: &Place, file: &RelPath, span: ByteSpan) -> bool {
    place.span == span && place.file == PlaceFile::Inside(file.clone())
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
