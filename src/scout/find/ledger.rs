//! Enters every mention of every candidate in exactly one class, and freezes the worklist.

use std::collections::BTreeSet;

use crate::plan::{
    Evidence, FileState, ListedFile, Mention, MentionClass, MentionKind, Near, Reason, Rule, Site, SiteId, SiteKind,
    SymbolKind, SymbolPath, Unresolvable, Worklist,
};
use crate::python::{self, DeclarationKind, Module, NameToken, Role, ScopeId, StringUse, TextKind, Usage, Within};
use crate::text::{ByteOffset, ByteSpan, Position, RelPath, SourceText};

use super::opinion::Voice;
use super::{Scout, symbol_of, text_of};
use crate::scout::ScoutError;
use crate::scout::census::{self, Answer, Judgement};
use crate::scout::codebase::{self, Loaded, is_notebook};
use crate::scout::describe::{describe, describe_token};
use crate::scout::discovery::{Definitions, PlaceFile};
use crate::scout::documents::{ImportedAs, documents};

/// More longer names than this are listed without what they resolve to: each costs a question.
const MAX_NEAR_QUESTIONS: usize = 300;
/// Functions whose string argument names an attribute.
const NAMING_CALLS: [&str; 9] =
    ["getattr", "setattr", "hasattr", "delattr", "object", "attrgetter", "methodcaller", "patch", "import_module"];

impl Scout<'_> {
    pub(super) async fn freeze(mut self, definitions: &mut impl Definitions) -> Result<Worklist, ScoutError> {
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
        if !parts.registered.is_empty() && self.group.is_dispatcher {
            let list = parts.registered.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            self.notes.push(format!("calls may run what is registered with it under other names: {list}"));
        }
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
        let documents = documents(self.codebase, &self.imported_as());
        let Parts { sites, unresolvable, near, files, mentions, counted, .. } = parts;
        let (asked, notes) = (self.asked, self.notes);
        let frozen = Worklist::freeze(symbol, sites, unresolvable, near, files, mentions, asked, notes, counted)?;
        Ok(Worklist { documents, ..frozen })
    }

    /// All names that the symbol can be imported by: its own, and those of the modules that pass it on.
    fn imported_as(&self) -> BTreeSet<ImportedAs> {
        let mut names = BTreeSet::new();
        let mut add = |file: &RelPath, name: &[String]| {
            names.extend(self.codebase.module_names(file).into_iter().map(|module| (module, name.to_vec())));
        };
        for member in &self.group.members {
            let PlaceFile::Inside(file) = &member.file else { continue };
            let declaration = self.codebase.loaded(file).and_then(|loaded| loaded.module.declaration_at(member.span));
            if let Some(declaration) = declaration.filter(|found| found.kind != DeclarationKind::Parameter) {
                add(file, &declaration.qualname);
            }
        }
        for variable in self.holders.variables().filter(|variable| variable.scope == ScopeId::MODULE) {
            add(&variable.file, std::slice::from_ref(&variable.name));
        }
        names
    }

    /// Whether a string is, up to this component, exactly a name that the symbol can be imported by.
    pub(super) fn is_named_by(&self, loaded: &Loaded, token: &NameToken) -> bool {
        let before = token.receiver.and_then(|before| loaded.source.slice(before)).unwrap_or_default();
        let (Some(name), before) = (text_of(&loaded.source, token), before.replace(':', ".")) else { return false };
        self.imported_as().iter().any(|(module, path)| {
            path.split_last().is_some_and(|(last, outer)| {
                let mut parts = before.split('.');
                let mut expected = module.split('.').chain(outer.iter().map(String::as_str));
                last == name && expected.all(|part| parts.next() == Some(part)) && parts.next().is_none()
            })
        })
    }

    fn census_of(&mut self, file: &RelPath, loaded: &Loaded, parts: &mut Parts) {
        let before = parts.mentions.len();
        let words = python::words(loaded.searched(), &self.name);
        parts.counted += words.len();
        for word in words {
            match loaded.module.name_at(word.start()).filter(|token| token.span == word) {
                Some(token) => self.name_mention(file, loaded, token, parts),
                None => match loaded.module.in_string_at(word).filter(|t| self.is_meant(file, loaded, t)) {
                    Some(token) => self.name_mention(file, loaded, token, parts),
                    None => self.text_mention(file, loaded, word, parts),
                },
            }
        }
        let aliases = self.holders.names();
        for token in loaded.module.names().chain(loaded.module.in_strings()) {
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
        if is_notebook(file) {
            let message = "no type checker reads a notebook: imports and scopes alone say what its names are";
            parts.unresolvable.push(whole_file(file, Reason::Notebook, message.to_owned()));
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

    /// Whether a string, or part of one, is a name beyond what convention makes of it.
    fn is_meant(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        if token.role == Role::Key {
            matches!(self.definition(file, loaded, token), Answer::Group | Answer::Elsewhere(_))
        } else {
            self.is_named_by(loaded, token)
        }
    }

    pub(super) fn is_alias_mention(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken) -> bool {
        match token.role {
            Role::AttributeLoad | Role::AttributeStore => {
                self.may_be_mention(file, loaded, token)
                    && (self.definition(file, loaded, token) == Answer::Group
                        || self.answer_of(Voice::Second, file, loaded, token) == Answer::Group)
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
            | Role::Declared
            | Role::Spelled
            | Role::Slot => self.may_be_mention(file, loaded, token),
            Role::Dotted => self.is_named_by(loaded, token),
            Role::Key => false,
        }
    }

    fn name_mention(&mut self, file: &RelPath, loaded: &Loaded, token: &NameToken, parts: &mut Parts) {
        let facts = self.facts(file, loaded, token);
        let judgement = census::judge(&facts);
        let evidence = self.evidence(file, token, &facts, judgement.rule);
        let Ok(position) = loaded.source.position(token.span.start()) else { return };
        let kind = site_kind(token);
        if judgement.class == MentionClass::Site {
            let registered =
                loaded.module.declarations.iter().filter(|d| d.registered_with.contains(&token.span.start()));
            parts.registered.extend(registered.map(|d| describe_token(self.codebase, file, d.name)));
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
            evidence,
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
            Some(TextKind::Markup) => (MentionClass::Text, MentionKind::Markup, None),
            Some(TextKind::Magic) => (MentionClass::Unresolved, MentionKind::Magic, Some(Reason::Notebook)),
            // Neither an identifier nor text: `match`, `case` or `type` as a keyword.
            None => (MentionClass::Decoy, MentionKind::Binding, None),
        };
        if broken {
            let message = "in or behind a part of the file that doesn't parse";
            parts.unresolvable.push(entry(file, &loaded.source, word, Reason::BrokenSyntax, message));
        } else if reason == Some(Reason::Notebook) {
            let message = "in a code cell, in what isn't plain Python: a magic, a command, a cell that doesn't parse";
            parts.unresolvable.push(entry(file, &loaded.source, word, Reason::Notebook, message));
        } else if let Some(message) = self.exact_string(loaded, word) {
            parts.unresolvable.push(entry(file, &loaded.source, word, Reason::ExactString, &message));
        }
        let resolves_to = (class == MentionClass::Decoy).then(|| "a keyword of the language".to_owned());
        let rule = match class {
            MentionClass::Unresolved if broken => Rule::InBrokenText,
            MentionClass::Unresolved => Rule::InMagic,
            MentionClass::Decoy => Rule::Keyword,
            MentionClass::Text | MentionClass::Site | MentionClass::Import | MentionClass::Definition => Rule::InText,
        };
        let evidence = Evidence::of_syntax(rule, text.map_or("no identifier", TextKind::describe));
        let (file, span) = (file.clone(), word);
        parts.mentions.push(Mention { file, position, span, class, kind, resolves_to, reason, evidence });
    }

    /// Why a string mention may be a reference at run time.
    fn exact_string(&self, loaded: &Loaded, word: ByteSpan) -> Option<String> {
        let string = loaded.module.plain_strings.iter().find(|string| string.span.contains(word))?;
        let content = loaded.source.slice(string.span)?;
        let dotted = content.replace(':', ".");
        let is_dotted_name =
            content != self.name && SymbolPath::parse(&dotted).is_ok_and(|path| path.is_suffix_of(&self.group.path));
        if is_dotted_name {
            return Some(format!("the string {content:?} is exactly the symbol's dotted name"));
        }
        match &string.usage {
            _ if content != self.name => None,
            StringUse::Argument(Some(callee)) if NAMING_CALLS.contains(&callee.as_str()) => {
                Some(format!("looked up by name, in a call of `{callee}`"))
            }
            StringUse::Key if self.group.kind == SymbolKind::Attribute => Some(
                "a key that may be the field: of a TypedDict, or of an object that is read as a mapping".to_owned(),
            ),
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
        let words = python::longer_words(loaded.searched(), &self.name);
        let is_identifier = |word: &ByteSpan| loaded.module.name_at(word.start()).filter(|t| t.span == *word).cloned();
        // A longer alias is no near name but one of the symbol's own.
        let aliases = self.holders.names();
        let is_alias = |token: &NameToken| text_of(&loaded.source, token).is_some_and(|text| aliases.contains(text));
        let tokens: Vec<NameToken> = words.iter().filter_map(is_identifier).filter(|token| !is_alias(token)).collect();
        let (asked, own): (Vec<_>, Vec<_>) = tokens.into_iter().partition(NameToken::is_asked);
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
    /// Functions that the symbol, which dispatches on a type, may call.
    registered: BTreeSet<String>,
}

/// The region and the kind of the use whose name stands at `span`; `None` where no name is used there.
pub(crate) fn use_at(module: &Module, span: ByteSpan) -> Option<(ByteSpan, SiteKind)> {
    let token =
        module.name_at(span.start()).filter(|token| token.span == span).or_else(|| module.in_string_at(span))?;
    token.role.uses().then(|| (token.region, site_kind(token)))
}

fn site_kind(token: &NameToken) -> SiteKind {
    match token.usage {
        _ if token.within == Within::Doctest => SiteKind::Doctest,
        _ if token.within == Within::Cell => SiteKind::Cell,
        Usage::Annotation if token.within == Within::Text => SiteKind::TypeComment,
        Usage::Call => SiteKind::Call,
        Usage::Value => SiteKind::Value,
        Usage::Annotation => SiteKind::Annotation,
        Usage::Base => SiteKind::Base,
        Usage::Decorator => SiteKind::Decorator,
        Usage::AttributeAssignment => SiteKind::AttributeAssignment,
        Usage::KeywordLabel => SiteKind::KeywordLabel,
        Usage::Import => SiteKind::Import,
        Usage::ReExport => SiteKind::ReExport,
        Usage::Export => SiteKind::Export,
        Usage::Slot => SiteKind::Slot,
        Usage::String => SiteKind::String,
        Usage::Key => SiteKind::Key,
        Usage::ScopeDeclaration => SiteKind::ScopeDeclaration,
        Usage::Accessor => SiteKind::Accessor,
    }
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
