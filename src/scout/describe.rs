//! Names for places: what a decoy resolves to.

use crate::python::{DeclarationKind, Role};
use crate::text::{ByteSpan, RelPath};

use super::codebase::{Codebase, Loaded};
use super::discovery::{Place, PlaceFile};

/// The dotted name of what is declared at a place, such as `pkg.mod.Class.method` or `pkg.mod.f(param)`.
pub(super) fn describe(codebase: &mut Codebase, place: &Place) -> String {
    let (module, loaded) = match &place.file {
        PlaceFile::Inside(file) => (codebase.module_name(file), codebase.load(file)),
        PlaceFile::Outside(path) => (codebase.module_name_of(path), codebase.load_outside(path)),
    };
    match loaded {
        Some(loaded) if !place.span.is_empty() => name_of(&module, &loaded, place.span),
        // An empty span at the start of a file is how the server names a module.
        _ => format!("module {module}"),
    }
}

/// The same for a token of a file of the workspace.
pub(super) fn describe_token(codebase: &mut Codebase, file: &RelPath, token: ByteSpan) -> String {
    describe(codebase, &Place { file: PlaceFile::Inside(file.clone()), span: token })
}

fn name_of(module: &str, loaded: &Loaded, span: ByteSpan) -> String {
    let join = |names: &[String]| {
        std::iter::once(module).chain(names.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
    };
    if let Some(declaration) = loaded.module.declaration_at(span) {
        return match (declaration.kind, declaration.qualname.split_last()) {
            (DeclarationKind::Parameter, Some((parameter, function))) => format!("{}({parameter})", join(function)),
            _ => join(&declaration.qualname),
        };
    }
    let text = loaded.source.slice(span).unwrap_or_default().to_owned();
    let Some(token) = loaded.module.name_at(span.start()) else { return join(&[text]) };
    if token.role.is_import()
        && let Some(clause) = loaded.module.import_at(span.start())
    {
        let dots = ".".repeat(clause.target.level);
        let target = &clause.target;
        return match &target.name {
            Some(name) if target.module.is_empty() => format!("{dots}{name}"),
            Some(name) => format!("{dots}{}.{name}", target.module),
            None => format!("module {dots}{}", target.module),
        };
    }
    let mut names = loaded.module.scopes.qualname(token.scope).to_vec();
    names.push(text);
    match token.role {
        Role::Store | Role::Parameter | Role::TypeParameter => format!("{} (a local name)", join(&names)),
        Role::Load
        | Role::Delete
        | Role::AttributeLoad
        | Role::AttributeStore
        | Role::Definition
        | Role::KeywordLabel
        | Role::ImportModule
        | Role::ImportName
        | Role::ImportAlias
        | Role::Declared
        | Role::Spelled
        | Role::Slot
        | Role::Dotted
        | Role::Key => join(&names),
    }
}
