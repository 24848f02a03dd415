//! Labels and keys that name the field of an object, and the name whose type says which field that is.

use ruff_python_ast as ast;
use ruff_python_ast::{CmpOp, Expr};
use ruff_text_size::{Ranged as _, TextRange};

use super::{Walk, last_name};
use crate::python::module::{Owner, Role, StringUse, Tie, Usage};

/// Functions that copy their first argument with other values for some of its fields.
const COPYING_CALLS: [&str; 2] = ["replace", "evolve"];
/// Methods of a `TypedDict` that take a key first.
const KEYED_METHODS: [&str; 3] = ["get", "pop", "setdefault"];

impl Walk<'_> {
    /// Whose fields the labels of a call name: `replace(object, …)`, `object._replace(…)`.
    pub(super) fn copied(&self, call: &ast::ExprCall) -> Option<Owner> {
        let copied = match (last_name(&call.func)?, &*call.func) {
            ("_replace", Expr::Attribute(method)) => &*method.value,
            (callee, _) if COPYING_CALLS.contains(&callee) => call.arguments.args.first()?,
            _ => return None,
        };
        self.owner(copied, Tie::Copies)
    }

    pub(super) fn field_label(&mut self, label: TextRange, whole: TextRange, owner: Option<Owner>) {
        self.name(label, Role::KeywordLabel, Usage::KeywordLabel, self.span(whole));
        if let Some(token) = self.found.names.get_mut(&self.places.span(label).start()) {
            token.owner = owner;
        }
    }

    /// The labels of `case Class(label=…)`.
    pub(super) fn class_pattern_labels(&mut self, class: &ast::PatternMatchClass) {
        let owner = self.owner(&class.cls, Tie::Matches);
        for keyword in &class.arguments.keywords {
            self.field_label(keyword.attr.range, keyword.range, owner);
        }
    }

    /// `object["key"]`: a server knows what it names. The keys of other expressions need an owner.
    pub(super) fn key(&mut self, key: &Expr, owner: Option<Owner>) {
        let Expr::StringLiteral(literal) = key else { return };
        let Some(content) = self.written_name(literal).filter(|_| self.annotation.is_none()) else { return };
        let mut token = self.token(self.span(content), Role::Key, Usage::Key, self.span(literal.range));
        token.owner = owner;
        self.found.in_strings.insert(token.span.start(), token);
    }

    /// A string that may be looked up as a key.
    pub(super) fn plain_key(&mut self, key: &Expr) {
        if self.annotation.is_none() {
            self.plain_string(key, &StringUse::Key);
        }
    }

    /// `object.get("key")`
    pub(super) fn key_in_call(&mut self, call: &ast::ExprCall) {
        let (Expr::Attribute(method), Some(key)) = (&*call.func, call.arguments.args.first()) else { return };
        if KEYED_METHODS.contains(&method.attr.as_str()) {
            self.owned_key(key, &method.value);
        }
    }

    /// `"key" in object`
    pub(super) fn key_looked_for(&mut self, compare: &ast::ExprCompare) {
        if let ([CmpOp::In | CmpOp::NotIn], [object]) = (&*compare.ops, &*compare.comparators) {
            self.owned_key(&compare.left, object);
        }
    }

    /// `object: Class = {"key": …}`
    pub(super) fn keys_of(&mut self, dict: &ast::ExprDict, object: &Expr) {
        for key in dict.items.iter().filter_map(|item| item.key.as_ref()) {
            self.owned_key(key, object);
        }
    }

    fn owned_key(&mut self, key: &Expr, object: &Expr) {
        let owner = self.owner(object, Tie::Keys);
        if owner.is_some() {
            self.key(key, owner);
        }
    }

    /// Only a name has a place at which a server can be asked for a type.
    fn owner(&self, object: &Expr, tie: Tie) -> Option<Owner> {
        let name = match object {
            Expr::Name(name) => name.range,
            Expr::Attribute(attribute) => attribute.attr.range(),
            _ => return None,
        };
        Some(Owner { at: self.span(name).start(), tie })
    }
}
