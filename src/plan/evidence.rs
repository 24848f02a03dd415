//! What each source said of a mention, and which rule of the census decided it: kept so that any mention can be
//! explained afterwards. How the rules are applied is `scout`'s.

use super::Opinion;

/// What one source answered: an identifier of the answer, and what it is about where it names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// A word that scripts can rely on, such as `symbol` or `elsewhere`.
    pub(crate) answer: &'static str,
    /// The answer as a sentence without its subject.
    pub(crate) told: &'static str,
    /// The name that the sentence ends with.
    pub(crate) about: Option<String>,
}

impl Statement {
    pub(crate) const fn new(answer: &'static str, told: &'static str) -> Self {
        Self { answer, told, about: None }
    }

    pub(crate) fn about(answer: &'static str, told: &'static str, about: &str) -> Self {
        Self { answer, told, about: Some(about.to_owned()) }
    }

    pub(crate) const fn not_asked() -> Self {
        Self::new("not-asked", "not asked: the syntax says it all")
    }
}

/// Whether a cross-check lists a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    NotAsked,
    No,
    Yes,
    /// It lists it, but the name stands for several things there, so that proves nothing.
    SetAside,
}

impl Heard {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NotAsked => "not-asked",
            Self::No => "no",
            Self::Yes => "yes",
            Self::SetAside => "set-aside",
        }
    }

    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::NotAsked => "not asked",
            Self::No => "doesn't list it",
            Self::Yes => "lists it",
            Self::SetAside => "lists it, which proves nothing where the name stands for several things",
        }
    }
}

/// All that was known of a mention when it was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) rule: Rule,
    /// What `textDocument/definition` at the mention points at.
    pub(crate) definition: Statement,
    /// The places that it points at, as `FILE:LINE:COLUMN`, 1-based.
    pub(crate) points_at: Vec<String>,
    pub(crate) glean: Heard,
    pub(crate) references: Heard,
    /// What another server's definition says, where one was asked.
    pub(crate) opinion: Option<(Opinion, Statement)>,
    /// What the scopes and imports of the text say.
    pub(crate) scopes: Statement,
    /// What kind of token it is, such as `an attribute that is read`.
    pub(crate) syntax: &'static str,
}

impl Evidence {
    /// Of what the syntax alone decides, with nobody asked.
    pub(crate) const fn of_syntax(rule: Rule, syntax: &'static str) -> Self {
        Self {
            rule,
            definition: Statement::not_asked(),
            points_at: Vec::new(),
            glean: Heard::NotAsked,
            references: Heard::NotAsked,
            opinion: None,
            scopes: Statement::not_asked(),
            syntax,
        }
    }
}

/// The rows of the census's table of decisions, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    ImportDeclares,
    Declares,
    BindingBehindError,
    OtherDeclaration,
    NeverALabel,
    SourcesAgree,
    ImportUnresolved,
    ImportOfOther,
    ImportUnknown,
    CrossChecksAgainstDefinition,
    ScopesAgainstDefinition,
    DefinitionAgainstScopes,
    PointsElsewhere,
    BehindError,
    ForeignTarget,
    BoundTwice,
    OneSourceAlone,
    ReceiverUnknown,
    LabelUnknown,
    NothingKnown,
    /// The second opinion comes after all that pyrefly and the text say.
    OpinionAlone,
    OpinionAgainstDefinition,
    InText,
    InBrokenText,
    InMagic,
    Keyword,
}

impl Rule {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ImportDeclares => "import-declares",
            Self::Declares => "declares",
            Self::BindingBehindError => "binding-behind-error",
            Self::OtherDeclaration => "other-declaration",
            Self::NeverALabel => "never-a-label",
            Self::SourcesAgree => "sources-agree",
            Self::ImportUnresolved => "import-unresolved",
            Self::ImportOfOther => "import-of-other",
            Self::ImportUnknown => "import-unknown",
            Self::CrossChecksAgainstDefinition => "cross-checks-against-definition",
            Self::ScopesAgainstDefinition => "scopes-against-definition",
            Self::DefinitionAgainstScopes => "definition-against-scopes",
            Self::PointsElsewhere => "points-elsewhere",
            Self::BehindError => "behind-error",
            Self::ForeignTarget => "foreign-target",
            Self::BoundTwice => "bound-twice",
            Self::OneSourceAlone => "one-source-alone",
            Self::ReceiverUnknown => "receiver-unknown",
            Self::LabelUnknown => "label-unknown",
            Self::NothingKnown => "nothing-known",
            Self::OpinionAlone => "opinion-alone",
            Self::OpinionAgainstDefinition => "opinion-against-definition",
            Self::InText => "in-text",
            Self::InBrokenText => "in-broken-text",
            Self::InMagic => "in-magic",
            Self::Keyword => "keyword",
        }
    }

    /// What the rule says, as one sentence.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::ImportDeclares => "an import that doesn't resolve is all that there is of its symbol",
            Self::Declares => "what declares the symbol, or binds an alias of it, is a definition",
            Self::BindingBehindError => "a parser that recovers from an error may take a use for a declaration",
            Self::OtherDeclaration => "what declares something of that name is something else",
            Self::NeverALabel => "the label of a keyword argument never is a function or a class",
            Self::SourcesAgree => "a source ties it to the symbol, and none contradicts",
            Self::ImportUnresolved => "what comes from an import that doesn't resolve can't be followed",
            Self::ImportOfOther => "an import that brings something else is no reference",
            Self::ImportUnknown => "an import that no source follows is nobody's",
            Self::CrossChecksAgainstDefinition => "two cross-checks against the definition are a disagreement",
            Self::ScopesAgainstDefinition => {
                "a definition in the group is doubted where the last binding before the name is something else"
            }
            Self::DefinitionAgainstScopes => {
                "a definition elsewhere is doubted where the last binding before the name is the symbol"
            }
            Self::PointsElsewhere => "what its definition, or the scopes of the text, tie to something else is that",
            Self::BehindError => "behind a syntax error only the type checker's word counts, and it has none",
            Self::ForeignTarget => "a target that isn't spelled like the mention proves nothing",
            Self::BoundTwice => "of a name that is bound to the symbol here and to something else there nobody knows",
            Self::OneSourceAlone => "one cross-check alone isn't enough where the others are silent",
            Self::ReceiverUnknown => "an attribute is nobody's while the type of what stands before the dot is unknown",
            Self::LabelUnknown => "a label is nobody's while nothing ties it to a parameter or a field",
            Self::NothingKnown => "what no source says anything about is unresolved",
            Self::OpinionAlone => "what nobody else knows is a reference on the word of the second opinion",
            Self::OpinionAgainstDefinition => {
                "a definition elsewhere is doubted where the second opinion is the symbol"
            }
            Self::InText => "a name in a comment, a docstring or a string is text",
            Self::InBrokenText => "behind a syntax error nobody knows what is text",
            Self::InMagic => "nobody reads what isn't plain Python in a notebook",
            Self::Keyword => "a keyword of the language is no name",
        }
    }
}
