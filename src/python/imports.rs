//! What import statements say, as written.

use crate::text::ByteSpan;

use super::scopes::ScopeId;

/// What one clause of an import statement binds its name to, as declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ImportRef {
    /// Leading dots of a relative import.
    pub(crate) level: usize,
    /// Dotted name behind the dots; empty in `from . import x`.
    pub(crate) module: String,
    /// The imported name; `None` when the clause binds a module (`import a.b`).
    pub(crate) name: Option<String>,
}

/// One clause of an import statement: `a.b as c` of `import a.b as c`, `f as g` of `from m import f as g`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportClause {
    pub(crate) target: ImportRef,
    /// The whole statement.
    pub(crate) statement: ByteSpan,
    /// The name or the dotted module as written.
    pub(crate) name: ByteSpan,
    /// The token behind `as`.
    pub(crate) alias: Option<(String, ByteSpan)>,
    /// Where the binding takes effect.
    pub(crate) scope: ScopeId,
    /// `from m import *`
    pub(crate) star: bool,
}

impl ImportClause {
    /// The name that the clause binds.
    pub(crate) fn bound_name(&self) -> &str {
        if let Some((alias, _)) = &self.alias {
            return alias;
        }
        match &self.target.name {
            Some(name) => name,
            None => self.target.module.split('.').next().unwrap_or(&self.target.module),
        }
    }
}
