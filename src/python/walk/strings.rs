//! Strings that are names by convention: what `__all__` and `__slots__` list, and dotted names. Keys are in `fields`.

use ruff_python_ast as ast;
use ruff_python_ast::Expr;
use ruff_text_size::TextRange;

use super::{Walk, last_name};
use crate::python::mentions::is_identifier;
use crate::python::module::{PlainString, Role, StringUse, Usage, Within, span};
use crate::python::scopes::{ScopeId, ScopeKind};
use crate::text::ByteSpan;

/// What makes a type that has to be told its own name.
const NAMED_BY_THEIR_FIRST: [&str; 15] = [
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "NewType",
    "ParamSpec",
    "StrEnum",
    "TypeAliasType",
    "TypeVar",
    "TypeVarTuple",
    "TypedDict",
    "make_dataclass",
    "namedtuple",
    "type",
];

impl Walk<'_> {
    /// The strings that an assignment to `__all__` or `__slots__` makes names of.
    pub(super) fn listed_strings(&mut self, target: &Expr, value: &Expr) {
        let Expr::Name(target) = target else { return };
        match target.id.as_str() {
            "__all__" if self.scope == ScopeId::MODULE => self.names_in_strings(value, Role::Spelled, Usage::Export),
            "__slots__" if self.found.scopes.kind(self.scope) == ScopeKind::Class => {
                self.names_in_strings(value, Role::Slot, Usage::Slot);
            }
            _ => {}
        }
    }

    /// `T = TypeVar("T")`: the string says the name once more, and must stay the same.
    pub(super) fn repeated_name(&mut self, target: &Expr, value: &Expr) {
        let (Expr::Name(target), Expr::Call(call)) = (target, value) else { return };
        let Some(Expr::StringLiteral(literal)) = call.arguments.args.first() else { return };
        let makes_a_name = last_name(&call.func).is_some_and(|callee| NAMED_BY_THEIR_FIRST.contains(&callee));
        if makes_a_name && literal.value.to_str() == target.id.as_str() {
            self.name_in_string(literal, Role::Spelled, Usage::String);
        }
    }

    /// `__all__.extend(["f"])`, `__all__.append("f")`, `__all__.remove("f")`.
    pub(super) fn strings_added_to_all(&mut self, call: &ast::ExprCall) {
        let Expr::Attribute(method) = &*call.func else { return };
        let is_all = matches!(&*method.value, Expr::Name(name) if name.id.as_str() == "__all__");
        if is_all && matches!(method.attr.as_str(), "extend" | "append" | "remove") {
            call.arguments.args.iter().for_each(|added| self.names_in_strings(added, Role::Spelled, Usage::Export));
        }
    }

    fn names_in_strings(&mut self, value: &Expr, role: Role, usage: Usage) {
        match value {
            Expr::StringLiteral(literal) => self.name_in_string(literal, role, usage),
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => {
                for element in elts {
                    self.names_in_strings(element, role, usage);
                }
            }
            Expr::BinOp(sum) => {
                self.names_in_strings(&sum.left, role, usage);
                self.names_in_strings(&sum.right, role, usage);
            }
            // The keys of `__slots__ = {"x": "what x is"}`.
            Expr::Dict(dict) => {
                dict.items
                    .iter()
                    .filter_map(|i| i.key.as_ref())
                    .for_each(|key| self.names_in_strings(key, role, usage));
            }
            _ => {}
        }
    }

    /// A string whose content is an identifier, as written: neither escaped nor put together of several.
    fn name_in_string(&mut self, literal: &ast::ExprStringLiteral, role: Role, usage: Usage) {
        let Some(content) = self.written_name(literal) else { return };
        let within = std::mem::replace(&mut self.within, Within::Text);
        self.name(content, role, usage, self.span(literal.range));
        self.within = within;
    }

    /// The content of a string that is an identifier, as written.
    pub(super) fn written_name(&self, literal: &ast::ExprStringLiteral) -> Option<TextRange> {
        let [part] = literal.value.as_slice() else { return None };
        let content = part.content_range();
        let is_as_written = self.source.get(span(content).range()) == Some(&*part.value);
        (is_as_written && is_identifier(&part.value)).then_some(content)
    }

    /// The components of `"pkg.mod.f"` or `"pkg.mod:f"`, where that is how the string is written.
    pub(super) fn dotted_string(&mut self, literal: &ast::ExprStringLiteral) {
        let [part] = literal.value.as_slice() else { return };
        let content = self.span(part.content_range());
        let text = self.source.get(span(part.content_range()).range()).unwrap_or_default();
        let one_colon = text.matches(':').count() <= 1;
        if !one_colon || *text != *part.value || !text.split(['.', ':']).all(is_identifier) {
            return;
        }
        let region = self.span(part.range);
        let within = std::mem::replace(&mut self.within, Within::Text);
        for (dot, _) in text.match_indices(['.', ':']) {
            let start = content.start().get() + dot + 1;
            let rest = text.get(dot + 1..).unwrap_or_default();
            let end = start + rest.find(['.', ':']).unwrap_or(rest.len());
            let mut token = self.token(ByteSpan::new(start, end), Role::Dotted, Usage::String, region);
            token.receiver = Some(ByteSpan::new(content.start().get(), start - 1));
            self.found.in_strings.insert(token.span.start(), token);
        }
        self.within = within;
    }

    pub(super) fn plain_string(&mut self, expr: &Expr, usage: &StringUse) {
        let Expr::StringLiteral(literal) = expr else { return };
        for part in &literal.value {
            self.found.plain_strings.push(PlainString { span: self.span(part.content_range()), usage: usage.clone() });
        }
    }
}
