//! The call around a name: its callee, its arguments with their exact spans, and whether two pieces of
//! Python mean the same. What a call should become is deliberately absent: that is the editor's business.
//!
//! Texts come in two layouts. A *module* is a whole file. An *expression* is the text of one region; it is
//! read as if it stood in parentheses, so that a chain over several lines parses.

use std::fmt::Debug;

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::token::{TokenKind, Tokens, parenthesized_range};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{AnyNodeRef, ArgOrKeyword, Expr, ExprCall, ExprRef, ParameterWithDefault, Stmt};
use ruff_python_parser::{parse_expression, parse_module, parse_parenthesized_expression_range};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::text::ByteSpan;

use super::interpolated::{Around, Interpolated};

/// A call expression, all spans relative to the text that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// From the first character of the callee to the closing parenthesis.
    pub(crate) span: ByteSpan,
    /// What stands before the arguments, parentheses around it included.
    pub(crate) callee: ByteSpan,
    pub(crate) callee_form: Form,
    /// The last name of what stands before the callee's last dot: `b` in `a.b.f()`; `None` where there is no such name.
    pub(crate) receiver: Option<String>,
    /// From `(` to `)`, both included.
    pub(crate) parentheses: ByteSpan,
    /// In the order in which they are written.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) trailing_comma: Option<ByteSpan>,
    /// Every comment between the parentheses, nested ones included.
    pub(crate) comments: Vec<ByteSpan>,
    /// The f-strings and t-strings around the call, outermost first.
    pub(crate) strings: Vec<Interpolated>,
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) kind: ArgumentKind,
    /// The whole argument: label, stars and parentheses included.
    pub(crate) span: ByteSpan,
    /// Of the value alone.
    pub(crate) form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Positional,
    /// `*args`
    Starred,
    /// `name=value`
    Keyword(String),
    /// `**kwargs`, with the keys where it is a dictionary display whose keys are all plain strings.
    DoubleStarred(Option<Vec<String>>),
    /// `f(x for x in y)`: a generator without parentheses of its own.
    BareGenerator,
}

/// Stands for a syntax tree: two forms are equal when the trees are, whatever the layout, the quotes or the
/// redundant parentheses of the texts.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Form(String);

impl Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Form")
    }
}

/// A text that isn't the Python it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {at}")]
pub(crate) struct SyntaxFailure {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Finds the call whose callee ends in the name at `name`, in the text of one expression; a leading `@` is
/// passed over. `None` where the name isn't called there.
pub(crate) fn call_in_expression(text: &str, name: ByteSpan) -> Result<Option<Call>, SyntaxFailure> {
    let at_sign = text.len() - text.trim_start().trim_start_matches('@').len();
    let start = if text.trim_start().starts_with('@') { at_sign } else { 0 };
    let range = TextRange::new(size(start), size(text.len()));
    let parsed = parse_parenthesized_expression_range(text, range)?;
    let mut finder = Finder::new(name);
    finder.visit_expr(parsed.expr());
    Ok(finder.found.map(|call| {
        let mut around = Around::new(call.range());
        around.visit_expr(parsed.expr());
        describe(text, parsed.tokens(), call, around.found)
    }))
}

/// Reads a text that is one call and nothing else; `None` where it is another expression.
pub(crate) fn whole_call(text: &str) -> Result<Option<Call>, SyntaxFailure> {
    let parsed = parse_parenthesized_expression_range(text, TextRange::new(size(0), size(text.len())))?;
    let Expr::Call(call) = parsed.expr() else { return Ok(None) };
    Ok(Some(describe(text, parsed.tokens(), call, Vec::new())))
}

/// What [`call_in_expression`] finds, in the text of a whole file. A file that is broken elsewhere is searched all the same.
#[cfg(test)]
pub(crate) fn call_in_module(text: &str, name: ByteSpan) -> Option<Call> {
    use ruff_python_ast::visitor::source_order::walk_module;
    use ruff_python_parser::{Mode, ParseOptions};

    let parsed = ruff_python_parser::parse_unchecked(text, ParseOptions::from(Mode::Module));
    let mut finder = Finder::new(name);
    walk_module(&mut finder, parsed.syntax());
    finder.found.map(|call| {
        let mut around = Around::new(call.range());
        walk_module(&mut around, parsed.syntax());
        describe(text, parsed.tokens(), call, around.found)
    })
}

/// What the text of one expression is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    /// The grammar's name for it, such as `ExprCall`.
    pub(crate) kind: String,
    /// Without white space, comments and parentheses around it.
    pub(crate) span: ByteSpan,
    pub(crate) form: Form,
    /// The comments, as written and in order.
    pub(crate) comments: Vec<String>,
    /// Whether it parses without anything around it that joins its lines.
    pub(crate) stands_alone: bool,
}

/// Reads a text as exactly one expression.
pub(crate) fn expression(text: &str) -> Result<Expression, SyntaxFailure> {
    let parsed = parse_parenthesized_expression_range(text, TextRange::new(size(0), size(text.len())))?;
    let comments = parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
    let comments = comments.filter_map(|token| text.get(token.range().to_std_range())).map(str::to_owned).collect();
    Ok(Expression {
        kind: format!("{:?}", AnyNodeRef::from(parsed.expr()).kind()),
        span: span(parsed.expr().range()),
        form: form(parsed.expr()),
        comments,
        stands_alone: parse_expression(text).is_ok(),
    })
}

/// The form of a text that can stand behind `name=` in a call, on one line.
pub(crate) fn keyword_value(text: &str) -> Result<Form, SyntaxFailure> {
    let failure = |message: &str| SyntaxFailure { at: 0, message: message.to_owned() };
    if text.contains(['\n', '\r']) {
        return Err(failure("a value over several lines"));
    }
    let call = format!("f(x={text})");
    let parsed = parse_expression(&call)?;
    let not_one = || failure("not one value");
    let arguments = parsed.expr().as_call_expr().map(|call| &call.arguments).ok_or_else(not_one)?;
    let is_whole = arguments.range.end() == size(call.len()) && arguments.len() == 1;
    let keyword = arguments.keywords.first().filter(|_| is_whole).ok_or_else(not_one)?;
    Ok(form(&keyword.value))
}

/// Whether an argument can be passed under this name: keywords of the language and `__debug__` can't be assigned.
/// Soft keywords such as `match` can.
pub(crate) fn is_label(name: &str) -> bool {
    let call = format!("f({name}=0)");
    let parsed = parse_expression(&call).ok();
    let keywords = parsed.as_ref().and_then(|parsed| Some(&parsed.expr().as_call_expr()?.arguments.keywords));
    name != "__debug__" && keywords.is_some_and(|keywords| keywords.iter().any(|k| k.arg.as_deref() == Some(name)))
}

/// A call in an example, as much of it as an instruction can vary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExampleCall {
    pub(crate) callee: String,
    /// The labelled arguments, in order.
    pub(crate) keywords: Vec<(String, Form)>,
}

/// Every call in a text of statements; `None` where the text isn't Python or holds anything but expressions
/// and assignments.
pub(crate) fn calls_in_examples(text: &str) -> Option<Vec<ExampleCall>> {
    struct All<'t>(&'t str, Vec<ExampleCall>);
    impl<'a> SourceOrderVisitor<'a> for All<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                let callee = self.0.get(call.func.range().to_std_range()).unwrap_or_default().to_owned();
                let keywords = call.arguments.keywords.iter();
                let labelled = keywords.filter_map(|k| Some((k.arg.as_ref()?.to_string(), form(&k.value))));
                self.1.push(ExampleCall { callee, keywords: labelled.collect() });
            }
            walk_expr(self, expr);
        }
    }
    let parsed = parse_module(text).ok()?;
    if !parsed.syntax().body.iter().all(|stmt| matches!(stmt, Stmt::Expr(_) | Stmt::Assign(_))) {
        return None;
    }
    let mut all = All(text, Vec::new());
    for stmt in &parsed.syntax().body {
        all.visit_stmt(stmt);
    }
    Some(all.1)
}

/// The parameters of a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Those that can be filled by position, in order.
    pub(crate) positional: Vec<Parameter>,
    pub(crate) keyword_only: Vec<String>,
    /// `*args`
    pub(crate) var_positional: bool,
    /// `**kwargs`
    pub(crate) var_keyword: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Stands before `/`, so it can't be passed by name.
    pub(crate) positional_only: bool,
}

impl Parameters {
    /// Whether an argument can be passed to a parameter of this name, `**` aside.
    pub(crate) fn can_be_named(&self, name: &str) -> bool {
        let by_name = |parameter: &Parameter| parameter.name == name && !parameter.positional_only;
        self.positional.iter().any(by_name) || self.keyword_only.iter().any(|parameter| parameter == name)
    }
}

/// Reads a parameter list as written, from `(` to `)`; `None` where it isn't one.
pub(crate) fn parameters(signature: &str) -> Option<Parameters> {
    let definition = format!("def f{signature}: ...");
    let parsed = parse_module(&definition).ok()?;
    let [Stmt::FunctionDef(function)] = parsed.syntax().body.as_slice() else { return None };
    let named = |parameter: &ParameterWithDefault, positional_only| Parameter {
        name: parameter.parameter.name.to_string(),
        positional_only,
    };
    let list = &function.parameters;
    Some(Parameters {
        positional: (list.posonlyargs.iter().map(|p| named(p, true)))
            .chain(list.args.iter().map(|p| named(p, false)))
            .collect(),
        keyword_only: list.kwonlyargs.iter().map(|p| p.parameter.name.to_string()).collect(),
        var_positional: list.vararg.is_some(),
        var_keyword: list.kwarg.is_some(),
    })
}

/// Looks for the call whose callee's last name has one exact span.
struct Finder<'a> {
    name: ByteSpan,
    found: Option<&'a ExprCall>,
}

impl Finder<'_> {
    const fn new(name: ByteSpan) -> Self {
        Self { name, found: None }
    }
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && last_name(&call.func).is_some_and(|range| span(range) == self.name)
        {
            self.found = Some(call);
        }
        if self.found.is_none() {
            walk_expr(self, expr);
        }
    }
}

/// The last name token of a callee: `f` of `f`, `a.f` and `a.f[int]`.
fn last_name(callee: &Expr) -> Option<TextRange> {
    if let Expr::Name(name) = callee {
        Some(name.range)
    } else if let Expr::Attribute(attribute) = callee {
        Some(attribute.attr.range)
    } else if let Expr::Subscript(subscript) = callee {
        last_name(&subscript.value)
    } else {
        None
    }
}

fn describe(text: &str, tokens: &Tokens, call: &ExprCall, strings: Vec<Interpolated>) -> Call {
    let parent = AnyNodeRef::from(&call.arguments);
    let arguments: Vec<Argument> =
        call.arguments.iter_source_order().map(|argument| describe_argument(argument, parent, tokens)).collect();
    let inside = call.arguments.range;
    let in_parentheses: Vec<_> = tokens.iter().filter(|token| inside.contains_range(token.range())).collect();
    let after_last = arguments.last().map(|argument| argument.span.end().get());
    let trailing_comma = after_last.and_then(|end| {
        let mut rest = in_parentheses.iter().filter(|token| token.start() >= size(end) && !token.kind().is_trivia());
        rest.next().filter(|token| token.kind() == TokenKind::Comma).map(|token| span(token.range()))
    });
    let comments = in_parentheses.iter().filter(|token| token.kind() == TokenKind::Comment);
    // Up to the arguments, so that parentheses around the callee are part of it.
    let before = text.get(call.range().start().to_usize()..inside.start().to_usize()).unwrap_or_default();
    let callee =
        ByteSpan::new(call.range().start().to_usize(), call.range().start().to_usize() + before.trim_end().len());
    Call {
        span: span(call.range()),
        callee,
        callee_form: form(&call.func),
        receiver: receiver(&call.func).and_then(|range| text.get(range.to_std_range())).map(str::to_owned),
        parentheses: span(inside),
        arguments,
        trailing_comma,
        comments: comments.map(|token| span(token.range())).collect(),
        strings,
    }
}

fn receiver(callee: &Expr) -> Option<TextRange> {
    if let Expr::Attribute(attribute) = callee {
        last_name(&attribute.value)
    } else if let Expr::Subscript(subscript) = callee {
        receiver(&subscript.value)
    } else {
        None
    }
}

fn describe_argument(argument: ArgOrKeyword<'_>, parent: AnyNodeRef<'_>, tokens: &Tokens) -> Argument {
    let own = |expr: &Expr| parenthesized_range(ExprRef::from(expr), parent, tokens).unwrap_or_else(|| expr.range());
    match argument {
        ArgOrKeyword::Keyword(keyword) => Argument {
            kind: keyword.arg.as_ref().map_or_else(
                || ArgumentKind::DoubleStarred(keys_of(&keyword.value)),
                |name| ArgumentKind::Keyword(name.to_string()),
            ),
            span: span(keyword.range),
            form: form(&keyword.value),
        },
        ArgOrKeyword::Arg(Expr::Starred(starred)) => {
            Argument { kind: ArgumentKind::Starred, span: span(starred.range), form: form(&starred.value) }
        }
        ArgOrKeyword::Arg(Expr::Generator(generator)) if !generator.parenthesized => Argument {
            kind: ArgumentKind::BareGenerator,
            // The node of a bare generator takes in the call's own parentheses.
            span: ByteSpan::new(
                generator.elt.start().to_usize().min(own(&generator.elt).start().to_usize()),
                end_of_generator(generator.range, parent, tokens),
            ),
            form: form(argument.value()),
        },
        ArgOrKeyword::Arg(expr) => Argument { kind: ArgumentKind::Positional, span: span(own(expr)), form: form(expr) },
    }
}

/// The end of the last token before the closing parenthesis of the call.
fn end_of_generator(generator: TextRange, parent: AnyNodeRef<'_>, tokens: &Tokens) -> usize {
    let close = parent.end() - TextSize::new(1);
    let mut inside = tokens.iter().filter(|token| token.end() <= close && !token.kind().is_trivia());
    inside.next_back().map_or(generator.end(), Ranged::end).to_usize()
}

/// The keys of a dictionary display, if each is a plain string.
fn keys_of(value: &Expr) -> Option<Vec<String>> {
    let Expr::Dict(dict) = value else { return None };
    let key = |key: Option<&Expr>| Some(key?.as_string_literal_expr()?.value.to_str().to_owned());
    dict.items.iter().map(|item| key(item.key.as_ref())).collect()
}

fn form(expr: &Expr) -> Form {
    Form(format!("{:?}", ComparableExpr::from(expr)))
}

fn size(offset: usize) -> TextSize {
    TextSize::try_from(offset).expect("a Python file is shorter than 4 GiB")
}

fn span(range: TextRange) -> ByteSpan {
    ByteSpan::new(range.start().to_usize(), range.end().to_usize())
}

impl From<ruff_python_parser::ParseError> for SyntaxFailure {
    fn from(error: ruff_python_parser::ParseError) -> Self {
        Self { at: error.location.start().to_usize(), message: error.error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The call at the n-th occurrence of `name` in `text`, read as a whole file or as an expression.
    fn nth(text: &str, name: &str, n: usize) -> ByteSpan {
        let (at, _) = text.match_indices(name).nth(n).unwrap();
        ByteSpan::new(at, at + name.len())
    }

    fn slice(text: &str, span: ByteSpan) -> &str {
        text.get(span.range()).unwrap()
    }

    fn in_both(text: &str, name: &str, n: usize) -> Call {
        let call = call_in_module(text, nth(text, name, n)).unwrap();
        let region = slice(text, call.span);
        let inside = nth(text, name, n).relative_to(call.span.start());
        let alone = call_in_expression(region, inside).unwrap().unwrap();
        assert_eq!(alone.parentheses.shifted(call.span.start()), call.parentheses, "{text}");
        let shifted: Vec<_> = alone.arguments.iter().map(|a| a.span.shifted(call.span.start())).collect();
        assert_eq!(shifted, call.arguments.iter().map(|a| a.span).collect::<Vec<_>>(), "{text}");
        call
    }

    /// Kinds and texts of the arguments.
    fn arguments(text: &str, name: &str, n: usize) -> Vec<String> {
        let call = in_both(text, name, n);
        let show = |a: &Argument| match &a.kind {
            ArgumentKind::Positional => format!("pos {}", slice(text, a.span)),
            ArgumentKind::Starred => format!("star {}", slice(text, a.span)),
            ArgumentKind::Keyword(name) => format!("{name}: {}", slice(text, a.span)),
            ArgumentKind::DoubleStarred(_) => format!("double {}", slice(text, a.span)),
            ArgumentKind::BareGenerator => format!("gen {}", slice(text, a.span)),
        };
        call.arguments.iter().map(show).collect()
    }

    #[test]
    fn arguments_have_their_exact_spans() {
        let table: &[(&str, &[&str])] = &[
            ("f()", &[]),
            ("f(a)", &["pos a"]),
            ("f((a))", &["pos (a)"]),
            ("f(((a)), (b), )", &["pos ((a))", "pos (b)"]),
            ("f(*a, **k)", &["star *a", "double **k"]),
            ("f(*(a), x=(1), **(k))", &["star *(a)", "x: x=(1)", "double **(k)"]),
            ("f(x=1, *a)", &["x: x=1", "star *a"]),
            ("f(x for x in y)", &["gen x for x in y"]),
            ("f( (x) for x in (y) )", &["gen (x) for x in (y)"]),
            ("f((x for x in y))", &["pos (x for x in y)"]),
            ("f(lambda a, b: a, c)", &["pos lambda a, b: a", "pos c"]),
            ("f(x := 1)", &["pos x := 1"]),
            ("f(\n  a,  # one\n  # two\n  b\n)", &["pos a", "pos b"]),
            ("f('é', \"😀\")", &["pos 'é'", "pos \"😀\""]),
        ];
        for (text, expected) in table {
            assert_eq!(arguments(text, "f", 0), *expected, "{text}");
        }
    }

    #[test]
    fn the_call_is_the_one_whose_callee_ends_in_the_name() {
        let table = [
            ("f(f(1))", "f", 0, "f(f(1))"),
            ("f(f(1))", "f", 1, "f(1)"),
            ("q.m(a).m(b)", "m", 0, "q.m(a)"),
            ("q.m(a).m(b)", "m", 1, "q.m(a).m(b)"),
            ("x = (q\n  .m(a)  # c\n  .m(b))", "m", 1, "q\n  .m(a)  # c\n  .m(b)"),
            ("async def g():\n  await f(x)", "f", 1, "f(x)"),
            ("f'{f(x)!r:>{f(y)}}'", "f", 1, "f(x)"),
            ("f'{f(x)!r:>{f(y)}}'", "f", 2, "f(y)"),
            ("@f(x)\ndef g(): ...", "f", 0, "f(x)"),
            ("class A(B, metaclass=f(x)): ...", "f", 0, "f(x)"),
            ("K[int](x)", "K", 0, "K[int](x)"),
            ("(f)(x)", "f", 0, "(f)(x)"),
            ("y = [f(i) for i in f(j) if f(k)]", "f", 2, "f(j)"),
        ];
        for (text, name, n, expected) in table {
            let call = call_in_module(text, nth(text, name, n)).map(|c| slice(text, c.span).to_owned());
            assert_eq!(call.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_name_that_is_not_called_has_no_call() {
        for (text, n) in [("@f\ndef g(): ...", 0), ("g(f)", 0), ("f.g(1)", 0), ("partial(f, 1)", 0), ("f", 0)] {
            assert_eq!(call_in_module(text, nth(text, "f", n)), None, "{text}");
        }
    }

    #[test]
    fn a_decorator_may_be_shown_with_its_at_sign() {
        let call = call_in_expression("@f(x)", ByteSpan::new(1, 2)).unwrap().unwrap();
        assert_eq!(call.parentheses, ByteSpan::new(2, 5));
        assert_eq!(call_in_expression("@f", ByteSpan::new(1, 2)), Ok(None));
    }

    #[test]
    fn a_broken_file_is_searched_and_a_broken_region_is_not() {
        assert!(call_in_module("def g(:\n  pass\nf(1)\n", ByteSpan::new(15, 16)).is_some());
        for text in ["f(", "f(x))", "f(x)) + (f(y)", "f(x) f(y)", ""] {
            assert!(call_in_expression(text, ByteSpan::new(0, 1)).is_err(), "{text}");
        }
    }

    #[test]
    fn trailing_commas_comments_and_quotes_are_found() {
        let text = "f(a, # one\n  g(b, # two\n  ),\n)";
        let call = in_both(text, "f", 0);
        assert_eq!(call.trailing_comma.map(|s| slice(text, s)), Some(","));
        assert_eq!(call.comments.iter().map(|&s| slice(text, s)).collect::<Vec<_>>(), ["# one", "# two"]);
        let quoted = "rf'''{f\"{k(x)}\"} {k(y)}'''";
        let quotes = |n| {
            let call = call_in_module(quoted, nth(quoted, "k", n)).unwrap();
            call.strings.into_iter().map(|string| string.quote).collect::<Vec<_>>()
        };
        assert_eq!(quotes(0), ["'''", "\""]);
        assert_eq!(quotes(1), ["'''"]);
    }

    #[test]
    fn forms_are_equal_when_the_trees_are() {
        let same =
            [("{'a': 1}", "{ \"a\":1, }"), ("(x)", "x"), ("f(a,b)", "f(a, b)"), ("0x10", "16"), ("'a' 'b'", "'ab'")];
        for (a, b) in same {
            assert_eq!(expression(a).unwrap().form, expression(b).unwrap().form, "{a} and {b}");
        }
        for (a, b) in [("1", "1.0"), ("True", "'True'"), ("f(a, b)", "f(b, a)"), ("x", "y"), ("b'a'", "'a'")] {
            assert_ne!(expression(a).unwrap().form, expression(b).unwrap().form, "{a} and {b}");
        }
    }

    #[test]
    fn only_one_value_is_a_keyword_value() {
        for value in
            ["True", "-1", "None", "a.b.C", "[1, (2)]", "f(x, y=1)", "'a, b'", "lambda: 0", "{'a': 1}", "(yield)"]
        {
            assert!(keyword_value(value).is_ok(), "{value}");
        }
        for value in ["", "1, y=2", "1)", "1 # c", "x for x in y", "1\n", "*a", "yield", "y := 1", "1) + g(2"] {
            assert!(keyword_value(value).is_err(), "{value}");
        }
    }

    #[test]
    fn words_of_the_language_are_no_labels() {
        for name in ["verbose", "_", "é", "match", "case", "type", "_x1", "print"] {
            assert!(is_label(name), "{name}");
        }
        for name in ["class", "None", "True", "lambda", "async", "await", "__debug__", "1x", "a.b", "", "a=1, b", "*"] {
            assert!(!is_label(name), "{name}");
        }
    }

    #[test]
    fn an_expression_says_what_it_is() {
        let read = expression(" f(x)  # why\n").unwrap();
        assert_eq!((read.kind.as_str(), read.comments.as_slice()), ("ExprCall", ["# why".to_owned()].as_slice()));
        assert_eq!(read.span, ByteSpan::new(1, 5));
        assert_eq!(expression("f(x), y").unwrap().kind, "ExprTuple");
        assert!(!expression("q\n.m()").unwrap().stands_alone);
        assert!(expression("f(x); g(y)").is_err());
    }

    #[test]
    fn a_signature_is_read_as_parameters() {
        let list = parameters("(self, a, /, b: int = 3, *args, verbose=False, **kw)").unwrap();
        let names: Vec<_> = list.positional.iter().map(|p| (p.name.as_str(), p.positional_only)).collect();
        assert_eq!(names, [("self", true), ("a", true), ("b", false)]);
        assert_eq!(
            (list.keyword_only, list.var_positional, list.var_keyword),
            (vec!["verbose".to_owned()], true, true)
        );
        assert_eq!(parameters("(a"), None);
        assert_eq!(parameters("(): pass\ndef g()"), None);
    }

    #[test]
    fn a_dictionary_display_shows_its_keys() {
        let keys = |text: &str| {
            let call = call_in_expression(text, ByteSpan::new(0, 1)).unwrap().unwrap();
            let ArgumentKind::DoubleStarred(keys) = &call.arguments[0].kind else { panic!("{call:?}") };
            keys.clone()
        };
        assert_eq!(keys("f(**{'a': 1})"), Some(vec!["a".to_owned()]));
        assert_eq!(keys("f(**{'a': 1, **k})"), None);
        assert_eq!(keys("f(**k)"), None);
    }
}
