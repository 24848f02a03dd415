//! Names bound in each scope, as declared, and Python's rule for looking one up.
//!
//! This is the first of the two passes of symbol resolution: it records and never infers. Which symbol an
//! import stands for is not decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::text::ByteSpan;

use super::flow::Arm;
use super::imports::ImportRef;

/// A scope of one module, by index; 0 is the module itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeId(u32);

impl ScopeId {
    pub(crate) const MODULE: Self = Self(0);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    /// A function or a lambda.
    Function,
    Comprehension,
    /// `[T]` of a generic function, class or alias; sees the class around it.
    TypeParameters,
}

/// What binds a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BindingKind {
    Function,
    Class,
    Parameter,
    TypeParameter,
    /// An assignment, `for`, `with`, `except`, walrus, or match capture.
    Variable,
    /// `del`
    Deleted,
    /// `global` or `nonlocal`: binds nothing itself, but its token belongs to the variable.
    Declared,
    Import(ImportRef),
}

/// One place that binds a name in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The name token.
    pub(crate) span: ByteSpan,
    pub(crate) kind: BindingKind,
    /// The arms of compound statements around it, outermost first.
    pub(crate) arms: Rc<[Arm]>,
    /// How many names of the file are evaluated before it takes effect.
    pub(crate) order: u32,
    /// Made by a function, through `global` or `nonlocal`: nobody knows when.
    pub(crate) anytime: bool,
}

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<ScopeId>,
    /// Names of the definitions around and including this scope, outermost first.
    pub(super) qualname: Vec<String>,
    pub(super) bindings: BTreeMap<String, Vec<Binding>>,
    pub(super) globals: BTreeSet<String>,
    pub(super) nonlocals: BTreeSet<String>,
}

/// All scopes of a module.
#[derive(Debug)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
}

impl Default for Scopes {
    /// The module's scope alone.
    fn default() -> Self {
        let module = Scope {
            kind: ScopeKind::Module,
            parent: None,
            qualname: Vec::new(),
            bindings: BTreeMap::new(),
            globals: BTreeSet::new(),
            nonlocals: BTreeSet::new(),
        };
        Self { scopes: vec![module] }
    }
}

impl Scopes {
    pub(super) fn push(&mut self, kind: ScopeKind, parent: ScopeId, name: Option<&str>) -> ScopeId {
        let mut qualname = self.get(parent).qualname.clone();
        qualname.extend(name.map(str::to_owned));
        self.scopes.push(Scope {
            kind,
            parent: Some(parent),
            qualname,
            bindings: BTreeMap::new(),
            globals: BTreeSet::new(),
            nonlocals: BTreeSet::new(),
        });
        ScopeId(u32::try_from(self.scopes.len() - 1).expect("a file has fewer scopes than bytes"))
    }

    pub(super) fn get(&self, id: ScopeId) -> &Scope {
        self.scopes.get(id.0 as usize).expect("a scope id is only made by push")
    }

    pub(super) fn get_mut(&mut self, id: ScopeId) -> &mut Scope {
        self.scopes.get_mut(id.0 as usize).expect("a scope id is only made by push")
    }

    /// Names of the definitions around and including a scope, outermost first.
    pub(crate) fn qualname(&self, id: ScopeId) -> &[String] {
        &self.get(id).qualname
    }

    pub(crate) fn kind(&self, id: ScopeId) -> ScopeKind {
        self.get(id).kind
    }

    pub(crate) fn parent(&self, id: ScopeId) -> Option<ScopeId> {
        self.get(id).parent
    }

    /// All places that bind `name` in exactly this scope.
    pub(crate) fn bindings(&self, id: ScopeId, name: &str) -> &[Binding] {
        self.get(id).bindings.get(name).map_or(&[], Vec::as_slice)
    }

    /// The scope that a use of `name` in scope `from` refers to: the innermost that binds it, where class
    /// bodies can't be seen from the functions and classes inside them. `None`: a builtin, a star import, or nothing.
    ///
    /// ```python
    /// class K:
    ///     def f(self): return f()   # not K.f, but the module's
    /// ```
    pub(crate) fn lookup(&self, from: ScopeId, name: &str) -> Option<ScopeId> {
        let mut current = Some(from);
        let mut skip_classes = false;
        while let Some(id) = current {
            let scope = self.get(id);
            if scope.globals.contains(name) {
                return self.get(ScopeId::MODULE).bindings.contains_key(name).then_some(ScopeId::MODULE);
            }
            let visible = scope.kind != ScopeKind::Class || !skip_classes;
            if visible && !scope.nonlocals.contains(name) && scope.bindings.contains_key(name) {
                return Some(id);
            }
            skip_classes |= scope.kind != ScopeKind::TypeParameters;
            current = scope.parent;
        }
        None
    }

    /// Whether code in scope `from` runs later than the code of scope `to` around it: a function stands between.
    pub(crate) fn is_deferred(&self, from: ScopeId, to: ScopeId) -> bool {
        let mut current = Some(from);
        while let Some(id) = current.filter(|&id| id != to) {
            let scope = self.get(id);
            if scope.kind == ScopeKind::Function {
                return true;
            }
            current = scope.parent;
        }
        false
    }

    /// The scope in which a binding of `name` written in scope `at` takes effect.
    pub(super) fn binding_scope(&self, at: ScopeId, name: &str) -> ScopeId {
        let scope = self.get(at);
        if scope.globals.contains(name) {
            return ScopeId::MODULE;
        }
        if scope.nonlocals.contains(name) {
            return scope.parent.and_then(|parent| self.enclosing_function(parent, name)).unwrap_or(at);
        }
        at
    }

    fn enclosing_function(&self, from: ScopeId, name: &str) -> Option<ScopeId> {
        let mut current = Some(from);
        while let Some(id) = current {
            let scope = self.get(id);
            if scope.kind == ScopeKind::Function && scope.bindings.contains_key(name) {
                return Some(id);
            }
            current = scope.parent;
        }
        None
    }
}
