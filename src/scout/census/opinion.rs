//! What a second opinion changes. Pure, as the table that it comes after.
//!
//! | by pyrefly and the text | the other server ties it to the symbol | it doesn't |
//! |---|---|---|
//! | a reference | confirmed: its name is among the sources | as it was |
//! | unresolved, since nothing is known | a reference on its word alone | as it was |
//! | unresolved, since sources disagree or the file is broken | as it was | as it was |
//! | a decoy, by pyrefly's definition alone | unresolved, a disagreement | as it was |
//! | a decoy by the scopes or the syntax | as it was | as it was |
//!
//! Nothing becomes a decoy on its word: what it doesn't know, or ties to something else, stays as loud as it was.

use std::collections::BTreeSet;

use super::{Answer, Facts, Judgement, ScopeAnswer};
use crate::plan::{MentionClass, Reason, Rule, Source};

/// The judgement once the second opinion was heard.
pub(super) fn heed(mut alone: Judgement, facts: &Facts) -> Judgement {
    let Some((who, answer)) = &facts.opinion else { return alone };
    if !matches!(answer, Answer::Group | Answer::SameVariable) {
        return alone;
    }
    let source = Source::SecondOpinion(*who);
    match alone.class {
        MentionClass::Site | MentionClass::Import => {
            alone.sources.insert(source);
            alone
        }
        MentionClass::Unresolved if is_open(&alone, facts) => {
            let class = if facts.role.is_import() { MentionClass::Import } else { MentionClass::Site };
            Judgement::of(Rule::OpinionAlone, class, BTreeSet::from([source]))
        }
        MentionClass::Decoy if contradicts(facts) => {
            let what = alone.resolves_to.unwrap_or_default();
            let message = format!("its definition is {what}, but {} says that it is the symbol", who.as_str());
            Judgement::unresolved(Rule::OpinionAgainstDefinition, Reason::Disagreement, message)
        }
        MentionClass::Unresolved | MentionClass::Decoy | MentionClass::Definition | MentionClass::Text => alone,
    }
}

/// Whether the mention is unresolved for want of an answer, and not because answers differ.
fn is_open(alone: &Judgement, facts: &Facts) -> bool {
    let differs = matches!(alone.unresolved, Some((Reason::Disagreement | Reason::BrokenSyntax, _)));
    !differs && !facts.after_error
}

/// Whether pyrefly's answer alone makes the mention a decoy: what the scopes say is no matter of opinion.
const fn contradicts(facts: &Facts) -> bool {
    matches!(facts.definition, Answer::Elsewhere(_)) && matches!(facts.scopes, ScopeAnswer::Silent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Opinion, SymbolKind};
    use crate::python::Role;
    use crate::scout::census::judge;

    const TY: Source = Source::SecondOpinion(Opinion::Ty);

    fn facts(role: Role, definition: Answer, scopes: ScopeAnswer, opinion: Answer) -> Facts {
        let (symbol, opinion) = (SymbolKind::Method, Some((Opinion::Ty, opinion)));
        let (declares, glean, references, after_error) = (false, false, false, false);
        Facts { role, symbol, declares, definition, opinion, scopes, glean, references, after_error }
    }

    fn elsewhere() -> Answer {
        Answer::Elsewhere("b.g".to_owned())
    }

    #[track_caller]
    fn check(facts: &Facts, class: MentionClass, sources: &[Source]) {
        let judgement = judge(facts);
        assert_eq!(judgement.class, class, "{facts:?}");
        assert_eq!(judgement.sources, sources.iter().copied().collect(), "{facts:?}");
    }

    #[test]
    fn it_confirms_a_reference() {
        let known = facts(Role::AttributeLoad, Answer::Group, ScopeAnswer::Silent, Answer::Group);
        check(&known, MentionClass::Site, &[Source::Definition, TY]);
        let unknown_to_it = facts(Role::AttributeLoad, Answer::Group, ScopeAnswer::Silent, Answer::Nothing);
        check(&unknown_to_it, MentionClass::Site, &[Source::Definition]);
    }

    #[test]
    fn it_settles_what_nobody_else_knows() {
        let silent = || ScopeAnswer::Silent;
        check(&facts(Role::AttributeLoad, Answer::Nothing, silent(), Answer::Group), MentionClass::Site, &[TY]);
        check(&facts(Role::ImportName, Answer::Nothing, silent(), Answer::Group), MentionClass::Import, &[TY]);
        let wrapper = Answer::Foreign("W.__call__".to_owned());
        check(&facts(Role::AttributeLoad, wrapper, silent(), Answer::Group), MentionClass::Site, &[TY]);
    }

    #[test]
    fn against_a_definition_elsewhere_it_only_raises_a_doubt() {
        let doubted = facts(Role::AttributeLoad, elsewhere(), ScopeAnswer::Silent, Answer::Group);
        check(&doubted, MentionClass::Unresolved, &[]);
        assert!(matches!(judge(&doubted).unresolved, Some((Reason::Disagreement, _))));
    }

    #[test]
    fn against_scopes_and_in_broken_files_it_says_nothing() {
        let shadowed = || ScopeAnswer::Other("parameter f".to_owned());
        check(&facts(Role::Load, elsewhere(), shadowed(), Answer::Group), MentionClass::Decoy, &[]);
        check(&facts(Role::Load, Answer::Nothing, ScopeAnswer::Perhaps, Answer::Group), MentionClass::Unresolved, &[]);
        let mut broken = facts(Role::AttributeLoad, Answer::Nothing, ScopeAnswer::Silent, Answer::Group);
        broken.after_error = true;
        check(&broken, MentionClass::Unresolved, &[]);
    }

    #[test]
    fn nothing_is_a_decoy_on_its_word() {
        let unknown = facts(Role::AttributeLoad, Answer::Nothing, ScopeAnswer::Silent, elsewhere());
        check(&unknown, MentionClass::Unresolved, &[]);
        check(
            &facts(Role::Load, Answer::Group, ScopeAnswer::Symbol, elsewhere()),
            MentionClass::Site,
            &[Source::Definition],
        );
    }
}
