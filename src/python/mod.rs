//! What the Python text alone says. The only room that names the parser; pure.
//!
//! A [`Module`] is the first pass of symbol resolution: names, scopes, imports and declarations as written.
//! Nothing here knows a second file.

pub(crate) mod calls;
mod doctest;
mod flow;
mod imports;
mod interpolated;
mod mentions;
mod module;
mod notebook;
mod places;
mod scopes;
mod walk;

pub(crate) use imports::{ImportClause, ImportRef};
pub(crate) use interpolated::{Interpolated, InterpolatedKind, strings_around, unreadable_before_312};
pub(crate) use mentions::{is_identifier, longer_words, words};
pub(crate) use module::{
    Declaration, DeclarationKind, Module, NameToken, Owner, Role, StringUse, TextKind, Tie, Usage, Within, parses,
};
pub(crate) use notebook::without_escapes;
pub(crate) use scopes::{Binding, BindingKind, ScopeId, ScopeKind};
