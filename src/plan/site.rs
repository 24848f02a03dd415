//! A site: one reference with the region that an edit of it may replace.

use std::collections::BTreeSet;
use std::fmt;

use crate::text::{ByteOffset, ByteSpan, Position, RelPath};

/// `FILE:OFFSET`, the file and the byte offset of the name: unique in a worklist and stable over runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SiteId(String);

impl SiteId {
    pub(crate) fn new(file: &RelPath, offset: ByteOffset) -> Self {
        Self(format!("{file}:{}", offset.get()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a reference uses the symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SiteKind {
    Call,
    Value,
    Annotation,
    Base,
    Decorator,
    AttributeAssignment,
    Import,
    ReExport,
    String,
    /// The label of a keyword argument or of a keyword pattern.
    KeywordLabel,
    /// A string in `__all__`.
    Export,
    /// A string in `__slots__`.
    Slot,
    /// A key of a `TypedDict`.
    Key,
    /// A name in a `global` or `nonlocal` statement.
    ScopeDeclaration,
    /// The property in `@x.setter`, `@x.deleter` or `@x.getter`.
    Accessor,
    /// In a `# type:` comment.
    TypeComment,
    /// In an example of a docstring.
    Doctest,
    /// In a code cell of a notebook.
    Cell,
}

impl SiteKind {
    pub(crate) const ALL: [Self; 18] = [
        Self::Call,
        Self::Value,
        Self::Annotation,
        Self::Base,
        Self::Decorator,
        Self::AttributeAssignment,
        Self::Import,
        Self::ReExport,
        Self::String,
        Self::KeywordLabel,
        Self::Export,
        Self::Slot,
        Self::Key,
        Self::ScopeDeclaration,
        Self::Accessor,
        Self::TypeComment,
        Self::Doctest,
        Self::Cell,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Value => "value",
            Self::Annotation => "annotation",
            Self::Base => "base",
            Self::Decorator => "decorator",
            Self::AttributeAssignment => "attribute-assignment",
            Self::Import => "import",
            Self::ReExport => "re-export",
            Self::String => "string",
            Self::KeywordLabel => "keyword-label",
            Self::Export => "export",
            Self::Slot => "slot",
            Self::Key => "key",
            Self::ScopeDeclaration => "scope-declaration",
            Self::Accessor => "accessor",
            Self::TypeComment => "type-comment",
            Self::Doctest => "doctest",
            Self::Cell => "cell",
        }
    }

    /// Whether it only lists or declares the name, so that an edit of calls has nothing to do with it.
    pub(crate) const fn only_names(self) -> bool {
        matches!(self, Self::Export | Self::Slot | Self::ScopeDeclaration | Self::Accessor)
    }

    /// Reads back what [`Self::as_str`] gave.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A language server beside pyrefly's that was asked what it thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Opinion {
    Ty,
    Basedpyright,
    /// Any other, named by its path.
    Other,
}

impl Opinion {
    pub(crate) const ALL: [Self; 3] = [Self::Ty, Self::Basedpyright, Self::Other];

    /// As it is called in messages.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ty => "ty",
            Self::Basedpyright => "basedpyright",
            Self::Other => "the other server",
        }
    }
}

/// Who says that a mention is a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    /// `textDocument/definition` at the mention points into the declaration group.
    Definition,
    /// pyrefly's glean facts list the mention among the uses of the symbol.
    Glean,
    /// `textDocument/references` at a member of the declaration group lists the mention.
    References,
    /// The scopes and imports of the text alone bind the name to the symbol.
    Scopes,
    /// The syntax around it, such as an `__all__` list or a `global` statement.
    Syntax,
    /// `textDocument/definition` of another server, asked with `--second-opinion`.
    SecondOpinion(Opinion),
}

impl Source {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Glean => "glean",
            Self::References => "references",
            Self::Scopes => "scopes",
            Self::Syntax => "syntax",
            Self::SecondOpinion(Opinion::Ty) => "second-opinion:ty",
            Self::SecondOpinion(Opinion::Basedpyright) => "second-opinion:basedpyright",
            Self::SecondOpinion(Opinion::Other) => "second-opinion:other",
        }
    }

    /// Reads back what [`Self::as_str`] gave.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Definition, Self::Glean, Self::References, Self::Scopes, Self::Syntax]
            .into_iter()
            .chain(Opinion::ALL.map(Self::SecondOpinion))
            .find(|source| source.as_str() == text)
    }
}

/// One place that an edit may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) id: SiteId,
    pub(crate) file: RelPath,
    /// Of the name, as `span`.
    pub(crate) position: Position,
    /// The name, as written: an alias where `alias` is set.
    pub(crate) span: ByteSpan,
    /// What one edit may replace; contains `span`.
    pub(crate) region: ByteSpan,
    pub(crate) kind: SiteKind,
    /// The name as written, where it isn't the symbol's own: its arguments may be edited, its name never.
    pub(crate) alias: Option<String>,
    /// The text of the region.
    pub(crate) text: String,
    /// Dotted name of the definition around the site; the module's where there is none.
    pub(crate) enclosing: String,
    pub(crate) sources: BTreeSet<Source>,
}
