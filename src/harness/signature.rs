//! The parameter list of a symbol as written, for authors that have to know what a call passes by position.

use std::path::PathBuf;

use crate::plan::{Symbol, SymbolKind};
use crate::python::{Declaration, Module, calls};
use crate::text::{ProjectRoot, SourceText};

/// `(…)` of a function or of a class's constructor, the latter without its first parameter, which calling the class
/// always fills. `None` where it can't be read.
pub(super) fn signature(workspace: &ProjectRoot, symbol: &Symbol) -> Option<String> {
    // The implementation behind overloads comes last.
    let definition = symbol.definitions.last()?;
    let path =
        if definition.external { PathBuf::from(&definition.file) } else { workspace.as_path().join(&definition.file) };
    let stub = path.extension().is_some_and(|extension| extension == "pyi");
    let source = SourceText::from_bytes(std::fs::read(path).ok()?).ok()?;
    let module = Module::parse(&source, stub);
    let declared = module.declaration_at(definition.span)?;
    match symbol.kind {
        SymbolKind::Class => {
            let init = constructor(&module, declared)?;
            without_first(source.slice(init.parameters?)?)
        }
        SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Variable
        | SymbolKind::Attribute
        | SymbolKind::Parameter
        | SymbolKind::TypeAlias => source.slice(declared.parameters?).map(str::to_owned),
    }
}

fn constructor<'m>(module: &'m Module, class: &Declaration) -> Option<&'m Declaration> {
    let of_class = |d: &&Declaration, name: &str| {
        d.qualname.split_last().is_some_and(|(last, around)| last == name && around == class.qualname)
    };
    let declarations = &module.declarations;
    declarations
        .iter()
        .rfind(|d| of_class(d, "__init__"))
        .or_else(|| declarations.iter().rfind(|d| of_class(d, "__new__")))
}

/// `(self, a, b=1)` without `self`.
fn without_first(parameters: &str) -> Option<String> {
    let first = calls::parameters(parameters)?.positional.into_iter().next()?.name;
    let inside = parameters.strip_prefix('(')?.trim_start().strip_prefix(&first)?;
    let rest = inside.trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    // A lone `/` behind the first parameter would have nothing before it.
    let rest = rest.strip_prefix('/').map_or(rest, |rest| rest.trim_start().strip_prefix(',').unwrap_or(rest));
    Some(format!("({}", rest.trim_start()))
}
