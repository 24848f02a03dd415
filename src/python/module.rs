//! One parsed file: its names, scopes, imports and declarations, without the tree that they come from.

use std::rc::Rc;

use ruff_python_ast::PySourceType;
use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged as _, TextRange};

use crate::text::{ByteOffset, ByteSpan, SourceText};

use super::flow::{self, Arm, Reader};
use super::imports::ImportClause;
use super::notebook::{Notebook, notebook};
use super::places::Places;
use super::scopes::{Binding, ScopeId, ScopeKind, Scopes};
use super::walk::{self, Walked};

/// What part an identifier plays where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Load,
    Store,
    Delete,
    /// Behind a dot.
    AttributeLoad,
    AttributeStore,
    /// The name in `def NAME` or `class NAME`.
    Definition,
    Parameter,
    TypeParameter,
    /// `NAME=` in a call or a class header, or in a class pattern.
    KeywordLabel,
    /// A component of a dotted module name in an import.
    ImportModule,
    /// `NAME` of `from m import NAME`.
    ImportName,
    /// `NAME` of `as NAME` in an import.
    ImportAlias,
    /// In a `global` or `nonlocal` statement.
    Declared,
    /// The content of a string that names a variable of its scope: in `__all__`, in `T = TypeVar("T")`.
    Spelled,
    /// The content of a string in `__slots__`.
    Slot,
    /// A component, not the first, of a string that is a dotted name or `module:attribute`.
    Dotted,
    /// The content of a string that is used as a key.
    Key,
}

impl Role {
    /// Whether the identifier stands alone, so that scopes say what it refers to.
    pub(crate) const fn is_plain(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Delete | Self::Declared | Self::Spelled)
    }

    pub(crate) const fn is_attribute(self) -> bool {
        matches!(self, Self::AttributeLoad | Self::AttributeStore)
    }

    /// The role as people say it.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Load => "a name that is read",
            Self::Store => "a name that is bound",
            Self::Delete => "a name that is deleted",
            Self::AttributeLoad => "an attribute that is read",
            Self::AttributeStore => "an attribute that is set",
            Self::Definition => "the name of a `def` or `class`",
            Self::Parameter => "a parameter",
            Self::TypeParameter => "a type parameter",
            Self::KeywordLabel => "the label of a keyword argument",
            Self::ImportModule => "part of a module's name in an import",
            Self::ImportName => "a name that is imported",
            Self::ImportAlias => "the new name of what is imported",
            Self::Declared => "a name in a `global` or `nonlocal` statement",
            Self::Spelled => "a string that names a variable",
            Self::Slot => "a string in `__slots__`",
            Self::Dotted => "part of a string that is a dotted name",
            Self::Key => "a string that is a key",
        }
    }

    /// Whether it declares a name, and nothing else.
    pub(crate) const fn declares(self) -> bool {
        matches!(self, Self::Definition | Self::Parameter | Self::TypeParameter)
    }

    /// Whether it uses what is declared or imported elsewhere.
    pub(crate) const fn uses(self) -> bool {
        !self.declares() && !self.is_import()
    }

    pub(crate) const fn is_import(self) -> bool {
        matches!(self, Self::ImportModule | Self::ImportName | Self::ImportAlias)
    }
}

/// How the expression that ends in a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Usage {
    Call,
    Value,
    Annotation,
    Base,
    Decorator,
    AttributeAssignment,
    KeywordLabel,
    Import,
    /// `from m import f as f`, or what is imported and listed in `__all__`.
    ReExport,
    Export,
    Slot,
    String,
    Key,
    ScopeDeclaration,
    /// The property in `@x.setter`.
    Accessor,
}

/// Where an identifier stands, which says when it is evaluated and who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Within {
    Code,
    QuotedAnnotation,
    /// An example in a docstring, which runs at another time: no server answers there.
    Doctest,
    /// A code cell of a notebook: no server answers there.
    Cell,
    /// A `# type:` comment, or a string that only a convention makes a name: no server answers there.
    Text,
}

/// What ties a label or a key to the object whose field it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tie {
    /// `replace(object, label=…)` and its like, where that is what the callee does.
    Copies,
    /// `case Class(label=…)`
    Matches,
    /// `object.get("key")`, `"key" in object`, `object: Class = {"key": …}`, where it is a `TypedDict`.
    Keys,
}

/// The name whose type has the field that a label or a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Where that name starts.
    pub(crate) at: ByteOffset,
    pub(crate) tie: Tie,
}

/// One identifier of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameToken {
    pub(crate) span: ByteSpan,
    pub(crate) role: Role,
    pub(crate) scope: ScopeId,
    pub(crate) usage: Usage,
    /// What an edit of this use may replace: the call, the decorator, the annotation, the class header,
    /// the import statement, else the smallest expression around the name.
    pub(crate) region: ByteSpan,
    /// What stands before the dot of an attribute, or of a component of a dotted string.
    pub(crate) receiver: Option<ByteSpan>,
    /// Who has the field that a label or a key names, where no server says so at the place itself.
    pub(crate) owner: Option<Owner>,
    pub(crate) within: Within,
    /// The arms of compound statements around it, outermost first.
    pub(crate) arms: Rc<[Arm]>,
    /// How many names of the file are evaluated before it.
    pub(crate) order: u32,
}

impl NameToken {
    /// Whether `textDocument/definition` at it says more than its syntax.
    pub(crate) fn is_asked(&self) -> bool {
        self.within <= Within::QuotedAnnotation && (self.role.uses() || self.role == Role::ImportName)
    }
}

/// What a declaration declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeclarationKind {
    Function,
    Method,
    Class,
    Variable,
    Attribute,
    Parameter,
    TypeAlias,
}

/// A place that declares a name which can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked of by name")]
pub(crate) struct Declaration {
    /// Names of the definitions around it, then its own: `["Class", "method"]`.
    pub(crate) qualname: Vec<String>,
    /// The name token.
    pub(crate) name: ByteSpan,
    pub(crate) kind: DeclarationKind,
    /// The scope that the name is bound in.
    pub(crate) scope: ScopeId,
    /// `(…)` of a function, as written.
    pub(crate) parameters: Option<ByteSpan>,
    /// Decorated with `staticmethod`: a call binds no first parameter.
    pub(crate) is_static: bool,
    /// Decorated with `property` or `cached_property`.
    pub(crate) is_property: bool,
    /// Decorated with `singledispatch` or `singledispatchmethod`.
    pub(crate) is_dispatcher: bool,
    /// Where the names `f` in its decorators `@f.register` start.
    pub(crate) registered_with: Vec<ByteOffset>,
    /// Where the last names of the bases that a class names start.
    pub(crate) bases: Vec<ByteOffset>,
    /// A class that names `Protocol` among its bases.
    pub(crate) is_protocol: bool,
}

/// A stretch of the file that isn't code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextKind {
    Comment,
    String,
    Docstring,
    /// Of a notebook, outside its code: Markdown, outputs, its own keys.
    Markup,
    /// Of a notebook's code cells, and not plain Python: a magic, a command, what doesn't parse.
    Magic,
}

impl TextKind {
    /// The kind as people say it.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Comment => "in a comment",
            Self::String => "in a string",
            Self::Docstring => "in a docstring",
            Self::Markup => "in a notebook, outside its code",
            Self::Magic => "in a cell of a notebook, in what isn't plain Python",
        }
    }
}

/// `h = f`: a name that stands for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssignedAlias {
    /// The new name's token.
    pub(crate) name: ByteSpan,
    /// The last name token of the value.
    pub(crate) value: ByteSpan,
    /// Where the new name is bound.
    pub(crate) scope: ScopeId,
}

/// One parsed file.
#[derive(Debug)]
pub(crate) struct Module {
    names: Vec<NameToken>,
    in_strings: Vec<NameToken>,
    texts: Vec<(ByteSpan, TextKind)>,
    /// String literals that may name something at run time.
    pub(crate) plain_strings: Vec<PlainString>,
    pub(crate) scopes: Scopes,
    pub(crate) imports: Vec<ImportClause>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) assigned_aliases: Vec<AssignedAlias>,
    /// Start of the first syntax error.
    pub(crate) broken_from: Option<ByteOffset>,
}

/// What a string literal that may name something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StringUse {
    /// An argument of a call, with the last name of the callee: `getattr`, `patch`.
    Argument(Option<String>),
    /// A key of a dictionary, or what a subscript asks for.
    Key,
}

/// A string literal that may name something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainString {
    /// The text between the quotes.
    pub(crate) span: ByteSpan,
    pub(crate) usage: StringUse,
}

impl Module {
    /// Reads a file as what its extension says; `None` for a notebook that can't be read.
    pub(crate) fn of_file(source: &SourceText, extension: Option<&str>) -> Option<Self> {
        match extension {
            Some("ipynb") => Self::notebook(source),
            _ => Some(Self::parse(source, extension == Some("pyi"))),
        }
    }

    /// Parses a file, errors and all. `stub` says that it is a `.pyi`.
    pub(crate) fn parse(source: &SourceText, stub: bool) -> Self {
        let kind = if stub { PySourceType::Stub } else { PySourceType::Python };
        let parsed = parse_unchecked_source(source.as_str(), kind);
        let broken_from = parsed.errors().iter().map(|error| span(error.location).start()).min();
        let comments = parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
        let comments = comments.filter_map(|token| type_comment(source.as_str(), span(token.range()))).collect();
        let walked = walk::module(source.as_str(), parsed.syntax(), comments, Places::default(), Within::Code);
        let texts = texts(parsed.tokens(), &walked.docstrings, &Places::default());
        Self::of(walked, texts, broken_from)
    }

    /// Reads the code cells of a notebook as one module, with places in its JSON; what they declare can't be asked
    /// for. `None` where that isn't a notebook of Python.
    fn notebook(source: &SourceText) -> Option<Self> {
        let Notebook { code, places, cells, left_out } = notebook(source.as_str())?;
        let parsed = parse_unchecked_source(&code, PySourceType::Ipynb);
        let mut walked = walk::module(&code, parsed.syntax(), Vec::new(), places.clone(), Within::Cell);
        walked.declarations.clear();
        let mut found = texts(parsed.tokens(), &walked.docstrings, &places);
        found.extend(left_out.into_iter().map(|part| (part, TextKind::Magic)));
        let starts = std::iter::once(0).chain(cells.iter().map(|cell| cell.end().get()));
        let ends = cells.iter().map(|cell| cell.start().get()).chain([source.as_str().len()]);
        found.extend(starts.zip(ends).map(|(start, end)| (ByteSpan::new(start, end), TextKind::Markup)));
        found.sort();
        Some(Self::of(walked, found, None))
    }

    fn of(mut walked: Walked, texts: Vec<(ByteSpan, TextKind)>, broken_from: Option<ByteOffset>) -> Self {
        walked.imports.sort_by_key(|clause| clause.name);
        Self {
            names: walked.names.into_values().collect(),
            texts,
            in_strings: walked.in_strings.into_values().collect(),
            plain_strings: walked.plain_strings,
            scopes: walked.scopes,
            imports: walked.imports,
            declarations: walked.declarations,
            assigned_aliases: walked.assigned_aliases,
            broken_from,
        }
    }

    /// The identifier that starts at the offset.
    pub(crate) fn name_at(&self, start: ByteOffset) -> Option<&NameToken> {
        starting_at(&self.names, start)
    }

    /// All identifiers, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &NameToken> {
        self.names.iter()
    }

    /// The string or comment that holds the span.
    pub(crate) fn text_around(&self, place: ByteSpan) -> Option<TextKind> {
        let next = self.texts.partition_point(|(span, _)| span.start() <= place.start());
        let (span, kind) = self.texts.get(next.checked_sub(1)?)?;
        span.contains(place).then_some(*kind)
    }

    /// What may be names in strings: the components, but for the first, of those that are dotted names, and keys.
    pub(crate) fn in_strings(&self) -> impl Iterator<Item = &NameToken> {
        self.in_strings.iter()
    }

    /// What may be a name in a string and is exactly this.
    pub(crate) fn in_string_at(&self, name: ByteSpan) -> Option<&NameToken> {
        starting_at(&self.in_strings, name.start()).filter(|token| token.span == name)
    }

    /// The import clause whose name, module or alias token starts at the offset.
    pub(crate) fn import_at(&self, start: ByteOffset) -> Option<&ImportClause> {
        self.imports.iter().find(|clause| {
            let alias = clause.alias.as_ref().map(|(_, span)| *span);
            alias.is_some_and(|span| span.start() == start)
                || (clause.name.start() <= start && start < clause.name.end())
        })
    }

    /// The declaration whose name token is exactly this.
    pub(crate) fn declaration_at(&self, name: ByteSpan) -> Option<&Declaration> {
        self.declarations.iter().find(|declaration| declaration.name == name)
    }

    /// The scope of the variable that a plain name means where it stands: a class body that hasn't bound it yet
    /// reads the name from outside.
    pub(crate) fn variable_scope(&self, token: &NameToken, name: &str) -> Option<ScopeId> {
        let scope = self.scopes.lookup(token.scope, name)?;
        let reads_through = self.scopes.kind(scope) == ScopeKind::Class
            && token.role == Role::Load
            && self.reaching(token, scope, name).is_empty();
        match self.scopes.parent(scope) {
            Some(parent) if reads_through => self.scopes.lookup(parent, name).or(Some(scope)),
            _ => Some(scope),
        }
    }

    /// The bindings of a variable that may count where a token reads it.
    pub(crate) fn reaching(&self, token: &NameToken, scope: ScopeId, name: &str) -> Vec<&Binding> {
        let deferred = matches!(token.within, Within::QuotedAnnotation | Within::Text)
            || self.scopes.is_deferred(token.scope, scope);
        let order = (!deferred).then_some(token.order);
        let bindings = self.scopes.bindings(scope, name);
        let found = flow::reaching(bindings, Reader { arms: &token.arms, order });
        // Whether an annotation is evaluated at once isn't known, so it may name what comes later.
        if found.is_empty() && token.usage == Usage::Annotation {
            return flow::reaching(bindings, Reader { arms: &token.arms, order: None });
        }
        found
    }

    /// The bindings of a variable that may count once its scope has run.
    pub(crate) fn remaining(&self, scope: ScopeId, name: &str) -> Vec<&Binding> {
        flow::reaching(self.scopes.bindings(scope, name), Reader { arms: &[], order: None })
    }

    /// The dotted name of the innermost definition around a scope, without the module.
    pub(crate) fn enclosing(&self, scope: ScopeId) -> String {
        self.scopes.qualname(scope).join(".")
    }
}

fn starting_at(tokens: &[NameToken], start: ByteOffset) -> Option<&NameToken> {
    tokens.binary_search_by_key(&start, |token| token.span.start()).ok().and_then(|at| tokens.get(at))
}

/// The strings and comments among tokens, by their places.
#[expect(clippy::wildcard_enum_match_arm, reason = "most kinds of token hold no text")]
fn texts(tokens: &Tokens, docstrings: &[ByteSpan], places: &Places) -> Vec<(ByteSpan, TextKind)> {
    let mut texts = Vec::new();
    for token in tokens {
        let kind = match token.kind() {
            TokenKind::Comment => TextKind::Comment,
            TokenKind::String
            | TokenKind::FStringStart
            | TokenKind::FStringMiddle
            | TokenKind::TStringStart
            | TokenKind::TStringMiddle => TextKind::String,
            _ => continue,
        };
        let place = places.span(token.range());
        let is_docstring = docstrings.iter().any(|docstring| docstring.contains(place));
        texts.push((place, if is_docstring { TextKind::Docstring } else { kind }));
    }
    texts
}

/// The type in a `# type:` comment, without what follows it; `None` in other comments, and where errors are ignored.
fn type_comment(source: &str, comment: ByteSpan) -> Option<ByteSpan> {
    let text = source.get(comment.range())?;
    let behind = text.strip_prefix('#')?.trim_start().strip_prefix("type:")?;
    let content = behind.split('#').next().unwrap_or(behind).trim();
    let start = comment.end().get() - behind.trim_start().len();
    (!content.is_empty() && !content.starts_with("ignore")).then(|| ByteSpan::new(start, start + content.len()))
}

/// Whether the text parses as a module.
pub(crate) fn parses(source: &str, stub: bool) -> bool {
    let kind = if stub { PySourceType::Stub } else { PySourceType::Python };
    parse_unchecked_source(source, kind).errors().is_empty()
}

pub(super) fn span(range: TextRange) -> ByteSpan {
    ByteSpan::new(range.start().to_usize(), range.end().to_usize())
}

#[cfg(test)]
mod tests;
