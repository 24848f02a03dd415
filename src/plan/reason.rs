//! What each reason means, and what would resolve it: a closed table, so that a new reason can't go unexplained.

use super::Reason;

impl Reason {
    pub(crate) const ALL: [Self; 15] = [
        Self::ReceiverTypeUnknown,
        Self::ImportUnresolved,
        Self::NoDefinition,
        Self::ForeignTarget,
        Self::Disagreement,
        Self::BrokenSyntax,
        Self::ExactString,
        Self::KeywordLabel,
        Self::NotUtf8,
        Self::Unreadable,
        Self::NotCovered,
        Self::Notebook,
        Self::Generated,
        Self::Symlink,
        Self::StructuralImplementors,
    ];

    /// What it means, as one sentence without a full stop.
    pub(crate) const fn explanation(self) -> &'static str {
        match self {
            Self::ReceiverTypeUnknown => "the type of what stands before the dot isn't known",
            Self::ImportUnresolved => "the name comes from an import that doesn't resolve",
            Self::NoDefinition => "no source ties the name to anything",
            Self::ForeignTarget => "the type checker answers with something that isn't spelled like the mention",
            Self::Disagreement => "the sources disagree, and scopes and syntax don't decide",
            Self::BrokenSyntax => "the place stands in or behind a part of the file that doesn't parse",
            Self::ExactString => "a string that is exactly the symbol's name, which code may look up at run time",
            Self::KeywordLabel => "nothing ties the keyword argument to a parameter or a field",
            Self::NotUtf8 => "the file isn't UTF-8",
            Self::Unreadable => "the file can't be read",
            Self::NotCovered => "the type checker doesn't read this kind of file or this folder",
            Self::Notebook => {
                "a notebook, which no type checker reads: imports and scopes say what its names are, where it is plain Python"
            }
            Self::Generated => "a generated or vendored file",
            Self::Symlink => "a symbolic link: the file is looked at under its own name, or lies elsewhere",
            Self::StructuralImplementors => "classes that match the Protocol by shape alone name it nowhere",
        }
    }

    /// What would resolve it, or what to do instead, as one sentence without a full stop.
    pub(crate) const fn remedy(self) -> &'static str {
        match self {
            Self::ReceiverTypeUnknown => "annotate the receiver (the parameter, the variable, what a function returns)",
            Self::ImportUnresolved => {
                "install the package, or add the folder that it lies in to the type checker's `search-path`"
            }
            Self::NoDefinition => "look at it; an annotation or an explicit import would tie it to something",
            Self::ForeignTarget => "look at it; a wrapper or decorator that keeps the type (ParamSpec) would tie it",
            Self::Disagreement => "look at it; a name of its own for each thing that it stands for would settle it",
            Self::BrokenSyntax => "mend the syntax error and scout again",
            Self::ExactString => "look at what reads the string, and change it by hand",
            Self::KeywordLabel => "annotate what is called, or name its parameters instead of `**kwargs`",
            Self::NotUtf8 => "save the file as UTF-8",
            Self::Unreadable => "make the file readable, and its name UTF-8",
            Self::NotCovered => "look at it by hand, or move it where the type checker reads",
            Self::Notebook => "look at it by hand",
            Self::Generated => "change what generates it, or name it with `edit --include`",
            Self::Symlink => "nothing where the link's target is in the workspace; else scout the folder it leads to",
            Self::StructuralImplementors => "name the Protocol as a base of the classes that implement it",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_a_name_an_explanation_and_a_remedy_of_its_own() {
        for say in [Reason::as_str, Reason::explanation, Reason::remedy] {
            let said: BTreeSet<&str> = Reason::ALL.into_iter().map(say).collect();
            assert_eq!(said.len(), Reason::ALL.len(), "{said:?}");
        }
    }

    #[test]
    fn the_readme_lists_every_reason() {
        let readme = include_str!("../../README.md");
        for reason in Reason::ALL {
            let row = format!("| `{}` | {} | {} |", reason.as_str(), reason.explanation(), reason.remedy());
            assert!(readme.contains(&row), "README lacks: {row}");
        }
    }
}
