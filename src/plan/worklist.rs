//! The frozen worklist: the only authority to edit, and the proof that every mention was looked at.

use std::collections::BTreeMap;

use crate::text::{ByteSpan, Position, RelPath, Revision};

use super::{Evidence, ExtraRoots, Site, SiteKind, Source, Symbol};

/// The class that a mention ends in; every mention has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MentionClass {
    Site,
    Import,
    Definition,
    Decoy,
    Unresolved,
    Text,
}

impl MentionClass {
    pub(crate) const ALL: [Self; 6] =
        [Self::Site, Self::Import, Self::Definition, Self::Decoy, Self::Unresolved, Self::Text];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Import => "import",
            Self::Definition => "definition",
            Self::Decoy => "decoy",
            Self::Unresolved => "unresolved",
            Self::Text => "text",
        }
    }
}

/// What a mention is in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MentionKind {
    /// A NAME token, with its syntactic kind.
    Name(SiteKind),
    /// The name token of a `def`, a `class`, an assignment, a parameter…
    Binding,
    String,
    Docstring,
    Comment,
    /// Of a notebook, outside its code.
    Markup,
    /// Of a notebook's code cells, and not plain Python.
    Magic,
    /// Inside a part of the file that doesn't parse.
    Broken,
}

impl MentionKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Name(kind) => kind.as_str(),
            Self::Binding => "binding",
            Self::String => "string",
            Self::Docstring => "docstring",
            Self::Comment => "comment",
            Self::Markup => "markup",
            Self::Magic => "magic",
            Self::Broken => "broken-syntax",
        }
    }
}

/// Why something couldn't be followed: a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    /// The type of what stands before the dot isn't known.
    ReceiverTypeUnknown,
    /// The name comes from an import that doesn't resolve.
    ImportUnresolved,
    /// No source ties the name to anything.
    NoDefinition,
    /// The type checker answers with something that isn't spelled like the mention.
    ForeignTarget,
    /// Sources disagree, and scopes and syntax don't decide.
    Disagreement,
    /// The place doesn't parse.
    BrokenSyntax,
    /// A string that is exactly the symbol's dotted name, or its bare name in `getattr` or `patch`, or one in `__all__` or `__slots__` that nothing declares.
    ExactString,
    /// The label of a keyword argument that nothing ties to a parameter.
    KeywordLabel,
    /// The file isn't UTF-8.
    NotUtf8,
    /// The file can't be read.
    Unreadable,
    /// The type checker doesn't read this kind of file or this folder.
    NotCovered,
    /// A notebook, or what isn't plain Python in its cells.
    Notebook,
    /// A generated or vendored file.
    Generated,
    /// Reached twice, through a symbolic link.
    Symlink,
    /// Classes that match a Protocol by shape alone can't be seen.
    StructuralImplementors,
}

impl Reason {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ReceiverTypeUnknown => "receiver-type-unknown",
            Self::ImportUnresolved => "import-unresolved",
            Self::NoDefinition => "no-definition",
            Self::ForeignTarget => "foreign-target",
            Self::Disagreement => "disagreement",
            Self::BrokenSyntax => "broken-syntax",
            Self::ExactString => "exact-string",
            Self::KeywordLabel => "keyword-label",
            Self::NotUtf8 => "not-utf-8",
            Self::Unreadable => "unreadable",
            Self::NotCovered => "not-covered",
            Self::Notebook => "notebook",
            Self::Generated => "generated",
            Self::Symlink => "symlink",
            Self::StructuralImplementors => "structural-implementors",
        }
    }
}

/// One occurrence of the name, classified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) file: RelPath,
    pub(crate) position: Position,
    pub(crate) span: ByteSpan,
    pub(crate) class: MentionClass,
    pub(crate) kind: MentionKind,
    /// What a decoy resolves to.
    pub(crate) resolves_to: Option<String>,
    pub(crate) reason: Option<Reason>,
    pub(crate) evidence: Evidence,
}

/// Something for a person to look at; an entry about a whole file has no place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unresolvable {
    pub(crate) file: String,
    pub(crate) place: Option<(Position, ByteSpan)>,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

/// A longer identifier that contains the name; outside the accounting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Near {
    pub(crate) file: RelPath,
    pub(crate) position: Position,
    pub(crate) span: ByteSpan,
    pub(crate) text: String,
    pub(crate) resolves_to: Option<String>,
}

/// A name of the symbol in a file that isn't Python; outside the accounting, and never edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentName {
    pub(crate) file: RelPath,
    pub(crate) position: Position,
    pub(crate) span: ByteSpan,
    /// As written.
    pub(crate) text: String,
    /// The line that it stands in.
    pub(crate) line: String,
}

/// What was done with a file that holds the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileState {
    Analysed,
    /// Parts of it don't parse.
    Broken,
    /// Generated or vendored: listed, and left alone unless asked for.
    Generated,
    /// Listed under `unresolvable`, and never edited.
    Skipped,
}

impl FileState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Analysed => "analysed",
            Self::Broken => "broken",
            Self::Generated => "generated",
            Self::Skipped => "skipped",
        }
    }

    /// Reads back what [`Self::as_str`] gave.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Analysed, Self::Broken, Self::Generated, Self::Skipped].into_iter().find(|state| state.as_str() == text)
    }
}

/// A file that holds the name, with the revision that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedFile {
    pub(crate) file: RelPath,
    pub(crate) revision: Revision,
    pub(crate) state: FileState,
}

/// How many mentions there are, by class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Accounting {
    /// Counted by plain text search, apart from the classification.
    pub(crate) mentions: usize,
    classes: BTreeMap<MentionClass, usize>,
}

impl Accounting {
    pub(crate) fn of(&self, class: MentionClass) -> usize {
        self.classes.get(&class).copied().unwrap_or(0)
    }

    fn total(&self) -> usize {
        self.classes.values().sum()
    }
}

/// A worklist that doesn't add up is a bug, never output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WorklistError {
    #[error("the census doesn't add up: {mentions} mentions in the text, {classified} classified")]
    Census { mentions: usize, classified: usize },
    #[error("{sites} sites, but {mentions} mentions of class site")]
    Sites { sites: usize, mentions: usize },
}

/// About how much of the mentions a source was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Extent {
    All,
    /// About the files in which the sources before it left something open.
    Open,
    Nothing,
}

impl Extent {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Open => "open",
            Self::Nothing => "nothing",
        }
    }
}

/// The frozen, ordered result of a scout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Worklist {
    pub(crate) symbol: Symbol,
    /// Files ascending; within a file descending by the offset of the name.
    pub(crate) sites: Vec<Site>,
    pub(crate) unresolvable: Vec<Unresolvable>,
    pub(crate) accounting: Accounting,
    pub(crate) near: Vec<Near>,
    pub(crate) files: Vec<ListedFile>,
    /// Every mention, in order of file and place.
    pub(crate) mentions: Vec<Mention>,
    /// How much each source was asked.
    pub(crate) asked: BTreeMap<Source, Extent>,
    /// Names in files that aren't Python, in order of file and place.
    pub(crate) documents: Vec<DocumentName>,
    /// Remarks about the run as a whole, one line each.
    pub(crate) notes: Vec<String>,
    /// Import roots without which the answers would be others.
    pub(crate) roots: ExtraRoots,
}

impl Worklist {
    /// Orders everything and checks that the classes add up to `counted`, the number of mentions that a
    /// plain text search found. What isn't counted, documents and roots, is for the caller to add.
    #[expect(clippy::too_many_arguments, reason = "the one constructor of a noun with as many parts")]
    pub(crate) fn freeze(
        symbol: Symbol,
        mut sites: Vec<Site>,
        mut unresolvable: Vec<Unresolvable>,
        mut near: Vec<Near>,
        mut files: Vec<ListedFile>,
        mut mentions: Vec<Mention>,
        asked: BTreeMap<Source, Extent>,
        notes: Vec<String>,
        counted: usize,
    ) -> Result<Self, WorklistError> {
        sites.sort_by(|a, b| a.file.cmp(&b.file).then(b.span.cmp(&a.span)));
        unresolvable.sort();
        unresolvable.dedup();
        near.sort_by(|a, b| (&a.file, a.span).cmp(&(&b.file, b.span)));
        files.sort_by(|a, b| a.file.cmp(&b.file));
        mentions.sort_by(|a, b| (&a.file, a.span).cmp(&(&b.file, b.span)));
        let mut classes = BTreeMap::new();
        for mention in &mentions {
            *classes.entry(mention.class).or_insert(0) += 1;
        }
        let accounting = Accounting { mentions: counted, classes };
        if accounting.total() != counted {
            return Err(WorklistError::Census { mentions: counted, classified: accounting.total() });
        }
        if accounting.of(MentionClass::Site) != sites.len() {
            return Err(WorklistError::Sites { sites: sites.len(), mentions: accounting.of(MentionClass::Site) });
        }
        Ok(Self {
            symbol,
            sites,
            unresolvable,
            accounting,
            near,
            files,
            mentions,
            documents: Vec::new(),
            asked,
            notes,
            roots: ExtraRoots::default(),
        })
    }
}
