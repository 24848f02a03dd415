//! What a mention is, from what each source says of it. Pure: the whole table of decisions is here.
//!
//! Order of trust: a definition that points into the declaration group; then the scopes of the text itself,
//! where the type checker is silent (dead code) or answers with something that isn't spelled like the mention
//! (a wrapper's `__call__`); then glean and references, unless scopes or a definition contradict them. Glean
//! doesn't know scopes (a lambda's parameter is reported as the import it shadows), so scopes win over it.

use std::collections::BTreeSet;

use crate::plan::{MentionClass, Opinion, Reason, Rule, Source, Statement, SymbolKind};
use crate::python::Role;

mod opinion;

/// What `textDocument/definition` at the mention says, once its targets were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    /// Into the declaration group, its constructor, or a binding that is known to hold the symbol.
    Group,
    /// At another binding of a variable that holds the symbol: a `global` rebinding, the other arm of an `if`.
    SameVariable,
    /// At a binding of the variable that doesn't hold the symbol, or at what that binding brings: which of the
    /// bindings counts here is for the scopes to say.
    OtherBinding(String),
    /// At an import that doesn't resolve.
    UnresolvedImport(String),
    /// At something else that is spelled like the mention.
    Elsewhere(String),
    /// At something that isn't spelled like the mention, which proves nothing.
    Foreign(String),
}

impl Answer {
    /// The answer as evidence.
    pub(super) fn statement(&self) -> Statement {
        match self {
            Self::Nothing => Statement::new("nothing", "points nowhere"),
            Self::Group => Statement::new("symbol", "points at the symbol"),
            Self::SameVariable => Statement::new("same-variable", "points at another binding of the same variable"),
            Self::OtherBinding(what) => {
                Statement::about("other-binding", "points at another of the bindings of that name:", what)
            }
            Self::UnresolvedImport(module) => {
                Statement::about("unresolved-import", "stops at an import that doesn't resolve:", module)
            }
            Self::Elsewhere(what) => Statement::about("elsewhere", "points at something else:", what),
            Self::Foreign(what) => Statement::about("foreign", "points at what isn't spelled like it:", what),
        }
    }
}

/// What the scopes and imports of the text say of a plain name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScopeAnswer {
    /// A binding of the variable that may count here holds the symbol.
    Symbol,
    /// Bindings of the variable hold it, but which of them counts here isn't known.
    Perhaps,
    /// No binding that may count here holds it.
    Other(String),
    UnresolvedImport(String),
    /// A name from the star import of a module that exports the symbol, which another may bring, too; or an
    /// attribute of such a module, which code may have set to something else.
    Exported,
    /// Another attribute, a builtin, or a name from another star import.
    Silent,
}

impl ScopeAnswer {
    /// The answer as evidence.
    pub(super) fn statement(&self) -> Statement {
        match self {
            Self::Symbol => Statement::new("symbol", "bind the name to the symbol"),
            Self::Perhaps => Statement::new("perhaps", "bind the name to the symbol in one place, not in another"),
            Self::Other(what) => Statement::about("other", "bind the name to something else:", what),
            Self::UnresolvedImport(module) => {
                Statement::about("unresolved-import", "bind the name by an import that doesn't resolve:", module)
            }
            Self::Exported => Statement::new("exported", "find it among what a module that has the symbol exports"),
            Self::Silent => Statement::new("silent", "say nothing of it"),
        }
    }
}

/// All that is known of one mention that is an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked of by name")]
pub(super) struct Facts {
    pub(super) role: Role,
    pub(super) symbol: SymbolKind,
    /// One of the group's own name tokens, or a token that binds an alias of it.
    pub(super) declares: bool,
    pub(super) definition: Answer,
    /// What another server says, where one was asked.
    pub(super) opinion: Option<(Opinion, Answer)>,
    pub(super) scopes: ScopeAnswer,
    pub(super) glean: bool,
    pub(super) references: bool,
    /// The file has a syntax error before this place.
    pub(super) after_error: bool,
}

/// The class of a mention, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) class: MentionClass,
    pub(super) rule: Rule,
    pub(super) sources: BTreeSet<Source>,
    pub(super) resolves_to: Option<String>,
    pub(super) unresolved: Option<(Reason, String)>,
}

impl Judgement {
    const fn of(rule: Rule, class: MentionClass, sources: BTreeSet<Source>) -> Self {
        Self { class, rule, sources, resolves_to: None, unresolved: None }
    }

    fn decoy(rule: Rule, of: impl Into<String>) -> Self {
        let resolves_to = Some(of.into());
        Self { class: MentionClass::Decoy, rule, sources: BTreeSet::new(), resolves_to, unresolved: None }
    }

    fn unresolved(rule: Rule, reason: Reason, message: impl Into<String>) -> Self {
        let unresolved = Some((reason, message.into()));
        Self { class: MentionClass::Unresolved, rule, sources: BTreeSet::new(), resolves_to: None, unresolved }
    }
}

/// Decides what a mention is: by pyrefly and the text, then by the second opinion where that leaves it open.
pub(super) fn judge(facts: &Facts) -> Judgement {
    opinion::heed(judge_alone(facts), facts)
}

fn judge_alone(facts: &Facts) -> Judgement {
    match facts.role {
        Role::ImportName if facts.declares => {
            Judgement::of(Rule::ImportDeclares, MentionClass::Import, BTreeSet::from([Source::Scopes]))
        }
        _ if facts.declares && facts.role != Role::ImportAlias => {
            Judgement::of(Rule::Declares, MentionClass::Definition, BTreeSet::new())
        }
        // A parser that recovers from an error may take a call for a parameter.
        Role::Definition | Role::Parameter | Role::TypeParameter if facts.after_error => Judgement::unresolved(
            Rule::BindingBehindError,
            Reason::BrokenSyntax,
            "behind a syntax error, so what it declares isn't sure",
        ),
        Role::Definition | Role::Parameter | Role::TypeParameter | Role::ImportModule => {
            Judgement::decoy(Rule::OtherDeclaration, elsewhere(facts))
        }
        Role::ImportName | Role::ImportAlias => judge_import(facts),
        Role::KeywordLabel if is_never_a_label(facts.symbol) => {
            Judgement::decoy(Rule::NeverALabel, "the name of a keyword argument")
        }
        Role::KeywordLabel
        | Role::Load
        | Role::Store
        | Role::Delete
        | Role::Declared
        | Role::Spelled
        | Role::Slot
        | Role::Dotted
        | Role::Key
        | Role::AttributeLoad
        | Role::AttributeStore => judge_use(facts),
    }
}

fn is_never_a_label(symbol: SymbolKind) -> bool {
    match symbol {
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Class | SymbolKind::TypeAlias => true,
        SymbolKind::Variable | SymbolKind::Attribute | SymbolKind::Parameter => false,
    }
}

fn judge_import(facts: &Facts) -> Judgement {
    if let Some(sources) = says_reference(facts) {
        return Judgement::of(Rule::SourcesAgree, MentionClass::Import, sources);
    }
    match (&facts.definition, &facts.scopes) {
        (Answer::Elsewhere(what) | Answer::Foreign(what), ScopeAnswer::Silent) | (_, ScopeAnswer::Other(what)) => {
            Judgement::decoy(Rule::ImportOfOther, what)
        }
        (_, ScopeAnswer::UnresolvedImport(module)) | (Answer::UnresolvedImport(module), _) => unresolved_import(module),
        (Answer::Elsewhere(what) | Answer::Foreign(what), _) => Judgement::decoy(Rule::ImportOfOther, what),
        _ => {
            Judgement::unresolved(Rule::ImportUnknown, Reason::NoDefinition, "nothing says what this import brings in")
        }
    }
}

fn judge_use(facts: &Facts) -> Judgement {
    if let Some(sources) = says_reference(facts) {
        return Judgement::of(Rule::SourcesAgree, MentionClass::Site, sources);
    }
    let cross_checked = facts.glean || facts.references;
    match (&facts.definition, &facts.scopes) {
        // Two sources against one about what no scope decides: a person should look.
        (Answer::Elsewhere(what), ScopeAnswer::Silent) if facts.glean && facts.references => Judgement::unresolved(
            Rule::CrossChecksAgainstDefinition,
            Reason::Disagreement,
            format!("its definition is {what}, but glean and references list it"),
        ),
        (Answer::Group | Answer::SameVariable, ScopeAnswer::Other(what)) => Judgement::unresolved(
            Rule::ScopesAgainstDefinition,
            Reason::Disagreement,
            format!("its definition is the symbol, but the last binding before it is {what}"),
        ),
        (Answer::Elsewhere(what), ScopeAnswer::Symbol) => Judgement::unresolved(
            Rule::DefinitionAgainstScopes,
            Reason::Disagreement,
            format!("its definition is {what}, but the last binding before it is the symbol"),
        ),
        (Answer::Elsewhere(what), _)
        | (_, ScopeAnswer::Other(what))
        | (Answer::OtherBinding(what), ScopeAnswer::Silent | ScopeAnswer::Exported) => {
            Judgement::decoy(Rule::PointsElsewhere, what)
        }
        _ if facts.after_error => Judgement::unresolved(
            Rule::BehindError,
            Reason::BrokenSyntax,
            "behind a syntax error, and nothing says what it is",
        ),
        (Answer::UnresolvedImport(module), _) | (_, ScopeAnswer::UnresolvedImport(module)) => unresolved_import(module),
        (Answer::Foreign(what), _) => Judgement::unresolved(
            Rule::ForeignTarget,
            Reason::ForeignTarget,
            format!("the type checker answers with {what}, which isn't spelled like it"),
        ),
        (_, ScopeAnswer::Perhaps) => Judgement::unresolved(
            Rule::BoundTwice,
            Reason::Disagreement,
            "the name is bound to the symbol in one place and to something else in another",
        ),
        _ if cross_checked => {
            Judgement::unresolved(Rule::OneSourceAlone, Reason::Disagreement, "one source lists it, the others don't")
        }
        _ if facts.role.is_attribute() => Judgement::unresolved(
            Rule::ReceiverUnknown,
            Reason::ReceiverTypeUnknown,
            "the type of what stands before the dot isn't known; annotate it",
        ),
        _ if facts.role == Role::KeywordLabel => Judgement::unresolved(
            Rule::LabelUnknown,
            Reason::KeywordLabel,
            "a keyword argument that nothing ties to a parameter or a field",
        ),
        _ if matches!(facts.role, Role::Spelled | Role::Slot) => Judgement::unresolved(
            Rule::NothingKnown,
            Reason::ExactString,
            "listed in `__all__` or `__slots__`, and nothing here declares it",
        ),
        _ => Judgement::unresolved(Rule::NothingKnown, Reason::NoDefinition, "nothing says what it is"),
    }
}

/// The sources that say that the mention is a reference, where that is to be believed.
fn says_reference(facts: &Facts) -> Option<BTreeSet<Source>> {
    let mut sources = BTreeSet::new();
    let scopes_deny = matches!(facts.scopes, ScopeAnswer::Other(_));
    let points_here = matches!(facts.definition, Answer::Group | Answer::SameVariable);
    if points_here && scopes_deny && !facts.after_error {
        return None;
    }
    if points_here {
        sources.insert(Source::Definition);
    }
    let contradicted = matches!(facts.definition, Answer::Elsewhere(_));
    let scopes_say_so = matches!(facts.scopes, ScopeAnswer::Symbol | ScopeAnswer::Exported);
    if scopes_say_so && !facts.after_error && !contradicted && !points_here {
        sources.insert(Source::Scopes);
    }
    if points_here || !(contradicted || scopes_deny) {
        sources.extend(facts.glean.then_some(Source::Glean));
        sources.extend(facts.references.then_some(Source::References));
    }
    (!sources.is_empty()).then_some(sources)
}

fn unresolved_import(module: &str) -> Judgement {
    Judgement::unresolved(
        Rule::ImportUnresolved,
        Reason::ImportUnresolved,
        format!("it comes from {module}, and that import doesn't resolve"),
    )
}

fn elsewhere(facts: &Facts) -> String {
    match (&facts.definition, &facts.scopes) {
        (Answer::Elsewhere(what), _) | (_, ScopeAnswer::Other(what)) => what.clone(),
        _ => "something else of that name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(role: Role, definition: Answer, scopes: ScopeAnswer) -> Facts {
        let symbol = SymbolKind::Function;
        let (declares, glean, references, after_error) = (false, false, false, false);
        Facts { role, symbol, declares, definition, opinion: None, scopes, glean, references, after_error }
    }

    fn elsewhere() -> Answer {
        Answer::Elsewhere("b.g".to_owned())
    }

    #[expect(clippy::needless_pass_by_value, reason = "each test makes its facts for this one call")]
    fn check(facts: Facts, expected: MentionClass) {
        assert_eq!(judge(&facts).class, expected, "{facts:?}");
    }

    #[test]
    fn a_definition_in_the_group_is_a_reference() {
        check(facts(Role::Load, Answer::Group, ScopeAnswer::Silent), MentionClass::Site);
        check(facts(Role::ImportName, Answer::Group, ScopeAnswer::Silent), MentionClass::Import);
    }

    #[test]
    fn glean_alone_does_not_beat_scopes_or_a_definition_elsewhere() {
        let glean = |mut facts: Facts| {
            facts.glean = true;
            facts
        };
        let shadowed = ScopeAnswer::Other("parameter f".to_owned());
        check(glean(facts(Role::Load, Answer::Nothing, shadowed)), MentionClass::Decoy);
        check(glean(facts(Role::Load, elsewhere(), ScopeAnswer::Perhaps)), MentionClass::Decoy);
        check(glean(facts(Role::AttributeLoad, Answer::Nothing, ScopeAnswer::Silent)), MentionClass::Site);
    }

    #[test]
    fn scopes_speak_where_the_checker_is_silent_or_answers_with_a_wrapper() {
        check(facts(Role::Load, Answer::Nothing, ScopeAnswer::Symbol), MentionClass::Site);
        check(facts(Role::Load, Answer::Foreign("x".to_owned()), ScopeAnswer::Symbol), MentionClass::Site);
        check(facts(Role::Load, elsewhere(), ScopeAnswer::Exported), MentionClass::Decoy);
    }

    #[test]
    fn of_the_bindings_of_one_variable_the_scopes_say_which_counts() {
        let other = || Answer::OtherBinding("b.f".to_owned());
        check(facts(Role::Load, other(), ScopeAnswer::Symbol), MentionClass::Site);
        check(facts(Role::Load, other(), ScopeAnswer::Other("b.f".to_owned())), MentionClass::Decoy);
        check(facts(Role::Load, other(), ScopeAnswer::Perhaps), MentionClass::Unresolved);
    }

    #[test]
    fn scopes_against_a_definition_are_a_disagreement() {
        check(facts(Role::Load, elsewhere(), ScopeAnswer::Symbol), MentionClass::Unresolved);
        let rebound = ScopeAnswer::Other("f = 3".to_owned());
        check(facts(Role::Load, Answer::Group, rebound), MentionClass::Unresolved);
    }

    #[test]
    fn behind_a_syntax_error_scopes_prove_nothing() {
        let mut broken = facts(Role::Load, Answer::Nothing, ScopeAnswer::Symbol);
        broken.after_error = true;
        check(broken, MentionClass::Unresolved);
    }

    #[test]
    fn a_label_is_never_a_function() {
        check(facts(Role::KeywordLabel, Answer::Nothing, ScopeAnswer::Silent), MentionClass::Decoy);
    }

    #[test]
    fn what_nobody_knows_is_unresolved_with_a_reason() {
        for role in [Role::Load, Role::AttributeLoad, Role::ImportName] {
            let judgement = judge(&facts(role, Answer::Nothing, ScopeAnswer::Silent));
            assert!(judgement.unresolved.is_some(), "{role:?}");
        }
    }
}
