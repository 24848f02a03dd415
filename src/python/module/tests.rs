//! Scopes and roles, one rule of the language a line.

use super::*;
use crate::python::{BindingKind, ScopeKind};

fn parse(code: &str) -> (SourceText, Module) {
    let source = SourceText::from_text(code);
    let module = Module::parse(&source, false);
    (source, module)
}

/// What the use marked by `«f»` refers to: the line (1-based) of the first binding, or `-` for a builtin.
fn check(marked: &str, expected: &str) {
    let at = marked.find('«').expect("the use is marked");
    let code = marked.replace(['«', '»'], "");
    let (source, module) = parse(&code);
    let token = module.name_at(ByteOffset::new(at)).expect("the mark stands at an identifier");
    let name = source.slice(token.span).unwrap();
    let found = match module.scopes.lookup(token.scope, name) {
        None => "-".to_owned(),
        Some(scope) => {
            let binding = &module.scopes.bindings(scope, name)[0];
            let line = source.position(binding.span.start()).unwrap().line() + 1;
            format!("{line} {:?}", module.scopes.kind(scope))
        }
    };
    assert_eq!(found, expected, "{marked}");
}

#[test]
fn the_innermost_binding_wins() {
    check("def f(): ...\ndef g(f):\n    return «f»", "2 Function");
    check("f = 1\ndef g():\n    f = 2\n    def h():\n        return «f»", "3 Function");
    check("f = 1\ndef g():\n    return «f»\n    f = 2", "4 Function");
}

#[test]
fn class_bodies_are_not_seen_from_methods() {
    check("def f(): ...\nclass K:\n    def f(self): return «f»()", "1 Module");
    check("def f(): ...\nclass K:\n    f = 1\n    g = «f»", "3 Class");
    check("def f(): ...\nclass K:\n    f = 1\n    g = [«f» for _ in ()]", "1 Module");
    check("def f(): ...\nclass K:\n    f = 1\n    g = lambda: «f»", "1 Module");
}

#[test]
fn builtins_have_no_scope() {
    check("def g(): return «len»", "-");
}

#[test]
fn comprehensions_bind_their_own_targets() {
    check("def f(): ...\nx = [«f» for f in ()]", "2 Comprehension");
    check("def f(): ...\nx = [1 for f in «f»]", "1 Module");
    check("def g():\n    [f := 1 for _ in ()]\n    return «f»", "2 Function");
}

#[test]
fn lambdas_defaults_and_decorators_are_evaluated_outside() {
    check("def f(): ...\ng = lambda f: «f»", "2 Function");
    check("def f(): ...\ng = lambda f=«f»: 1", "1 Module");
    check("def f(): ...\ndef g(f=«f»): ...", "1 Module");
    check("def f(): ...\n@«f»\ndef f(): ...", "1 Module");
}

#[test]
fn captures_handlers_and_imports_bind() {
    check("def f(): ...\ndef g(x):\n    match x:\n        case [f]: «f»", "4 Function");
    check("def g():\n    try: ...\n    except E as f: «f»", "3 Function");
    check("def g():\n    import f.g\n    «f»", "2 Function");
    check("def g():\n    with x as f: «f»", "2 Function");
}

#[test]
fn type_parameters_shadow() {
    check("def f(): ...\ndef g[f](x: «f»): ...", "2 TypeParameters");
    check("class K:\n    T = int\n    def m[U](self, x: «T»): ...", "2 Class");
}

#[test]
fn global_and_nonlocal_reach_out() {
    check("f = 1\ndef g():\n    global f\n    f = 2\n    return «f»", "1 Module");
    check("def g():\n    v = 1\n    def h():\n        nonlocal v\n        v = 2\n        return «v»", "2 Function");
}

#[test]
fn calls_know_their_regions_and_nested_calls_their_own() {
    let (source, module) = parse("f(f(1))\nq.m(a).m(b)\n@f(2)\ndef g(x: 'f'): ...\n");
    let regions: Vec<_> = module
        .names()
        .filter(|token| matches!(token.usage, Usage::Call | Usage::Decorator | Usage::Annotation))
        .map(|token| (token.usage, source.slice(token.region).unwrap(), token.quoted))
        .collect();
    assert_eq!(
        regions,
        [
            (Usage::Call, "f(f(1))", false),
            (Usage::Call, "f(1)", false),
            (Usage::Call, "q.m(a)", false),
            (Usage::Call, "q.m(a).m(b)", false),
            (Usage::Decorator, "f(2)", false),
            (Usage::Annotation, "f", true),
        ]
    );
}

#[test]
fn branches_are_twins_and_a_sequence_is_not() {
    let (_, module) = parse("try:\n    from a import f\nexcept E:\n    f = None\nf = 1\n");
    let bindings = module.scopes.bindings(ScopeId::MODULE, "f");
    assert!(bindings[0].is_twin_of(&bindings[1]));
    assert!(!bindings[0].is_twin_of(&bindings[2]));
    assert!(matches!(bindings[0].kind, BindingKind::Import(_)));
    assert_eq!(module.scopes.kind(ScopeId::MODULE), ScopeKind::Module);
}

#[test]
fn declarations_carry_their_dotted_names() {
    let (_, module) = parse("class K:\n    x: int\n    def m(self, p):\n        self.y = p\nV = 1\ntype A = int\n");
    let names: Vec<_> = module.declarations.iter().map(|d| (d.qualname.join("."), d.kind)).collect();
    assert_eq!(
        names,
        [
            ("K".to_owned(), DeclarationKind::Class),
            ("K.x".to_owned(), DeclarationKind::Attribute),
            ("K.m".to_owned(), DeclarationKind::Method),
            ("K.m.self".to_owned(), DeclarationKind::Parameter),
            ("K.m.p".to_owned(), DeclarationKind::Parameter),
            ("K.y".to_owned(), DeclarationKind::Attribute),
            ("V".to_owned(), DeclarationKind::Variable),
            ("A".to_owned(), DeclarationKind::TypeAlias),
        ]
    );
}

#[test]
fn strings_comments_and_docstrings_are_told_apart() {
    let (source, module) = parse("\"\"\"f\"\"\"\nx = 'f'  # f\ny = f'{f} f'\n");
    let kinds: Vec<_> =
        crate::python::words(source.as_str(), "f").into_iter().map(|word| module.text_around(word)).collect();
    let text = Some;
    // The prefix of the f-string is a word of the text, too.
    let string = text(TextKind::String);
    assert_eq!(kinds, [text(TextKind::Docstring), string, text(TextKind::Comment), string, None, string]);
}

#[test]
fn an_unterminated_string_breaks_the_rest() {
    let (_, module) = parse("f()\nx = '''f\nf()\n");
    assert!(module.broken_from.is_some_and(|at| at.get() >= 4));
}

#[test]
fn a_byte_order_mark_shifts_nothing() {
    let (source, module) = parse("\u{feff}f()\n");
    assert_eq!(source.slice(module.name_at(ByteOffset::new(3)).unwrap().span), Some("f"));
}
