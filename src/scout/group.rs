//! The declaration group: every place that declares the symbol, taken as one.

use std::collections::BTreeSet;

use crate::plan::{SymbolKind, SymbolPath};
use crate::python::{Declaration, DeclarationKind};
use crate::text::{ByteSpan, RelPath};

use super::codebase::{Codebase, Loaded};
use super::discovery::{Place, PlaceFile};

/// A resolved symbol as the scout sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) path: SymbolPath,
    pub(crate) kind: SymbolKind,
    /// Names of the definitions around it, then its own, without the module.
    pub(crate) qualname: Vec<String>,
    /// The name tokens of all declarations: overloads, redefinitions, twins in `if` and `try`, the stub's.
    pub(crate) members: BTreeSet<Place>,
    /// Where a constructor call of a class points: the name tokens of its `__init__` and `__new__`.
    pub(crate) constructors: BTreeSet<Place>,
    pub(crate) is_protocol: bool,
    /// What people should know of how the group was put together.
    pub(crate) notes: Vec<String>,
    /// A property: reading it calls it, so `h = k.p` copies a value.
    pub(crate) is_property: bool,
    /// A function that dispatches on the type of its first argument.
    pub(crate) is_dispatcher: bool,
}

impl Group {
    /// The group that a declaration of a workspace's file belongs to.
    pub(super) fn around(codebase: &mut Codebase, file: &RelPath, declaration: &Declaration) -> Option<Self> {
        let kind = symbol_kind(declaration.kind);
        let mut group = Self::of(codebase, file, &declaration.qualname, kind)?;
        // Names that are local to unnamed scopes, such as a lambda's parameters, may have one dotted name.
        if kind == SymbolKind::Variable {
            let loaded = codebase.load(file)?;
            let same = loaded.module.declarations.iter().filter(|d| {
                d.qualname == declaration.qualname && d.scope == declaration.scope && d.kind == declaration.kind
            });
            let first = same.map(|d| d.name).min_by_key(|&name| !is_in_own_scope(&loaded, name))?;
            let in_file = |place: &Place| place.file == PlaceFile::Inside(file.clone());
            group.members.retain(|member| !in_file(member));
            group.members.insert(Place { file: PlaceFile::Inside(file.clone()), span: first });
        }
        Some(group)
    }

    /// The group of the declarations called `qualname` in a file and its stub twins.
    pub(super) fn of(codebase: &mut Codebase, file: &RelPath, qualname: &[String], kind: SymbolKind) -> Option<Self> {
        let module = codebase.module_name(file);
        let mut group = Self {
            path: symbol_path(&module, qualname, kind)?,
            kind,
            qualname: qualname.to_vec(),
            members: BTreeSet::new(),
            constructors: BTreeSet::new(),
            notes: Vec::new(),
            is_protocol: false,
            is_property: false,
            is_dispatcher: false,
        };
        for file in std::iter::once(file.clone()).chain(codebase.stub_twins(file)) {
            group.add_declarations(codebase, &file);
        }
        (!group.members.is_empty()).then_some(group)
    }

    fn add_declarations(&mut self, codebase: &mut Codebase, file: &RelPath) {
        let Some(loaded) = codebase.load(file) else { return };
        let place = |span| Place { file: PlaceFile::Inside(file.clone()), span };
        let declarations = &loaded.module.declarations;
        let mine = declarations.iter().filter(|d| d.qualname == self.qualname && symbol_kind(d.kind) == self.kind);
        let mut names: Vec<ByteSpan> = mine.clone().map(|declaration| declaration.name).collect();
        // A variable is declared by its first binding; the others are uses that set it. One in its own scope goes
        // before those through `global` or `self`.
        names.sort_by_key(|&name| !is_in_own_scope(&loaded, name));
        if matches!(self.kind, SymbolKind::Variable | SymbolKind::Attribute) {
            names.truncate(1);
        }
        self.is_protocol |= mine.clone().any(|declaration| declaration.is_protocol);
        self.is_property |= mine.clone().any(|declaration| declaration.is_property);
        self.is_dispatcher |= mine.clone().any(|declaration| declaration.is_dispatcher);
        self.members.extend(names.into_iter().map(place));
        if self.kind == SymbolKind::Class {
            let constructor = |d: &&Declaration| {
                d.qualname.split_last().is_some_and(|(last, class)| {
                    class == self.qualname && matches!(last.as_str(), "__init__" | "__new__")
                })
            };
            self.constructors.extend(declarations.iter().filter(constructor).map(|d| place(d.name)));
        }
    }

    /// One declaration outside the workspace.
    pub(super) fn external(path: SymbolPath, kind: SymbolKind, qualname: Vec<String>, place: Place) -> Self {
        let members = BTreeSet::from([place]);
        Self {
            path,
            kind,
            qualname,
            members,
            constructors: BTreeSet::new(),
            notes: Vec::new(),
            is_protocol: false,
            is_property: false,
            is_dispatcher: false,
        }
    }

    pub(super) fn holds(&self, place: &Place) -> bool {
        self.members.contains(place) || self.constructors.contains(place)
    }
}

/// Whether a declaration stands where its name is bound, and not behind `global` or `self.`.
fn is_in_own_scope(loaded: &Loaded, name: ByteSpan) -> bool {
    let token = loaded.module.name_at(name.start());
    token.zip(loaded.module.declaration_at(name)).is_some_and(|(token, d)| token.scope == d.scope)
}

/// `pkg.mod` and `["K", "m"]` as `pkg.mod.K.m`; a parameter as `pkg.mod.f(p)`.
pub(super) fn symbol_path(module: &str, qualname: &[String], kind: SymbolKind) -> Option<SymbolPath> {
    let dotted = |names: &[String]| {
        let mut parts: Vec<&str> = if module.is_empty() { Vec::new() } else { vec![module] };
        parts.extend(names.iter().map(String::as_str));
        parts.join(".")
    };
    let name = match (kind, qualname.split_last()) {
        (SymbolKind::Parameter, Some((parameter, function))) => format!("{}({parameter})", dotted(function)),
        _ => dotted(qualname),
    };
    // A module such as `my-script` has no importable name; its last component alone still names the symbol.
    SymbolPath::parse(&name).ok().or_else(|| SymbolPath::parse(&qualname.join(".")).ok())
}

/// What a declaration is, in the plan's words.
pub(super) const fn symbol_kind(kind: DeclarationKind) -> SymbolKind {
    match kind {
        DeclarationKind::Function => SymbolKind::Function,
        DeclarationKind::Method => SymbolKind::Method,
        DeclarationKind::Class => SymbolKind::Class,
        DeclarationKind::Variable => SymbolKind::Variable,
        DeclarationKind::Attribute => SymbolKind::Attribute,
        DeclarationKind::Parameter => SymbolKind::Parameter,
        DeclarationKind::TypeAlias => SymbolKind::TypeAlias,
    }
}
