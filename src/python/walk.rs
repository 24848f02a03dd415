//! One walk over the tree that records names, bindings, imports and declarations in the right scope.
//!
//! Python evaluates decorators, defaults, bases and the first iterable of a comprehension outside the scope
//! that they seem to belong to, which is why this walk and not the tree's own order says what is where.

#![expect(clippy::wildcard_enum_match_arm, reason = "the tree has far more kinds of node than a walk asks about")]

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Stmt};
use ruff_python_parser::{parse_expression_range, parse_module, parse_string_annotation};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use crate::text::{ByteOffset, ByteSpan};

use super::doctest::{self, Example};
use super::flow::{Arm, Fork};
use super::imports::{ImportClause, ImportRef};
use super::module::{
    AssignedAlias, Declaration, DeclarationKind, NameToken, Owner, PlainString, Role, StringUse, Usage, Within, span,
};
use super::places::Places;
use super::scopes::{Binding, BindingKind, ScopeId, ScopeKind, Scopes};

mod fields;
mod strings;

/// What takes types in brackets, wherever it stands.
const TYPE_FORMS: [&str; 27] = [
    "Annotated",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "ClassVar",
    "Collection",
    "DefaultDict",
    "Dict",
    "Final",
    "FrozenSet",
    "Generator",
    "Iterable",
    "Iterator",
    "List",
    "Literal",
    "Mapping",
    "Optional",
    "Sequence",
    "Set",
    "Tuple",
    "Type",
    "Union",
    "dict",
    "frozenset",
    "list",
    "tuple",
    "type",
];

/// What one walk found.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) names: BTreeMap<ByteOffset, NameToken>,
    /// What stands in strings and is an identifier only by convention: dotted names, keys.
    pub(super) in_strings: BTreeMap<ByteOffset, NameToken>,
    pub(super) docstrings: Vec<ByteSpan>,
    pub(super) plain_strings: Vec<PlainString>,
    pub(super) scopes: Scopes,
    pub(super) imports: Vec<ImportClause>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) assigned_aliases: Vec<AssignedAlias>,
}

/// `type_comments` are the types in the `# type:` comments of the file, in order; `places` says where the text stands
/// in the file, and `within` what it is there.
pub(super) fn module(
    source: &str,
    module: &ast::ModModule,
    type_comments: Vec<ByteSpan>,
    places: Places,
    within: Within,
) -> Walked {
    let mut walk = Walk {
        source,
        places,
        within,
        found: Walked::default(),
        scope: ScopeId::MODULE,
        arms: Rc::from([]),
        order: 0,
        uses: BTreeMap::new(),
        annotation: None,
        in_type: false,
        type_comments,
    };
    walk.docstring(&module.body);
    walk.visit_body(&module.body);
    walk.note_reexports();
    walk.found
}

struct Walk<'s> {
    source: &'s str,
    /// Where that text stands in the file.
    places: Places,
    found: Walked,
    scope: ScopeId,
    /// Arms of compound statements around the current one.
    arms: Rc<[Arm]>,
    /// How many names and bindings were evaluated so far.
    order: u32,
    /// Expressions whose use was seen before they are reached: by range, how and the region.
    uses: BTreeMap<(usize, usize), (Usage, ByteSpan)>,
    /// The annotation being walked.
    annotation: Option<ByteSpan>,
    /// Whether what is walked is a type, where a string holds another: an annotation, or what `List[…]` holds.
    in_type: bool,
    within: Within,
    /// The types in comments that no statement has taken yet, in order.
    type_comments: Vec<ByteSpan>,
}

impl Walk<'_> {
    /// Where a range of the text stands in the file.
    fn span(&self, range: TextRange) -> ByteSpan {
        self.places.span(range)
    }

    fn expect_use(&mut self, expr: &Expr, usage: Usage, region: TextRange) {
        let place = self.span(expr.range());
        let region = self.span(region);
        self.uses.entry((place.start().get(), place.end().get())).or_insert((usage, region));
    }

    fn used_as(&self, expr: TextRange, otherwise: Usage) -> (Usage, ByteSpan) {
        let place = self.span(expr);
        let expected = self.uses.get(&(place.start().get(), place.end().get())).copied();
        match (expected, self.annotation) {
            (Some(found), _) => found,
            (None, Some(annotation)) => (Usage::Annotation, annotation),
            (None, None) => (otherwise, place),
        }
    }

    fn name(&mut self, range: TextRange, role: Role, usage: Usage, region: ByteSpan) {
        let place = self.span(range);
        if place.is_empty() {
            return; // an identifier that the parser made up after a syntax error
        }
        let token = self.token(place, role, usage, region);
        self.found.names.insert(place.start(), token);
    }

    fn token(&mut self, place: ByteSpan, role: Role, usage: Usage, region: ByteSpan) -> NameToken {
        NameToken {
            span: place,
            role,
            scope: self.scope,
            usage,
            region,
            receiver: None,
            owner: None,
            within: self.within,
            arms: Rc::clone(&self.arms),
            order: self.next_order(),
        }
    }

    const fn next_order(&mut self) -> u32 {
        self.order += 1;
        self.order
    }

    fn simple_name(&mut self, range: TextRange, role: Role) {
        self.name(range, role, Usage::Value, self.span(range));
    }

    fn bind(&mut self, name: &str, range: TextRange, kind: BindingKind) {
        let scope = self.found.scopes.binding_scope(self.scope, name);
        self.bind_in(scope, name, range, kind);
    }

    /// Binds and declares a variable, or the attribute of a class.
    fn bind_variable(&mut self, name: &str, range: TextRange) {
        let scope = self.found.scopes.binding_scope(self.scope, name);
        self.bind_variable_in(scope, name, range);
    }

    fn bind_variable_in(&mut self, scope: ScopeId, name: &str, range: TextRange) {
        let kind = match self.found.scopes.kind(scope) {
            ScopeKind::Class => DeclarationKind::Attribute,
            ScopeKind::Module | ScopeKind::Function | ScopeKind::Comprehension | ScopeKind::TypeParameters => {
                DeclarationKind::Variable
            }
        };
        self.declare_in(scope, name, range, kind);
        self.bind_in(scope, name, range, BindingKind::Variable);
    }

    fn bind_in(&mut self, scope: ScopeId, name: &str, range: TextRange, kind: BindingKind) {
        let anytime = self.found.scopes.is_deferred(self.scope, scope);
        let (arms, order) = (Rc::clone(&self.arms), self.next_order());
        let binding = Binding { span: self.span(range), kind, arms, order, anytime };
        self.found.scopes.get_mut(scope).bindings.entry(name.to_owned()).or_default().push(binding);
    }

    /// Records a declaration bound in the current scope.
    fn declare(&mut self, name: &str, range: TextRange, kind: DeclarationKind) -> &mut Declaration {
        let scope = self.found.scopes.binding_scope(self.scope, name);
        self.declare_in(scope, name, range, kind)
    }

    fn declare_in(&mut self, scope: ScopeId, name: &str, range: TextRange, kind: DeclarationKind) -> &mut Declaration {
        let mut qualname = self.found.scopes.qualname(scope).to_vec();
        qualname.push(name.to_owned());
        self.declare_as(qualname, range, kind, scope)
    }

    fn declare_as(
        &mut self,
        qualname: Vec<String>,
        range: TextRange,
        kind: DeclarationKind,
        scope: ScopeId,
    ) -> &mut Declaration {
        self.found.declarations.push(Declaration {
            qualname,
            name: self.span(range),
            kind,
            scope,
            parameters: None,
            is_static: false,
            is_property: false,
            is_dispatcher: false,
            registered_with: Vec::new(),
            is_protocol: false,
            bases: Vec::new(),
        });
        self.found.declarations.last_mut().expect("a declaration was pushed just now")
    }

    fn in_scope(&mut self, scope: ScopeId, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.scope, scope);
        walk(self);
        self.scope = outer;
    }

    fn in_arm(&mut self, arm: Arm, walk: impl FnOnce(&mut Self)) {
        let inside = self.arms.iter().copied().chain([arm]).collect();
        let outside = std::mem::replace(&mut self.arms, inside);
        walk(self);
        self.arms = outside;
    }

    fn if_statement(&mut self, s: &ast::StmtIf) {
        self.visit_expr(&s.test);
        let has_else = s.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none());
        let of = 1 + s.elif_else_clauses.len() + usize::from(!has_else);
        let at = self.span(s.range);
        let arm = |number, body: &[Stmt]| Arm { leaves: leaves(body), ..arm(at, number, of, Fork::Choice) };
        self.in_arm(arm(0, &s.body), |walk| walk.visit_body(&s.body));
        for (index, clause) in s.elif_else_clauses.iter().enumerate() {
            if let Some(test) = &clause.test {
                self.visit_expr(test);
            }
            self.in_arm(arm(index + 1, &clause.body), |walk| walk.visit_body(&clause.body));
        }
    }

    fn try_statement(&mut self, s: &ast::StmtTry) {
        let of = 1 + s.handlers.len();
        let at = self.span(s.range);
        self.in_arm(arm(at, 0, of, Fork::Try), |walk| {
            walk.visit_body(&s.body);
            walk.visit_body(&s.orelse);
        });
        for (index, handler) in s.handlers.iter().enumerate() {
            let ast::ExceptHandler::ExceptHandler(h) = handler;
            let arm = Arm { leaves: leaves(&h.body), ..arm(at, index + 1, of, Fork::Try) };
            self.in_arm(arm, |walk| walk.visit_except_handler(handler));
        }
        self.visit_body(&s.finalbody);
    }

    fn match_statement(&mut self, s: &ast::StmtMatch) {
        self.visit_expr(&s.subject);
        let catches_rest = |case: &ast::MatchCase| case.guard.is_none() && case.pattern.is_irrefutable();
        let at = self.span(s.range);
        let of = s.cases.len() + usize::from(!s.cases.last().is_some_and(catches_rest));
        for (index, case) in s.cases.iter().enumerate() {
            let arm = Arm { leaves: leaves(&case.body), ..arm(at, index, of, Fork::Choice) };
            self.in_arm(arm, |walk| walk.visit_match_case(case));
        }
    }

    fn loop_bodies(&mut self, statement: TextRange, body: &[Stmt], orelse: &[Stmt]) {
        let statement = self.span(statement);
        self.in_arm(arm(statement, 0, 2, Fork::Loop), |walk| walk.visit_body(body));
        self.in_arm(arm(statement, 1, 2, Fork::Loop), |walk| walk.visit_body(orelse));
    }

    /// Walks what isn't part of the annotation or call around it.
    fn outside_annotation(&mut self, walk: impl FnOnce(&mut Self)) {
        let annotation = self.annotation.take();
        let in_type = std::mem::take(&mut self.in_type);
        walk(self);
        self.annotation = annotation;
        self.in_type = in_type;
    }

    /// Walks a type that isn't an annotation.
    fn type_expression(&mut self, expr: &Expr) {
        let in_type = std::mem::replace(&mut self.in_type, true);
        self.visit_expr(expr);
        self.in_type = in_type;
    }

    /// What stands in the brackets behind a type. `Literal` holds values, and `Annotated` one type before them.
    fn type_parameters_given(&mut self, form: Option<&str>, slice: &Expr) {
        match (form, slice) {
            (Some("Literal"), _) => self.outside_annotation(|walk| walk.visit_expr(slice)),
            (Some("Annotated"), Expr::Tuple(tuple)) => {
                let (types, values) = tuple.elts.split_at(1.min(tuple.elts.len()));
                for expr in types {
                    self.type_expression(expr);
                }
                self.outside_annotation(|walk| {
                    for expr in values {
                        walk.visit_expr(expr);
                    }
                });
            }
            _ => self.type_expression(slice),
        }
    }

    fn docstring(&mut self, body: &[Stmt]) {
        if let Some(Stmt::Expr(first)) = body.first()
            && first.value.is_string_literal_expr()
        {
            let place = self.span(first.value.range());
            self.found.docstrings.push(place);
            self.doctests(&first.value);
        }
    }

    /// The examples of a docstring share a scope of their own in the module. What they declare can't be asked for.
    fn doctests(&mut self, docstring: &Expr) {
        let Expr::StringLiteral(literal) = docstring else { return };
        let [part] = literal.value.as_slice() else { return };
        let content = span(part.content_range());
        let text = self.source.get(content.range()).unwrap_or_default();
        if self.within != Within::Code || !text.contains(">>>") {
            return;
        }
        let scope = self.found.scopes.push(ScopeKind::Function, ScopeId::MODULE, None);
        let (declarations, aliases) = (self.found.declarations.len(), self.found.assigned_aliases.len());
        for example in doctest::examples(text, content.start().get()) {
            self.example(scope, example);
        }
        self.found.declarations.truncate(declarations);
        self.found.assigned_aliases.truncate(aliases);
    }

    fn example(&mut self, scope: ScopeId, example: Example) {
        let Ok(parsed) = parse_module(&example.code) else { return };
        let mut walk = Walk {
            source: &example.code,
            places: example.places,
            found: std::mem::take(&mut self.found),
            scope,
            arms: Rc::from([]),
            order: self.order,
            uses: BTreeMap::new(),
            annotation: None,
            in_type: false,
            within: Within::Doctest,
            type_comments: Vec::new(),
        };
        walk.visit_body(&parsed.syntax().body);
        (self.found, self.order) = (walk.found, walk.order);
    }

    /// The scope of the type parameters of `owner`, where it has any.
    fn type_parameters(&mut self, params: Option<&ast::TypeParams>, owner: &str) -> ScopeId {
        let Some(params) = params else { return self.scope };
        let scope = self.found.scopes.push(ScopeKind::TypeParameters, self.scope, None);
        self.in_scope(scope, |walk| {
            for param in params.iter() {
                let name = param.name();
                walk.simple_name(name.range, Role::TypeParameter);
                let mut qualname = walk.found.scopes.qualname(scope).to_vec();
                qualname.extend([owner.to_owned(), name.as_str().to_owned()]);
                walk.declare_as(qualname, name.range, DeclarationKind::Variable, scope);
                walk.bind(name.as_str(), name.range, BindingKind::TypeParameter);
                visitor::walk_type_param(walk, param);
            }
        });
        scope
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.visit_decorator(decorator);
        }
        let name = def.name.as_str();
        let is_method = self.found.scopes.kind(self.scope) == ScopeKind::Class;
        let kind = if is_method { DeclarationKind::Method } else { DeclarationKind::Function };
        self.simple_name(def.name.range, Role::Definition);
        let decorated_with = |names: &[&str]| {
            def.decorator_list.iter().filter_map(|d| last_name(&d.expression)).any(|name| names.contains(&name))
        };
        let is_static = decorated_with(&["staticmethod"]);
        let is_property = decorated_with(&["property", "cached_property"]);
        let is_dispatcher = decorated_with(&["singledispatch", "singledispatchmethod"]);
        let registered = def.decorator_list.iter().filter_map(|d| registering(&d.expression));
        let registered_with = registered.map(|name| self.span(name).start()).collect();
        let parameters = self.span(def.parameters.range());
        let declaration = self.declare(name, def.name.range, kind);
        declaration.parameters = Some(parameters);
        declaration.is_static = is_static;
        declaration.is_property = is_property;
        declaration.is_dispatcher = is_dispatcher;
        declaration.registered_with = registered_with;
        let qualname = declaration.qualname.clone();
        self.defaults(&def.parameters);
        let outer = self.type_parameters(def.type_params.as_deref(), name);
        self.in_scope(outer, |walk| {
            for parameter in &*def.parameters {
                if let Some(annotation) = parameter.annotation() {
                    walk.visit_annotation(annotation);
                }
            }
            if let Some(returns) = &def.returns {
                walk.visit_annotation(returns);
            }
        });
        self.bind(name, def.name.range, BindingKind::Function);
        let body = self.found.scopes.push(ScopeKind::Function, outer, Some(name));
        self.in_scope(body, |walk| {
            walk.parameters(&def.parameters, Some(&qualname));
            walk.docstring(&def.body);
            walk.collect_globals(&def.body);
            walk.visit_body(&def.body);
        });
        if is_method {
            self.instance_attributes(def, &qualname);
        }
    }

    /// `global` and `nonlocal` count for the whole function or class body, also before the statement.
    fn collect_globals(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Global(global) => {
                    let names: Vec<String> = global.names.iter().map(|n| n.as_str().to_owned()).collect();
                    self.found.scopes.get_mut(self.scope).globals.extend(names);
                }
                Stmt::Nonlocal(nonlocal) => {
                    let names: Vec<String> = nonlocal.names.iter().map(|n| n.as_str().to_owned()).collect();
                    self.found.scopes.get_mut(self.scope).nonlocals.extend(names);
                }
                Stmt::If(s) => {
                    self.collect_globals(&s.body);
                    for clause in &s.elif_else_clauses {
                        self.collect_globals(&clause.body);
                    }
                }
                Stmt::For(s) => {
                    self.collect_globals(&s.body);
                    self.collect_globals(&s.orelse);
                }
                Stmt::While(s) => {
                    self.collect_globals(&s.body);
                    self.collect_globals(&s.orelse);
                }
                Stmt::With(s) => self.collect_globals(&s.body),
                Stmt::Try(s) => {
                    self.collect_globals(&s.body);
                    for ast::ExceptHandler::ExceptHandler(handler) in &s.handlers {
                        self.collect_globals(&handler.body);
                    }
                    self.collect_globals(&s.orelse);
                    self.collect_globals(&s.finalbody);
                }
                Stmt::Match(s) => {
                    for case in &s.cases {
                        self.collect_globals(&case.body);
                    }
                }
                _ => {}
            }
        }
    }

    fn defaults(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    fn parameters(&mut self, parameters: &ast::Parameters, function: Option<&[String]>) {
        for parameter in parameters {
            let name = parameter.name();
            self.simple_name(name.range, Role::Parameter);
            self.bind(name.as_str(), name.range, BindingKind::Parameter);
            if let Some(function) = function {
                let mut qualname = function.to_vec();
                qualname.push(name.as_str().to_owned());
                self.declare_as(qualname, name.range, DeclarationKind::Parameter, self.scope);
            } else {
                // A lambda has no name that its parameter could be asked for by.
                self.declare(name.as_str(), name.range, DeclarationKind::Variable);
            }
        }
    }

    /// `self.x = …` declares the attribute `Class.x`.
    fn instance_attributes(&mut self, def: &ast::StmtFunctionDef, method: &[String]) {
        let Some(receiver) = def.parameters.iter().next().map(|p| p.name().as_str().to_owned()) else { return };
        let Some((_, class)) = method.split_last() else { return };
        let mut targets = SelfTargets { receiver: &receiver, found: Vec::new() };
        targets.visit_body(&def.body);
        for (name, range) in targets.found {
            let mut qualname = class.to_vec();
            qualname.push(name);
            self.declare_as(qualname, range, DeclarationKind::Attribute, self.scope);
        }
    }

    fn class(&mut self, def: &ast::StmtClassDef) {
        for decorator in &def.decorator_list {
            self.visit_decorator(decorator);
        }
        let name = def.name.as_str();
        self.simple_name(def.name.range, Role::Definition);
        let bases = def.arguments.as_deref().map_or(&[][..], |arguments| &arguments.args);
        let named = bases.iter().filter_map(last_name_range).map(|range| self.span(range).start()).collect();
        let is_protocol = bases.iter().any(|base| last_name(base) == Some("Protocol"));
        let declaration = self.declare(name, def.name.range, DeclarationKind::Class);
        declaration.is_protocol = is_protocol;
        declaration.bases = named;
        let outer = self.type_parameters(def.type_params.as_deref(), name);
        let arguments = def.arguments.as_deref();
        self.in_scope(outer, |walk| {
            let Some(arguments) = arguments else { return };
            let header = TextRange::new(def.name.range.start(), arguments.range.end());
            let header = walk.class_header(header);
            for base in &arguments.args {
                let named = if let Expr::Subscript(subscript) = base { &*subscript.value } else { base };
                walk.expect_use(named, Usage::Base, header);
                if base.is_subscript_expr() {
                    walk.type_expression(base);
                } else {
                    walk.visit_expr(base);
                }
            }
            arguments.keywords.iter().for_each(|keyword| walk.visit_keyword(keyword));
        });
        let body = self.found.scopes.push(ScopeKind::Class, outer, Some(name));
        self.in_scope(body, |walk| {
            walk.docstring(&def.body);
            walk.collect_globals(&def.body);
            walk.visit_body(&def.body);
        });
        self.bind(name, def.name.range, BindingKind::Class);
    }

    /// From the `class` keyword to the end of the bases.
    fn class_header(&self, from_name: TextRange) -> TextRange {
        let before = self.source.get(..from_name.start().to_usize()).unwrap_or_default();
        match before.rfind("class").and_then(|at| TextSize::try_from(at).ok()) {
            Some(start) => TextRange::new(start, from_name.end()),
            None => from_name,
        }
    }

    fn import(&mut self, import: &ast::StmtImport) {
        for alias in &import.names {
            self.module_tokens(alias.name.range, import.range);
            let target = ImportRef { level: 0, module: despaced(alias.name.as_str()), name: None };
            self.import_clause(alias, target, import.range, alias.name.range);
        }
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) {
        if let Some(module) = &import.module {
            self.module_tokens(module.range, import.range);
        }
        for alias in &import.names {
            let module = import.module.as_ref().map_or_else(String::new, |m| despaced(m.as_str()));
            let level = usize::try_from(import.level).expect("a usize holds 32 bits");
            let target = ImportRef { level, module, name: Some(alias.name.as_str().to_owned()) };
            if alias.name.as_str() != "*" {
                self.name(alias.name.range, Role::ImportName, usage_of_import(alias), self.span(import.range));
            }
            self.import_clause(alias, target, import.range, alias.name.range);
        }
    }

    fn import_clause(&mut self, alias: &ast::Alias, target: ImportRef, statement: TextRange, name: TextRange) {
        let star = target.name.as_deref() == Some("*");
        if let Some(asname) = &alias.asname {
            self.name(asname.range, Role::ImportAlias, usage_of_import(alias), self.span(statement));
        }
        let clause = ImportClause {
            target: target.clone(),
            statement: self.span(statement),
            name: self.span(name),
            alias: alias.asname.as_ref().map(|a| (a.as_str().to_owned(), self.span(a.range))),
            scope: self.found.scopes.binding_scope(self.scope, alias.asname.as_ref().map_or("", |a| a.as_str())),
            star,
        };
        if !star {
            let bound = clause.bound_name().to_owned();
            let token = alias.asname.as_ref().map_or(name, |a| a.range);
            self.bind(&bound, token, BindingKind::Import(target));
        }
        self.found.imports.push(clause);
    }

    /// The components of a dotted module name, each a token of its own.
    fn module_tokens(&mut self, range: TextRange, statement: TextRange) {
        let start = range.start().to_usize();
        let Some(text) = self.source.get(start..range.end().to_usize()) else { return };
        let mut at = 0;
        for part in text.split('.') {
            let lead = part.len() - part.trim_start().len();
            let from = start + at + lead;
            let Some(place) = text_range(from, from + part.trim().len()).map(|range| self.span(range)) else { return };
            let token = self.token(place, Role::ImportModule, Usage::Import, self.span(statement));
            self.found.names.insert(place.start(), token);
            at += part.len() + 1;
        }
    }

    fn assigned_alias(&mut self, target: &Expr, value: &Expr) {
        let Expr::Name(name) = target else { return };
        let value = match value {
            Expr::Name(value) => value.range,
            Expr::Attribute(value) => value.attr.range,
            _ => return,
        };
        let scope = self.found.scopes.binding_scope(self.scope, name.id.as_str());
        self.found.assigned_aliases.push(AssignedAlias { name: self.span(name.range), value: self.span(value), scope });
    }

    /// What a module imports and lists in `__all__` it exports.
    fn note_reexports(&mut self) {
        let text = |place: ByteSpan| self.source.get(place.range());
        let exported = self.found.names.values().filter(|token| token.usage == Usage::Export);
        let exported: BTreeSet<&str> = exported.filter_map(|token| text(token.span)).collect();
        let clauses = self.found.imports.iter().filter(|clause| clause.scope == ScopeId::MODULE);
        let reexports = clauses.filter(|clause| exported.contains(clause.bound_name()));
        for clause in reexports {
            let alias = clause.alias.as_ref().map(|(_, place)| *place);
            for place in alias.into_iter().chain([clause.name]) {
                if let Some(token) = self.found.names.get_mut(&place.start())
                    && token.role != Role::ImportModule
                {
                    token.usage = Usage::ReExport;
                }
            }
        }
    }

    /// The types in the comments of a statement: on its lines, and not inside a statement of its body.
    fn types_in_comments(&mut self, statement: TextRange) {
        let statement = span(statement);
        let rest = self.source.get(statement.end().get()..).unwrap_or_default();
        let line_end = statement.end().get() + rest.find(['\n', '\r']).unwrap_or(rest.len());
        let first = self.type_comments.partition_point(|place| place.start() < statement.start());
        let last = self.type_comments.partition_point(|place| place.start().get() < line_end);
        let mine: Vec<ByteSpan> = self.type_comments.drain(first..last.max(first)).collect();
        for place in mine {
            self.type_in_comment(place);
        }
    }

    /// A type, or the types of a function's parameters and of what it returns: `(int, *str) -> K`.
    fn type_in_comment(&mut self, content: ByteSpan) {
        let text = self.source.get(content.range()).unwrap_or_default();
        let parts = text.split_once("->").map_or_else(|| vec![text], |(given, returned)| vec![given, returned]);
        let mut at = content.start().get();
        let within = std::mem::replace(&mut self.within, Within::Text);
        let annotation = self.annotation.replace(content);
        for part in parts {
            let start = at + part.len() - part.trim_start().len();
            at += part.len() + "->".len();
            let Some(range) = text_range(start, start + part.trim().len()) else { continue };
            if let Ok(parsed) = parse_expression_range(self.source, range) {
                self.type_expression(parsed.expr());
            }
        }
        self.annotation = annotation;
        self.within = within;
    }

    fn comprehension_scope(&mut self, generators: &[ast::Comprehension], walk_rest: impl FnOnce(&mut Self)) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let scope = self.found.scopes.push(ScopeKind::Comprehension, self.scope, None);
        self.in_scope(scope, |walk| {
            for (index, generator) in generators.iter().enumerate() {
                if index > 0 {
                    walk.visit_expr(&generator.iter);
                }
                walk.visit_expr(&generator.target);
                for condition in &generator.ifs {
                    walk.visit_expr(condition);
                }
            }
            walk_rest(walk);
        });
    }

    /// A walrus inside a comprehension binds in the function around it.
    fn walrus_scope(&self) -> ScopeId {
        let mut scope = self.scope;
        while self.found.scopes.get(scope).kind == ScopeKind::Comprehension {
            match self.found.scopes.get(scope).parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        scope
    }

    fn plain_name(&mut self, name: &ast::ExprName) {
        let role = match name.ctx {
            ExprContext::Load | ExprContext::Invalid => Role::Load,
            ExprContext::Store => Role::Store,
            ExprContext::Del => Role::Delete,
        };
        let (usage, region) = self.used_as(name.range, Usage::Value);
        self.name(name.range, role, usage, region);
        match role {
            Role::Store => self.bind_variable(name.id.as_str(), name.range),
            Role::Delete => self.bind(name.id.as_str(), name.range, BindingKind::Deleted),
            _ => {}
        }
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute) {
        let stored = matches!(attribute.ctx, ExprContext::Store);
        let otherwise = if stored { Usage::AttributeAssignment } else { Usage::Value };
        let (usage, region) = self.used_as(attribute.range, otherwise);
        let role = if stored { Role::AttributeStore } else { Role::AttributeLoad };
        self.name(attribute.attr.range, role, usage, region);
        let receiver = self.span(attribute.value.range());
        if let Some(token) = self.found.names.get_mut(&self.places.span(attribute.attr.range).start()) {
            token.receiver = Some(receiver);
        }
        self.visit_expr(&attribute.value);
    }

    fn call(&mut self, call: &ast::ExprCall) {
        self.strings_added_to_all(call);
        self.expect_use(&call.func, Usage::Call, call.range());
        let callee = last_name(&call.func).map(str::to_owned);
        let values = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        for argument in call.arguments.args.iter().chain(values) {
            self.plain_string(argument, &StringUse::Argument(callee.clone()));
        }
        self.key_in_call(call);
        self.visit_expr(&call.func);
        let types = type_arguments(callee.as_deref(), &call.arguments);
        let owner = self.copied(call);
        self.outside_annotation(|walk| {
            for argument in &call.arguments.args {
                walk.argument(argument, &types);
            }
            for keyword in &call.arguments.keywords {
                walk.label(keyword, owner);
                walk.argument(&keyword.value, &types);
            }
        });
    }

    /// A type, as in an annotation, or any value.
    fn argument(&mut self, argument: &Expr, types: &[TextRange]) {
        if types.contains(&argument.range()) {
            self.visit_annotation(argument);
        } else {
            self.visit_expr(argument);
        }
    }

    fn label(&mut self, keyword: &ast::Keyword, owner: Option<Owner>) {
        if let Some(label) = &keyword.arg {
            self.field_label(label.range, keyword.range, owner);
        }
    }

    fn quoted_annotation(&mut self, literal: &ast::ExprStringLiteral) {
        // An implicitly concatenated string has no one place for each of its names.
        let [part] = literal.value.as_slice() else { return };
        // Behind an escape, a place in the value isn't one in the source.
        if self.source.get(span(part.content_range()).range()) != Some(&*part.value) {
            return;
        }
        let content = self.span(part.content_range());
        let Ok(parsed) = parse_string_annotation(self.source, part) else { return };
        let annotation = self.annotation.replace(content);
        let quoted = self.within.max(Within::QuotedAnnotation);
        let within = std::mem::replace(&mut self.within, quoted);
        self.visit_expr(parsed.expr());
        self.within = within;
        self.annotation = annotation;
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Global(ast::StmtGlobal { names, .. }) | Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) => {
                for name in names {
                    self.name(name.range, Role::Declared, Usage::ScopeDeclaration, self.span(name.range));
                    let scope = self.found.scopes.binding_scope(self.scope, name.as_str());
                    self.bind_in(scope, name.as_str(), name.range, BindingKind::Declared);
                }
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.listed_strings(target, &assign.value);
                    self.repeated_name(target, &assign.value);
                    self.assigned_alias(target, &assign.value);
                }
                visitor::walk_stmt(self, stmt);
            }
            Stmt::AugAssign(assign) => {
                self.listed_strings(&assign.target, &assign.value);
                visitor::walk_stmt(self, stmt);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.listed_strings(&assign.target, value);
                    self.repeated_name(&assign.target, value);
                    self.assigned_alias(&assign.target, value);
                }
                match &assign.value {
                    Some(value) if last_name(&assign.annotation) == Some("TypeAlias") => {
                        self.visit_annotation(&assign.annotation);
                        self.visit_annotation(value);
                        self.visit_expr(&assign.target);
                    }
                    _ => visitor::walk_stmt(self, stmt),
                }
                if let Some(Expr::Dict(dict)) = assign.value.as_deref() {
                    self.keys_of(dict, &assign.target);
                }
            }
            Stmt::TypeAlias(alias) => {
                let Expr::Name(name) = &*alias.name else { return };
                self.simple_name(name.range, Role::Store);
                self.declare(name.id.as_str(), name.range, DeclarationKind::TypeAlias);
                self.bind(name.id.as_str(), name.range, BindingKind::Variable);
                let scope = self.type_parameters(alias.type_params.as_deref(), name.id.as_str());
                self.in_scope(scope, |walk| walk.visit_annotation(&alias.value));
            }
            Stmt::If(s) => self.if_statement(s),
            Stmt::Try(s) => self.try_statement(s),
            Stmt::Match(s) => self.match_statement(s),
            Stmt::For(s) => {
                self.visit_expr(&s.iter);
                let at = self.span(s.range);
                self.in_arm(arm(at, 0, 2, Fork::Loop), |walk| walk.visit_expr(&s.target));
                self.loop_bodies(s.range, &s.body, &s.orelse);
            }
            Stmt::While(s) => {
                self.visit_expr(&s.test);
                self.loop_bodies(s.range, &s.body, &s.orelse);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }
}

impl<'a> Visitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.statement(stmt);
        if !self.type_comments.is_empty() {
            self.types_in_comments(stmt.range());
        }
    }

    fn visit_annotation(&mut self, expr: &'a Expr) {
        let outer = self.annotation.replace(self.span(expr.range()));
        self.type_expression(expr);
        self.annotation = outer;
    }

    fn visit_decorator(&mut self, decorator: &'a ast::Decorator) {
        let region = decorator.expression.range();
        let decorating = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            expression => expression,
        };
        self.expect_use(decorating, Usage::Decorator, region);
        if let Expr::Attribute(accessor) = &decorator.expression
            && matches!(accessor.attr.as_str(), "setter" | "deleter" | "getter")
        {
            self.expect_use(&accessor.value, Usage::Accessor, accessor.value.range());
        }
        self.visit_expr(&decorator.expression);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.plain_name(name),
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Call(call) => self.call(call),
            Expr::StringLiteral(literal) if self.in_type => self.quoted_annotation(literal),
            Expr::StringLiteral(literal) => self.dotted_string(literal),
            Expr::Subscript(subscript) if self.in_type || is_type_form(&subscript.value) => {
                self.visit_expr(&subscript.value);
                self.type_parameters_given(last_name(&subscript.value), &subscript.slice);
            }
            Expr::Subscript(subscript) => {
                self.plain_key(&subscript.slice);
                self.key(&subscript.slice, None);
                visitor::walk_expr(self, expr);
            }
            Expr::Dict(dict) => {
                dict.items.iter().filter_map(|item| item.key.as_ref()).for_each(|key| self.plain_key(key));
                visitor::walk_expr(self, expr);
            }
            Expr::Compare(compare) => {
                self.key_looked_for(compare);
                visitor::walk_expr(self, expr);
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                let scope = self.found.scopes.push(ScopeKind::Function, self.scope, None);
                // A lambda's body is a function's: it can't see the class around it, and a walrus binds in it.
                self.in_scope(scope, |walk| {
                    if let Some(parameters) = &lambda.parameters {
                        walk.parameters(parameters, None);
                    }
                    walk.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(c) => self.comprehension_scope(&c.generators, |walk| walk.visit_expr(&c.elt)),
            Expr::SetComp(c) => self.comprehension_scope(&c.generators, |walk| walk.visit_expr(&c.elt)),
            Expr::Generator(c) => self.comprehension_scope(&c.generators, |walk| walk.visit_expr(&c.elt)),
            Expr::DictComp(c) => self.comprehension_scope(&c.generators, |walk| {
                if let Some(key) = &c.key {
                    walk.visit_expr(key);
                }
                walk.visit_expr(&c.value);
            }),
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    self.simple_name(name.range, Role::Store);
                    let scope = self.walrus_scope();
                    let scope = self.found.scopes.binding_scope(scope, name.id.as_str());
                    self.bind_variable_in(scope, name.id.as_str(), name.range);
                }
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_keyword(&mut self, keyword: &'a ast::Keyword) {
        self.label(keyword, None);
        self.visit_expr(&keyword.value);
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(type_) = &handler.type_ {
            self.visit_expr(type_);
        }
        if let Some(name) = &handler.name {
            self.simple_name(name.range, Role::Store);
            self.bind_variable(name.as_str(), name.range);
        }
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        let captured = match pattern {
            ast::Pattern::MatchAs(p) => p.name.as_ref(),
            ast::Pattern::MatchStar(p) => p.name.as_ref(),
            ast::Pattern::MatchMapping(p) => p.rest.as_ref(),
            ast::Pattern::MatchClass(_)
            | ast::Pattern::MatchOr(_)
            | ast::Pattern::MatchSequence(_)
            | ast::Pattern::MatchSingleton(_)
            | ast::Pattern::MatchValue(_) => None,
        };
        if let Some(name) = captured {
            self.simple_name(name.range, Role::Store);
            self.bind_variable(name.as_str(), name.range);
        }
        if let ast::Pattern::MatchClass(class) = pattern {
            self.class_pattern_labels(class);
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// `self.x` stores in a method's own body.
struct SelfTargets<'r> {
    receiver: &'r str,
    found: Vec<(String, TextRange)>,
}

impl<'a> Visitor<'a> for SelfTargets<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::ClassDef(_)) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && matches!(attribute.ctx, ExprContext::Store)
            && let Expr::Name(receiver) = &*attribute.value
            && receiver.id.as_str() == self.receiver
        {
            self.found.push((attribute.attr.as_str().to_owned(), attribute.attr.range));
        }
        visitor::walk_expr(self, expr);
    }
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Subscript(subscript) => last_name(&subscript.value),
        _ => None,
    }
}

fn last_name_range(expr: &Expr) -> Option<TextRange> {
    match expr {
        Expr::Name(name) => Some(name.range),
        Expr::Attribute(attribute) => Some(attribute.attr.range),
        Expr::Subscript(subscript) => last_name_range(&subscript.value),
        _ => None,
    }
}

/// The name `f` in the decorator `f.register` or `f.register(…)`.
fn registering(decorator: &Expr) -> Option<TextRange> {
    match decorator {
        Expr::Call(call) => registering(&call.func),
        Expr::Attribute(attribute) if attribute.attr.as_str() == "register" => last_name_range(&attribute.value),
        _ => None,
    }
}

/// Whether what stands in brackets behind it can only be types.
fn is_type_form(expr: &Expr) -> bool {
    last_name(expr).is_some_and(|name| TYPE_FORMS.contains(&name))
}

/// The arguments of `cast`, `TypeVar` and `NewType` that are types, and may be quoted.
fn type_arguments(callee: Option<&str>, arguments: &ast::Arguments) -> Vec<TextRange> {
    let positions = match callee {
        Some("cast") => 0..1,
        Some("NewType") => 1..2,
        Some("TypeVar") => 1..usize::MAX,
        _ => return Vec::new(),
    };
    let positional =
        arguments.args.iter().enumerate().filter(|(at, _)| positions.contains(at)).map(|(_, arg)| arg.range());
    let is_type = |keyword: &&ast::Keyword| {
        keyword.arg.as_ref().is_some_and(|label| matches!(label.as_str(), "typ" | "tp" | "bound" | "default"))
    };
    positional.chain(arguments.keywords.iter().filter(is_type).map(|keyword| keyword.value.range())).collect()
}

fn usage_of_import(alias: &ast::Alias) -> Usage {
    let keeps_name = alias.asname.as_ref().is_some_and(|asname| asname.as_str() == alias.name.as_str());
    if keeps_name { Usage::ReExport } else { Usage::Import }
}

fn text_range(start: usize, end: usize) -> Option<TextRange> {
    Some(TextRange::new(TextSize::try_from(start).ok()?, TextSize::try_from(end).ok()?))
}

fn arm(statement: ByteSpan, number: usize, of: usize, fork: Fork) -> Arm {
    Arm { statement: statement.start().get(), number, of, fork, leaves: false }
}

/// Whether nothing behind the statement runs after these.
fn leaves(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Return(_) | Stmt::Raise(_)))
}

/// `a . b` is the module `a.b`.
fn despaced(dotted: &str) -> String {
    dotted.split('.').map(str::trim).collect::<Vec<_>>().join(".")
}
