//! Which variables hold the symbol: its own, those that imports bind to it, and those that `h = f` does.
//!
//! A variable is a name in one scope of one file. Aliases are variables, too, which is why one is a mention only
//! where that binding is visible: `i` of one function says nothing about another's.

use std::collections::{BTreeMap, BTreeSet};

use crate::python::{Binding, ScopeId};
use crate::text::{ByteSpan, RelPath};

use super::codebase::Codebase;

/// A name in one scope of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variable {
    pub(super) file: RelPath,
    pub(super) scope: ScopeId,
    pub(super) name: String,
}

/// The variables that hold the symbol, each with the name tokens of those of its bindings that do.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Holders {
    bindings: BTreeMap<Variable, BTreeSet<ByteSpan>>,
    /// Variables that the symbol itself is: all their bindings belong to it.
    own: BTreeSet<Variable>,
}

impl Holders {
    /// Notes that a binding of the variable holds the symbol; says whether that is news.
    pub(super) fn insert(&mut self, variable: Variable, binding: ByteSpan) -> bool {
        self.bindings.entry(variable).or_default().insert(binding)
    }

    /// The same for the variable that the symbol itself is.
    pub(super) fn insert_own(&mut self, variable: Variable, binding: ByteSpan) {
        self.own.insert(variable.clone());
        self.insert(variable, binding);
    }

    pub(super) fn holds(&self, variable: &Variable) -> bool {
        self.bindings.contains_key(variable)
    }

    /// Whether the module-level name of a file holds the symbol.
    pub(super) fn exports(&self, codebase: &Codebase, file: &RelPath, name: &str) -> bool {
        self.holds_at_end(codebase, &Variable { file: file.clone(), scope: ScopeId::MODULE, name: name.to_owned() })
    }

    /// Whether the token binds the symbol to a name.
    pub(super) fn is_binding(&self, file: &RelPath, token: ByteSpan) -> bool {
        self.bindings.iter().any(|(variable, spans)| variable.file == *file && spans.contains(&token))
    }

    /// Whether the variable is the symbol's own, not one that an import or an assignment makes.
    pub(super) fn is_own(&self, variable: &Variable) -> bool {
        self.own.contains(variable)
    }

    /// Whether one of the bindings of a file holds the symbol.
    pub(super) fn hold_any(&self, file: &RelPath, bindings: &[&Binding]) -> bool {
        bindings.iter().any(|binding| self.is_binding(file, binding.span))
    }

    /// Whether the variable may hold the symbol once its scope has run.
    pub(super) fn holds_at_end(&self, codebase: &Codebase, variable: &Variable) -> bool {
        self.holds(variable)
            && codebase.loaded(&variable.file).is_some_and(|loaded| {
                let remaining = loaded.module.remaining(variable.scope, &variable.name);
                self.hold_any(&variable.file, &remaining)
            })
    }

    /// The variable of a file that a token binds, if that variable ever holds the symbol.
    pub(super) fn variable_bound_at(&self, codebase: &Codebase, file: &RelPath, token: ByteSpan) -> Option<&Variable> {
        self.bindings.keys().find(|variable| {
            variable.file == *file && all_bindings(codebase, variable).iter().any(|binding| binding.span == token)
        })
    }

    /// Every name that the symbol goes by.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.bindings.keys().map(|variable| variable.name.clone()).collect()
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.bindings.keys()
    }
}

fn all_bindings(codebase: &Codebase, variable: &Variable) -> Vec<Binding> {
    codebase
        .loaded(&variable.file)
        .map_or_else(Vec::new, |loaded| loaded.module.scopes.bindings(variable.scope, &variable.name).to_vec())
}
