//! A task's Markdown as sentences of tokens. What a sentence means is deliberately absent.

use crate::plan::SymbolPath;
use crate::python::calls;

/// What one word or one piece of code in a sentence is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, in lower case, and as written.
    Word {
        lower: String,
        written: String,
    },
    /// The symbol itself, or a call of it with its arguments left out: `f`, `m.f`, `f(...)`.
    Symbol,
    /// Another dotted name, or one with a `*` at its end.
    Name(String),
    /// `name=value`
    Assign {
        name: String,
        value: String,
    },
    /// A parameter as a definition has it: `verbose: bool = False`.
    Parameter,
    /// A file or a folder.
    File,
    /// Any other code.
    Code(String),
    Punctuation(char),
}

impl Token {
    pub(super) fn word(written: &str) -> Self {
        Self::Word { lower: written.to_lowercase(), written: written.to_owned() }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word { lower, .. } if lower == word)
    }
}

/// A sentence with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    /// As written, white space collapsed.
    pub(super) text: String,
    /// 1-based line in the prose.
    pub(super) line: usize,
}

/// A piece of the prose: sentences, or the content of a code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Sentence(Sentence),
    Fence { code: String, line: usize },
}

/// Splits Markdown into pieces, in order. Headings and list items are sentences of their own.
pub(super) fn read(prose: &str, symbol: &SymbolPath) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for block in blocks(prose) {
        match block {
            Block::Fence { code, line } => pieces.push(Piece::Fence { code, line }),
            Block::Text { text, line } => {
                pieces.extend(sentences(&text, line, symbol).into_iter().map(Piece::Sentence));
            }
        }
    }
    pieces
}

enum Block {
    Text { text: String, line: usize },
    Fence { code: String, line: usize },
}

/// The blocks of a Markdown text, without the marks of headings, lists and rules.
fn blocks(prose: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut fence: Option<(&str, String, usize)> = None;
    let normalised = prose.replace("\r\n", "\n").replace('\r', "\n");
    for (number, line) in normalised.split('\n').enumerate() {
        let trimmed = line.trim();
        if let Some((mark, code, started)) = &mut fence {
            if trimmed.starts_with(*mark) && trimmed.trim_start_matches(['`', '~']).is_empty() {
                blocks.push(Block::Fence { code: std::mem::take(code), line: *started });
                fence = None;
            } else {
                code.push_str(line);
                code.push('\n');
            }
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let is_rule = trimmed.len() >= 3 && trimmed.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' '));
        let (content, starts_block) = without_marker(trimmed);
        if trimmed.is_empty() || is_rule || mark.is_some() || starts_block {
            blocks.extend(open.take().map(|(text, line)| Block::Text { text, line }));
        }
        if let Some(mark) = mark {
            fence = Some((mark, String::new(), number + 1));
        } else if !content.is_empty() && !is_rule {
            let (text, _) = open.get_or_insert_with(|| (String::new(), number + 1));
            // A sentence's line is found again by counting these.
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(content);
            if trimmed.starts_with('#') {
                blocks.extend(open.take().map(|(text, line)| Block::Text { text, line }));
            }
        }
    }
    // A fence that nobody closed goes to the end, as Markdown has it.
    blocks.extend(fence.map(|(_, code, line)| Block::Fence { code, line }));
    blocks.extend(open.map(|(text, line)| Block::Text { text, line }));
    blocks
}

/// A line without the mark of a heading or a list item, and whether it had one.
fn without_marker(line: &str) -> (&str, bool) {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && heading.starts_with(' ') {
        return (heading.trim().trim_end_matches('#').trim_end(), true);
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.len();
    let item = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    let item =
        item.or_else(|| if numbered { digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")) } else { None });
    let Some(item) = item else { return (line, false) };
    let item = item.trim_start();
    let unticked = ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|tick| item.strip_prefix(tick));
    (unticked.unwrap_or(item), true)
}

/// The sentences of one block.
fn sentences(text: &str, first_line: usize, symbol: &SymbolPath) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut tokens = Vec::new();
    let mut start = None;
    let mut push = |tokens: &mut Vec<Token>, from: usize, to: usize| {
        let written = text.get(from..to).unwrap_or_default();
        let line = first_line + text.get(..from).unwrap_or_default().matches('\n').count();
        let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
        found.push(Sentence { tokens: merge_settings(&std::mem::take(tokens)), text, line });
    };
    let mut lexer = Lexer { text, at: 0, symbol };
    while let Some((token, from)) = lexer.next() {
        let ends = matches!(token, Token::Punctuation('.' | '!' | '?'));
        if ends {
            if let Some(from) = start.take() {
                push(&mut tokens, from, lexer.at);
            }
        } else {
            start.get_or_insert(from);
            tokens.push(token);
        }
    }
    if let Some(from) = start {
        push(&mut tokens, from, text.len());
    }
    found
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    symbol: &'a SymbolPath,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next token and where it starts.
    fn next(&mut self) -> Option<(Token, usize)> {
        loop {
            let rest = self.rest();
            let c = rest.chars().next()?;
            let start = self.at;
            if c.is_whitespace() || (c == '*' && !rest.starts_with("* ")) {
                // A star is the mark of emphasis.
                self.at += c.len_utf8();
            } else if c == '`' {
                return Some((self.code_span(), start));
            } else if rest.starts_with("--") || rest.starts_with("- ") || matches!(c, '—' | '–') {
                self.at += if rest.starts_with("--") { 2 } else { c.len_utf8() };
                return Some((Token::Punctuation('—'), start));
            } else if matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')') {
                self.at += 1;
                return Some((Token::Punctuation(c), start));
            } else {
                return Some((self.bare(), start));
            }
        }
    }

    /// Code between backticks, as many at the end as at the start.
    fn code_span(&mut self) -> Token {
        let rest = self.rest();
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let fence = "`".repeat(ticks);
        let inside = rest.get(ticks..).unwrap_or_default();
        let Some(end) = inside.find(&fence) else {
            self.at += ticks;
            return Token::Code(fence);
        };
        let code = inside.get(..end).unwrap_or_default().trim().to_owned();
        self.at += ticks + end + ticks;
        classify(&code, self.symbol)
    }

    /// A word without quotes, which may be code all the same.
    fn bare(&mut self) -> Token {
        let rest = self.rest();
        if let Some(length) = bare_assignment(rest) {
            let code = rest.get(..length).unwrap_or_default().to_owned();
            self.at += length;
            return classify(&code, self.symbol);
        }
        let stops =
            |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '!' | '?' | ')' | '`' | '*' | '—' | '–');
        let mut length = rest.find(stops).unwrap_or(rest.len());
        let mut word = rest.get(..length).unwrap_or_default();
        // `f(...)` and `f()` without quotes; else a parenthesis ends the word.
        let is_call = |word: &str| word.split_once('(').is_some_and(|(name, _)| is_dotted(name));
        let closed = rest.get(length..).is_some_and(|after| after.starts_with(')')) && is_call(word);
        if closed {
            length += 1;
        } else if let Some(open) = word.find('(').filter(|at| *at > 0) {
            length = open;
        } else if word.starts_with('(') {
            length = 1;
        }
        word = rest.get(..length).unwrap_or_default();
        if !closed {
            length = word.trim_end_matches('.').len().max(1);
            word = rest.get(..length).unwrap_or_default();
            if matches!(word, "e.g" | "i.e" | "etc" | "vs")
                && rest.get(length..).is_some_and(|after| after.starts_with('.'))
            {
                length += 1;
            }
        }
        let word = word.to_owned();
        self.at += length;
        let is_code = closed
            || word.contains('_')
            || (word.contains('.') && !matches!(word.as_str(), "e.g" | "i.e"))
            || word.contains('/')
            || word.contains('=');
        if is_code { classify(&word, self.symbol) } else { Token::word(&word.replace('’', "'")) }
    }
}

/// The length of an assignment `name=value` at the start of the text; the value ends at white space or
/// punctuation outside of brackets and quotes.
fn bare_assignment(text: &str) -> Option<usize> {
    let name = text.find(|c: char| c != '_' && !c.is_alphanumeric())?;
    let value = text.get(name..)?.strip_prefix('=').filter(|value| !value.starts_with('='))?;
    let mut depth = 0_usize;
    let mut quote = None;
    let mut length = 0;
    for (at, c) in value.char_indices() {
        match quote {
            Some(q) => quote = Some(q).filter(|_| c != q),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if matches!(c, '(' | '[' | '{') => depth += 1,
            None if matches!(c, ')' | ']' | '}') && depth > 0 => depth -= 1,
            None if depth == 0 && (c.is_whitespace() || matches!(c, ',' | ';' | ')' | '`')) => break,
            None => {}
        }
        length = at + c.len_utf8();
    }
    let value = value.get(..length)?.trim_end_matches(['.', '!', '?', ':']);
    (name > 0 && !value.is_empty()).then_some(name + 1 + value.len())
}

/// What a piece of code is.
fn classify(code: &str, symbol: &SymbolPath) -> Token {
    if let Some((name, value)) = assignment(code) {
        return Token::Assign { name, value };
    }
    if code.split_once(':').is_some_and(|(name, _)| is_dotted(name.trim()) && !name.contains('.')) {
        return Token::Parameter;
    }
    let is_file = code.contains('/') || [".py", ".pyi", ".md", ".toml", ".txt"].iter().any(|end| code.ends_with(end));
    if is_file {
        return Token::File;
    }
    let name = ["(...)", "(…)", "()"].into_iter().find_map(|call| code.strip_suffix(call)).unwrap_or(code);
    let plain = name.strip_suffix('*').unwrap_or(name);
    if !is_dotted(plain) || matches!(name, "True" | "False" | "None") {
        return Token::Code(code.to_owned());
    }
    let is_symbol = SymbolPath::parse(name).is_ok_and(|path| path.is_suffix_of(symbol));
    if is_symbol { Token::Symbol } else { Token::Name(name.to_owned()) }
}

/// Reads `name=value` where the value is one Python expression.
pub(super) fn assignment(code: &str) -> Option<(String, String)> {
    let (name, value) = code.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let ok = is_dotted(name) && !name.contains('.') && !value.starts_with('=') && calls::keyword_value(value).is_ok();
    ok.then(|| (name.to_owned(), value.to_owned()))
}

fn is_dotted(name: &str) -> bool {
    SymbolPath::parse(name).is_ok_and(|path| path.parameter().is_none()) && !name.ends_with(')') && !name.contains(' ')
}

/// Joins "`verbose` to `True`" and "`True` for `verbose`" to one assignment.
fn merge_settings(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        if let Some((assign, used)) = setting(token, rest) {
            out.push(assign);
            at += 1 + used;
        } else {
            out.push(token.clone());
            at += 1;
        }
    }
    out
}

/// The assignment that starts at `first`, and how many tokens of `rest` belong to it.
fn setting(first: &Token, rest: &[Token]) -> Option<(Token, usize)> {
    let joined = |words: &[&[&str]]| {
        let fits = |words: &&&[&str]| {
            words.iter().zip(rest).filter(|(word, token)| token.is_word(word)).count() == words.len()
        };
        words.iter().filter(fits).map(|words| words.len()).max()
    };
    let value_of = |token: &Token| {
        let (Token::Code(value) | Token::Name(value)) = token else { return None };
        calls::keyword_value(value).is_ok().then(|| value.clone())
    };
    if let Token::Name(name) = first
        && !name.contains(['.', '*'])
        && let Some(used) = joined(&[&["to"], &["set", "to"], &["equal", "to"], &["as"]])
        && let Some(value) = rest.get(used).and_then(value_of)
    {
        return Some((Token::Assign { name: name.clone(), value }, used + 1));
    }
    if let Token::Code(_) = first
        && let Some(value) = value_of(first)
        && let Some(used) = joined(&[&["for"], &["as"], &["for", "the"], &["as", "the"]])
        && let Some(Token::Name(name)) = rest.get(used)
        && !name.contains(['.', '*'])
    {
        return Some((Token::Assign { name: name.clone(), value }, used + 1));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(prose: &str) -> Vec<String> {
        let symbol = SymbolPath::parse("pkg.core.f_x").unwrap();
        let token = |t: &Token| match t {
            Token::Word { lower, .. } => lower.clone(),
            Token::Symbol => "SYM".to_owned(),
            Token::Name(n) => format!("<{n}>"),
            Token::Assign { name, value } => format!("{name}:={value}"),
            Token::Parameter => "PARAM".to_owned(),
            Token::File => "FILE".to_owned(),
            Token::Code(c) => format!("[{c}]"),
            Token::Punctuation(c) => c.to_string(),
        };
        read(prose, &symbol)
            .into_iter()
            .map(|piece| match piece {
                Piece::Sentence(s) => {
                    format!("{}: {}", s.line, s.tokens.iter().map(token).collect::<Vec<_>>().join(" "))
                }
                Piece::Fence { code, line } => format!("{line}: ``` {}", code.trim()),
            })
            .collect()
    }

    #[test]
    fn sentences_are_split_and_their_code_is_told_apart() {
        assert_eq!(
            shown("Pass `x=1` to `core.f_x`.\nUse\n**f_x(...)**, not g_y! See `a/b.py`."),
            ["1: pass x:=1 to SYM", "2: use SYM , not <g_y>", "3: see FILE"]
        );
    }

    #[test]
    fn headings_lists_rules_and_fences_are_taken_apart() {
        assert_eq!(
            shown("# Title\ntext\n\n---\n- one\n  more\n2. [ ] two\n```py\nf()\n```\nend"),
            ["1: title", "2: text", "5: one more", "7: two", "8: ``` f()", "11: end"]
        );
    }

    #[test]
    fn assignments_are_read_with_and_without_quotes() {
        for (text, expected) in [
            ("pass x=1.", "1: pass x:=1"),
            ("pass x='a. b', then", "1: pass x:='a. b' , then"),
            ("pass x=f(1, y=[2]).", "1: pass x:=f(1, y=[2])"),
            ("(x=0.5)", "1: ( x:=0.5 )"),
            ("set `x` to `None`", "1: set x:=None"),
            ("pass `True` for the `x` argument", "1: pass x:=True argument"),
            ("`x: int = 3` and ``y = \"`\"``", "1: PARAM and y:=\"`\""),
            ("`x==1` and `x=` and `x=1, y=2`", "1: [x==1] and [x=] and [x=1, y=2]"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }
}
