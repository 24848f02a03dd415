//! Scopes and roles, one rule of the language a line.

use super::*;

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
        .map(|token| (token.usage, source.slice(token.region).unwrap(), token.within != Within::Code))
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

/// The lines (from 1) of the bindings of `f` that may count at the last use of `f`.
fn check_reaching(source: &str, expected: &[usize]) {
    let (text, module) = parse(source);
    let is_use = |token: &&NameToken| token.role == Role::Load && text.slice(token.span) == Some("f");
    let token = module.names().filter(is_use).last().expect("the source reads f");
    let scope = module.variable_scope(token, "f").expect("the source binds f");
    let line = |binding: &Binding| text.position(binding.span.start()).expect("it lies in the text").line() + 1;
    let mut lines: Vec<usize> = module.reaching(token, scope, "f").into_iter().map(line).collect();
    lines.sort_unstable();
    assert_eq!(lines, expected, "{source}");
}

#[test]
fn both_arms_may_count_behind_a_statement_and_neither_in_the_other() {
    check_reaching("try:\n from a import f\nexcept E:\n f = None\nf()\n", &[2, 4]);
    check_reaching("if x:\n from a import f\nelse:\n from b import f\n f()\n", &[4]);
    check_reaching("if x:\n from a import f\n f()\nelse:\n from b import f\n", &[2]);
    check_reaching("from a import f\nif x:\n f = 1\nelif y:\n f = 2\nelse:\n f = 3\nf()\n", &[3, 5, 7]);
    check_reaching("from a import f\nif x:\n f = 1\nelif y:\n f = 2\nf()\n", &[1, 3, 5]);
    check_reaching("match x:\n case 1:\n  f = 1\n case _:\n  f = 2\nf()\n", &[3, 5]);
}

#[test]
fn the_last_binding_before_a_use_counts_and_a_function_sees_the_end() {
    check_reaching("from a import f\nfrom b import f\nf()\n", &[2]);
    check_reaching("from a import f\nf = f()\n", &[1]);
    check_reaching("from a import f\ndef g(): return f\nf = 3\n", &[3]);
    check_reaching("from a import f\ndef f(x=f): pass\n", &[1]);
    check_reaching("if x:\n from a import f\n raise E\nelse:\n from b import f\nf()\n", &[5]);
}

#[test]
fn a_loop_sees_what_its_last_turn_bound_and_a_handler_what_a_part_of_the_body_did() {
    check_reaching("f = 1\nfor x in y:\n f()\n f = 2\n", &[1, 4]);
    check_reaching("f = 1\ntry:\n f = 2\n f = 3\nexcept E:\n f()\n", &[1, 3, 4]);
    check_reaching("f = 1\ndel f\ndef g():\n global f\n f = 2\nf()\n", &[1, 5]);
}

#[test]
fn a_class_body_reads_from_outside_what_it_has_not_bound_yet() {
    check_reaching("from a import f\nclass K:\n f = f()\n", &[1]);
    check_reaching("from a import f\nclass K:\n f = 1\n g = f\n", &[3]);
    check_reaching("def g():\n x: f\nclass f: pass\n", &[3]);
    check_reaching("from a import f\nclass K:\n f = 1\n class N:\n  g = f\n", &[1]);
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
