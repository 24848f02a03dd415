//! A scanner of Rust text, just good enough to say which paths a file names: it blanks comments and literals,
//! splits the rest into tokens, and reads paths and `use` trees.
//!
//! It resolves nothing and expands no macro. It uses the standard library alone, so that it can't be wrong in
//! the same way as a crate that it guards.

/// An identifier, `::`, or one other character, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// 1-based, as people count.
    pub(crate) line: usize,
    /// Within an item under `#[cfg(test)]`: it doesn't ship.
    pub(crate) test: bool,
    /// How many inline modules (`mod x { … }`) stand around it.
    pub(crate) inline_modules: usize,
}

/// One path as named in the text; each leaf of a `use` tree is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    pub(crate) test: bool,
    pub(crate) inline_modules: usize,
    /// Whether it stands in a `use`.
    pub(crate) used: bool,
    /// Whether that `use` has a visibility, so that it hands the name on.
    pub(crate) public: bool,
    /// Renamed with `as`.
    pub(crate) alias: Option<String>,
}

/// The tokens of a Rust file, comments and literals left out.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = split(&blank(source));
    mark_tests(&mut tokens);
    mark_inline_modules(&mut tokens);
    tokens
}

/// Every path that the tokens name.
pub(crate) fn paths(tokens: &[Token]) -> Vec<NamedPath> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is(tokens, at, "use") && !is(tokens, at + 1, "<") {
            let public = at > 0 && matches!(tokens[at - 1].text.as_str(), ")" | "pub");
            at = Tree { tokens, used: true, public, found: &mut found }.read(at + 1, &[]);
        } else if starts_path(tokens, at) {
            at = Tree { tokens, used: false, public: false, found: &mut found }.read(at, &[]);
        } else {
            at += 1;
        }
    }
    found
}

fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// An identifier that no `::` or `.` precedes, apart from the `::` of a path from the crate list (`::serde::X`).
fn starts_path(tokens: &[Token], at: usize) -> bool {
    if !is_identifier(&tokens[at].text) || at == 0 {
        return is_identifier(&tokens[at].text);
    }
    match tokens[at - 1].text.as_str() {
        "." => false,
        "::" => at < 2 || !(is_identifier(&tokens[at - 2].text) || tokens[at - 2].text == ">"),
        _ => true,
    }
}

struct Tree<'a> {
    tokens: &'a [Token],
    used: bool,
    public: bool,
    found: &'a mut Vec<NamedPath>,
}

impl Tree<'_> {
    /// Reads the path or `use` tree that starts at `at` and answers where it ends.
    fn read(&mut self, mut at: usize, prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        if is(self.tokens, at, "::") {
            at += 1;
        }
        let first = at;
        loop {
            if self.used && is(self.tokens, at, "{") {
                return self.group(at + 1, &segments);
            }
            let Some(token) = self.tokens.get(at) else { break };
            let star = self.used && token.text == "*";
            if !star && !is_identifier(&token.text) {
                break;
            }
            segments.push(token.text.clone());
            at += 1;
            let goes_on = self.tokens.get(at + 1).is_some_and(|next| {
                is_identifier(&next.text) || (self.used && matches!(next.text.as_str(), "{" | "*"))
            });
            if star || !is(self.tokens, at, "::") || !goes_on {
                break;
            }
            at += 1;
        }
        let alias = (self.used && is(self.tokens, at, "as"))
            .then(|| self.tokens.get(at + 1).map(|token| token.text.clone()))
            .flatten();
        let end = (if alias.is_some() { at + 2 } else { at }).max(first + 1);
        let Some(start) = self.tokens.get(first) else { return end };
        self.found.push(NamedPath {
            segments,
            line: start.line,
            test: start.test,
            inline_modules: start.inline_modules,
            used: self.used,
            public: self.public,
            alias,
        });
        end
    }

    fn group(&mut self, mut at: usize, prefix: &[String]) -> usize {
        while at < self.tokens.len() && !is(self.tokens, at, "}") {
            at = if is(self.tokens, at, ",") { at + 1 } else { self.read(at, prefix) };
        }
        at + 1
    }
}

/// The text with comments and literals turned into spaces; line ends stay.
pub(crate) fn blank(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_literal(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none starts there.
fn end_of_literal(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => end_of_line(chars, at),
        '/' if next == Some('*') => end_of_block_comment(chars, at),
        '"' => end_of_string(chars, at),
        '\'' => end_of_char(chars, at),
        'r' | 'b' | 'c' if at == 0 || !is_word(chars[at - 1]) => end_of_prefixed(chars, at),
        _ => at,
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn end_of_line(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|&c| c == '\n').map_or(chars.len(), |length| at + length)
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(chars.len())
}

/// A string whose opening quote stands at `at`.
fn end_of_string(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != '"' {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

/// A character literal; a lifetime (`'a` without a closing quote) is none.
fn end_of_char(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let from = (at + 3).min(chars.len());
            chars[from..].iter().position(|&c| c == '\'').map_or(chars.len(), |length| from + length + 1)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `c"…"`, `b'…'`; a raw identifier such as `r#type` is none.
fn end_of_prefixed(chars: &[char], start: usize) -> usize {
    let mut at = start;
    while matches!(chars.get(at), Some('r' | 'b' | 'c')) && at < start + 2 {
        at += 1;
    }
    let raw = chars[start..at].contains(&'r');
    let hashes = chars[at..].iter().take_while(|&&c| raw && c == '#').count();
    match chars.get(at + hashes) {
        Some('"') if raw => end_of_raw_string(chars, at + hashes + 1, hashes),
        Some('"') => end_of_string(chars, at),
        Some('\'') if chars[start..at] == ['b'] => end_of_char(chars, at),
        _ => start,
    }
}

fn end_of_raw_string(chars: &[char], from: usize, hashes: usize) -> usize {
    (from..chars.len())
        .find(|&at| chars[at] == '"' && chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes)
        .map_or(chars.len(), |at| at + 1 + hashes)
}

fn split(blanked: &str) -> Vec<Token> {
    let chars: Vec<char> = blanked.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let length = match chars[at] {
            c if is_word(c) => chars[at..].iter().take_while(|&&c| is_word(c)).count(),
            ':' if chars.get(at + 1) == Some(&':') => 2,
            _ => 1,
        };
        if chars[at] == '\n' {
            line += 1;
        } else if !chars[at].is_whitespace() {
            let text = chars[at..at + length].iter().collect();
            tokens.push(Token { text, line, test: false, inline_modules: 0 });
        }
        at += length;
    }
    tokens
}

/// Marks what stands under `#[cfg(test)]`, up to the end of that item.
fn mark_tests(tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        if !(is(tokens, at, "#") && is(tokens, at + 1, "[") && is(tokens, at + 2, "cfg")) {
            at += 1;
            continue;
        }
        let attribute = end_of_brackets(tokens, at + 1);
        let condition = &tokens[at..attribute];
        let test = condition.iter().any(|t| t.text == "test") && !condition.iter().any(|t| t.text == "not");
        if !test {
            at = attribute;
            continue;
        }
        let end = end_of_item(tokens, attribute);
        for token in &mut tokens[at..end] {
            token.test = true;
        }
        at = end;
    }
}

/// Behind the bracket that closes the one at `open`.
fn end_of_brackets(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Behind the item that starts at `at`: its `;`, or the brace that closes its body.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" => {
                let end = end_of_brackets(tokens, at);
                // The braces of `use a::{b, c};` aren't its end.
                return if is(tokens, end, ";") { end + 1 } else { end };
            }
            "[" | "(" => at = end_of_brackets(tokens, at),
            _ => at += 1,
        }
    }
    at
}

fn mark_inline_modules(tokens: &mut [Token]) {
    for at in 0..tokens.len() {
        if is(tokens, at, "mod") && is(tokens, at + 2, "{") {
            let end = end_of_brackets(tokens, at + 2);
            for token in &mut tokens[at + 3..end] {
                token.inline_modules += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let named: Vec<String> = paths(&tokens(source)).iter().map(|path| path.segments.join("::")).collect();
        let named: Vec<&str> = named.iter().map(String::as_str).filter(|path| path.contains("::")).collect();
        assert_eq!(named, expected, "{source}");
    }

    #[test]
    fn a_use_names_its_path() {
        check("use crate::text::Edit;", &["crate::text::Edit"]);
    }

    #[test]
    fn each_leaf_of_a_nested_group_is_a_path() {
        check(
            "use crate::{text::{Edit, units::{ByteSpan}}, plan};",
            &["crate::text::Edit", "crate::text::units::ByteSpan", "crate::plan"],
        );
        check("use {crate::a, super::{super::b, c::*}};", &["crate::a", "super::super::b", "super::c::*"]);
    }

    #[test]
    fn an_alias_is_no_segment() {
        let found = paths(&tokens("use crate::text as t; use crate::{self as root};"));
        assert_eq!(found[0].segments, ["crate", "text"]);
        assert_eq!(found[0].alias.as_deref(), Some("t"));
        assert_eq!((found[1].segments.join("::"), found[1].alias.as_deref()), ("crate::self".into(), Some("root")));
    }

    #[test]
    fn an_inline_path_counts_without_a_use() {
        check(
            "fn f(x: &crate::gate::G) -> Vec<::serde_json::Value> { x.lsp::<a::B>() }",
            &["crate::gate::G", "serde_json::Value", "a::B"],
        );
        check("let v = Vec::<crate::plan::Site>::new();", &["crate::plan::Site"]);
        check("match x { crate::plan::K::A { .. } => tokio::select! {} }", &["crate::plan::K::A", "tokio::select"]);
    }

    #[test]
    fn comments_hold_no_path_even_nested() {
        check("// crate::a::b\n/* crate::c::d /* crate::e::f */ crate::g::h */ crate::i::j", &["crate::i::j"]);
    }

    #[test]
    fn strings_hold_no_path() {
        check(r#"f("crate::a::b \" crate::c::d", b"crate::e::f", crate::g::h)"#, &["crate::g::h"]);
    }

    #[test]
    fn raw_strings_end_at_their_hashes() {
        check("f(r##\"crate::a::b \"# crate::c::d\"##, r\"\\\", br#\"crate::x::y\"#, crate::g::h)", &["crate::g::h"]);
        check("let r#type = crate::a::b;", &["crate::a::b"]);
    }

    #[test]
    fn a_lifetime_is_no_character() {
        check("fn f<'a>(x: &'a crate::a::B) -> char { '\\'' ; '\"'; crate::c::d() }", &["crate::a::B", "crate::c::d"]);
    }

    #[test]
    fn a_visibility_is_no_path() {
        check("pub(crate) fn f() {} pub(in crate::a::b) struct S;", &["crate::a::b"]);
    }

    #[test]
    fn a_use_with_a_visibility_hands_on() {
        let public: Vec<bool> = paths(&tokens("pub(crate) use a::b; use c::d; pub use e::f;"))
            .iter()
            .filter(|p| p.used)
            .map(|p| p.public)
            .collect();
        assert_eq!(public, [true, false, true]);
    }

    #[test]
    fn what_stands_under_cfg_test_is_marked() {
        let source =
            "use a::b;\n#[cfg(test)]\nmod tests { use c::d; }\nuse e::f;\n#[cfg(test)]\nuse g::{h, i};\nuse j::k;";
        let found = paths(&tokens(source));
        let marked: Vec<(String, bool)> =
            found.iter().filter(|p| p.used).map(|p| (p.segments.join("::"), p.test)).collect();
        let marked: Vec<(&str, bool)> = marked.iter().map(|(path, test)| (path.as_str(), *test)).collect();
        assert_eq!(
            marked,
            [("a::b", false), ("c::d", true), ("e::f", false), ("g::h", true), ("g::i", true), ("j::k", false)]
        );
        assert!(!tokens("#[cfg(not(test))] fn f() {}").iter().any(|token| token.test));
    }

    #[test]
    fn inline_modules_are_counted() {
        let found = paths(&tokens("use super::a; mod m { use super::b; mod n { use super::c; } } use super::d;"));
        let depths: Vec<usize> = found.iter().filter(|p| p.used).map(|p| p.inline_modules).collect();
        assert_eq!(depths, [0, 1, 2, 0]);
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let found = paths(&tokens("/* 1\n2 */\nfn f() {\n    \"a\n b\";\n    crate::a::b()\n}"));
        assert_eq!(found.iter().find(|p| p.segments.len() == 3).expect("one path").line, 6);
    }
}
