//! The name of a symbol and where it is defined.

use std::fmt;

use crate::python::is_identifier;
use crate::text::{ByteSpan, Position};

/// A dotted name such as `pkg.mod.Class.method`, or `pkg.mod.f(param)` for a parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SymbolPath {
    segments: Vec<String>,
    parameter: Option<String>,
}

/// Why a text is not the name of a symbol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SymbolPathError {
    #[error("the symbol's name is empty")]
    Empty,
    #[error("`{segment}` in `{name}` is not a Python identifier")]
    NotAnIdentifier { name: String, segment: String },
}

impl SymbolPath {
    pub(crate) fn parse(name: &str) -> Result<Self, SymbolPathError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(SymbolPathError::Empty);
        }
        let (dotted, parameter) = match name.strip_suffix(')').and_then(|open| open.split_once('(')) {
            // `render_report()` is how people write a function's name.
            Some((dotted, "" | "...")) => (dotted, None),
            Some((dotted, parameter)) => (dotted, Some(parameter)),
            None => (name, None),
        };
        let not_an_identifier =
            |segment: &str| SymbolPathError::NotAnIdentifier { name: name.to_owned(), segment: segment.to_owned() };
        let segments: Vec<String> = dotted.split('.').map(str::to_owned).collect();
        if let Some(bad) = segments.iter().map(String::as_str).chain(parameter).find(|s| !is_identifier(s)) {
            return Err(not_an_identifier(bad));
        }
        Ok(Self { segments, parameter: parameter.map(str::to_owned) })
    }

    pub(crate) fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// The name that mentions of the symbol are spelled like: the last component, or the parameter.
    pub(crate) fn name(&self) -> &str {
        self.parameter.as_deref().unwrap_or_else(|| self.segments.last().map_or("", String::as_str))
    }

    /// Whether this is `other` or a dotted suffix of it.
    pub(crate) fn is_suffix_of(&self, other: &Self) -> bool {
        self.parameter == other.parameter && other.segments.ends_with(&self.segments)
    }
}

impl fmt::Display for SymbolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("."))?;
        match &self.parameter {
            Some(parameter) => write!(f, "({parameter})"),
            None => Ok(()),
        }
    }
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SymbolKind {
    Function,
    Method,
    Class,
    Variable,
    Attribute,
    Parameter,
    TypeAlias,
}

impl SymbolKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Variable => "variable",
            Self::Attribute => "attribute",
            Self::Parameter => "parameter",
            Self::TypeAlias => "type-alias",
        }
    }

    /// Reads back what [`Self::as_str`] gave.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Function, Self::Method, Self::Class, Self::Variable, Self::Attribute, Self::Parameter, Self::TypeAlias]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// One member of a symbol's declaration group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    /// Relative to the workspace, or an absolute path when `external`.
    pub(crate) file: String,
    /// Of the name.
    pub(crate) position: Position,
    /// Of the name.
    pub(crate) span: ByteSpan,
    /// Outside the workspace: the standard library or a dependency.
    pub(crate) external: bool,
}

/// A resolved symbol: its name and its declaration group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) path: SymbolPath,
    pub(crate) kind: SymbolKind,
    /// Sorted by file and place; never empty.
    pub(crate) definitions: Vec<Definition>,
}

/// What belongs to a method, beside its own declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Family {
    /// Nothing.
    Exact,
    /// What it overrides and what overrides it.
    #[default]
    Overrides,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_as_they_were_read() {
        for name in ["f", "pkg.mod.Class.method", "mod.f(param)", "naïve.été"] {
            assert_eq!(SymbolPath::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(SymbolPath::parse("f()").unwrap().to_string(), "f");
    }

    #[test]
    fn what_is_no_identifier_is_refused() {
        for name in ["", "a..b", "1x", "a b", "f(1)", "a-b"] {
            assert!(SymbolPath::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_suffix_ends_on_a_component() {
        let full = SymbolPath::parse("pkg.core.render").unwrap();
        assert!(SymbolPath::parse("core.render").unwrap().is_suffix_of(&full));
        assert!(!SymbolPath::parse("re.render").unwrap().is_suffix_of(&full));
    }
}
