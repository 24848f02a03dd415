//! The task file: Markdown, with YAML front matter where one is wanted. Which symbol is meant and what the
//! prose asks for is found out elsewhere; here are only the names that the prose offers.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::plan::{SiteKind, SymbolPath};

/// A task as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) symbol: Option<String>,
    /// Relative to the task file.
    pub(crate) workspace: Option<String>,
    /// The kinds of reference to edit; empty means those that the operation concerns.
    pub(crate) sites: Vec<SiteKind>,
    pub(crate) operation: Option<String>,
    pub(crate) oracle: Option<String>,
    /// Glob patterns of files to leave alone.
    pub(crate) exclude: Vec<String>,
    /// The instruction, whole.
    pub(crate) prose: String,
    /// How many lines of the file stand before the prose.
    pub(crate) lines_before_prose: usize,
}

/// A name that the prose offers as the symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    /// 1-based line of the prose.
    pub(crate) line: usize,
}

/// Why a task file can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("line {line} of the front matter: {message}")]
    FrontMatter { line: u64, message: String },
    #[error("the front matter that starts on line 1 has no closing `---`")]
    Unclosed,
    #[error("`{kind}` is no kind of reference; the kinds are {known}")]
    UnknownKind { kind: String, known: String },
}

/// The front matter as YAML; a key that isn't here is a mistake.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    symbol: Option<String>,
    workspace: Option<String>,
    sites: Option<OneOrMany>,
    operation: Option<String>,
    oracle: Option<String>,
    exclude: Option<OneOrMany>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

impl Task {
    /// Reads the text of a task file.
    pub(crate) fn parse(text: &str) -> Result<Self, TaskError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (yaml, prose) = split_front_matter(text)?;
        let front = yaml.map_or_else(|| Ok(FrontMatter::default()), read_front_matter)?;
        let kinds = front.sites.map_or_else(Vec::new, OneOrMany::into_vec);
        let before = text.len() - prose.len();
        Ok(Self {
            symbol: front.symbol,
            workspace: front.workspace,
            sites: kinds.iter().map(|kind| read_kind(kind)).collect::<Result<_, _>>()?,
            operation: front.operation,
            oracle: front.oracle,
            exclude: front.exclude.map_or_else(Vec::new, OneOrMany::into_vec),
            prose: prose.to_owned(),
            lines_before_prose: text.get(..before).unwrap_or_default().matches('\n').count(),
        })
    }
}

/// The YAML between the two `---` lines, if the text starts with one, and what follows.
fn split_front_matter(text: &str) -> Result<(Option<&str>, &str), TaskError> {
    let is_mark = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_mark(line)) else { return Ok((None, text)) };
    let mut at = first.len();
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(first.len()..at).unwrap_or_default();
            return Ok((Some(yaml), text.get(at + line.len()..).unwrap_or_default()));
        }
        at += line.len();
    }
    Err(TaskError::Unclosed)
}

fn read_front_matter(yaml: &str) -> Result<FrontMatter, TaskError> {
    if yaml.trim().is_empty() {
        return Ok(FrontMatter::default());
    }
    serde_saphyr::from_str(yaml).map_err(|error| {
        let error = error.without_snippet();
        // Line 1 of the file is the opening mark.
        let line = error.location().map_or(1, |location| location.line() + 1);
        TaskError::FrontMatter { line, message: without_position(&error.to_string()) }
    })
}

/// The reader's message without the position that it adds, which doesn't count the opening mark.
fn without_position(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message).trim_end().to_owned()
}

fn read_kind(kind: &str) -> Result<SiteKind, TaskError> {
    SiteKind::parse(kind).ok_or_else(|| TaskError::UnknownKind {
        kind: kind.to_owned(),
        known: SiteKind::ALL.map(SiteKind::as_str).join(", "),
    })
}

/// The dotted names that the prose quotes as code, in order and each once, without those that it says not
/// to touch. `f(...)` counts as `f`; `verbose=True` and `views.py` are no names.
pub(crate) fn candidate_symbols(prose: &str) -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for clause in clauses(prose) {
        let spared_from = start_of_sparing(clause.text);
        for (at, code) in code_spans(clause.text) {
            let is_spared = spared_from.is_some_and(|start| at >= start);
            let Some(name) = symbol_name(code).filter(|_| !is_spared) else { continue };
            if seen.insert(name.to_owned()) {
                let line = clause.line + clause.text.get(..at).unwrap_or_default().matches('\n').count();
                found.push(Candidate { name: name.to_owned(), line });
            }
        }
    }
    found
}

struct Clause<'a> {
    text: &'a str,
    line: usize,
}

/// Pieces of the prose that one prohibition can reach: it ends with the sentence, the list item, or a "but".
fn clauses(prose: &str) -> Vec<Clause<'_>> {
    let mut borders = vec![0];
    let mut fenced = Vec::new();
    let (mut in_code, mut in_fence) = (false, false);
    let mut line_start = 0;
    for line in prose.split_inclusive('\n') {
        let is_fence = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        if is_fence || in_fence {
            borders.extend([line_start, line_start + line.len()]);
            fenced.push(line_start);
            in_fence ^= is_fence;
            in_code = false;
        } else {
            if starts_block(line) {
                borders.push(line_start);
                in_code = false;
            }
            borders.extend(ends_of_clauses(line, &mut in_code).into_iter().map(|at| line_start + at));
        }
        line_start += line.len();
    }
    borders.push(prose.len());
    borders.sort_unstable();
    let pairs = borders.iter().zip(borders.iter().skip(1)).filter(|(from, _)| !fenced.contains(from));
    pairs
        .filter_map(|(&from, &to)| {
            let line = 1 + prose.get(..from)?.matches('\n').count();
            Some(Clause { text: prose.get(from..to)?, line })
        })
        .collect()
}

/// Where clauses end in one line; `in_code` is carried from line to line.
fn ends_of_clauses(line: &str, in_code: &mut bool) -> Vec<usize> {
    let mut ends = Vec::new();
    for (at, c) in line.char_indices() {
        *in_code ^= c == '`';
        let after = line.get(at + c.len_utf8()..).unwrap_or_default();
        let ends_sentence = matches!(c, '.' | '!' | '?') && after.chars().next().is_none_or(char::is_whitespace);
        let goes_on_otherwise = c == ' ' && after.starts_with("but ");
        if !*in_code && (ends_sentence || goes_on_otherwise || matches!(c, ';' | '—')) {
            ends.push(at + c.len_utf8());
        }
    }
    ends
}

/// Whether a line begins a block of its own: blank, a heading, a list item.
fn starts_block(line: &str) -> bool {
    let line = line.trim();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.is_empty()
        || line.starts_with('#')
        || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

/// Where in the clause the names begin that it says not to touch.
fn start_of_sparing(clause: &str) -> Option<usize> {
    // Offsets must hold for the clause as written, so only ASCII letters change their case.
    let lower = clause.to_ascii_lowercase().replace('\u{2019}', "'  ");
    let verbs = ["modif", "touch", "change", "edit", "alter", "update", "rename", "rewrit"];
    let names_verb = |from: usize| lower.get(from..).is_some_and(|rest| verbs.iter().any(|verb| rest.contains(verb)));
    let forbids = ["do not", "don't", "never", "must not", "should not", "not to ", "avoid"];
    let first = forbids.iter().filter_map(|word| lower.find(word)).min().filter(|&at| names_verb(at));
    let passive = ["not be ", "untouched", "unchanged", " alone", "as is"].iter().any(|word| lower.contains(word));
    if passive { Some(0) } else { first }
}

/// The code spans of a text: where the code starts, and the code.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('`')).map(|found| at + found) {
        let rest = text.get(open..).unwrap_or_default();
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let start = open + ticks;
        let fence = "`".repeat(ticks);
        let Some(length) = text.get(start..).and_then(|inside| inside.find(&fence)) else { break };
        spans.push((start, text.get(start..start + length).unwrap_or_default()));
        at = start + length + ticks;
    }
    spans
}

/// The dotted name that a piece of code is or calls.
fn symbol_name(code: &str) -> Option<&str> {
    let code = code.trim();
    let code = code.strip_prefix('@').unwrap_or(code);
    let name = code.split('(').next().unwrap_or_default();
    let is_call = code.len() == name.len() || code.ends_with(')');
    let is_file = [".py", ".pyi", ".md", ".toml", ".txt"].iter().any(|end| name.ends_with(end));
    let is_name = SymbolPath::parse(name).is_ok_and(|path| path.parameter().is_none());
    (is_call && is_name && !is_file && !matches!(name, "True" | "False" | "None")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prose: &str) -> Vec<String> {
        candidate_symbols(prose).into_iter().map(|c| format!("{} {}", c.line, c.name)).collect()
    }

    #[test]
    fn front_matter_is_optional_and_the_prose_is_whole() {
        let task = Task::parse("Do `f`.\n\n---\nmore\n").unwrap();
        assert_eq!((task.prose.as_str(), task.lines_before_prose), ("Do `f`.\n\n---\nmore\n", 0));
        let task = Task::parse("---\nsymbol: a.f\nsites: [call, decorator]\noperation: add-keyword verbose=True\nexclude: 'tests/**'\n---\n\nProse.\n").unwrap();
        assert_eq!(task.symbol.as_deref(), Some("a.f"));
        assert_eq!(task.sites, [SiteKind::Call, SiteKind::Decorator]);
        assert_eq!(task.operation.as_deref(), Some("add-keyword verbose=True"));
        assert_eq!(task.exclude, ["tests/**"]);
        assert_eq!((task.prose.as_str(), task.lines_before_prose), ("\nProse.\n", 6));
    }

    #[test]
    fn every_key_has_its_place() {
        let text = "---\r\nworkspace: ../work\r\noracle: python3 check.py --all\r\nsites: call\r\nexclude:\r\n  - a/**\r\n  - b.py\r\n---\r\nx";
        let task = Task::parse(text).unwrap();
        assert_eq!(task.workspace.as_deref(), Some("../work"));
        assert_eq!(task.oracle.as_deref(), Some("python3 check.py --all"));
        assert_eq!((task.sites.as_slice(), task.exclude.len()), ([SiteKind::Call].as_slice(), 2));
        assert_eq!(Task::parse("---\n---\nx").unwrap().prose, "x");
        assert_eq!(Task::parse("---\n# nothing\n---\nx").unwrap().prose, "x");
    }

    #[test]
    fn a_mistake_in_the_front_matter_is_named_with_its_line() {
        let check = |text: &str, line: u64, part: &str| match Task::parse(text) {
            Err(TaskError::FrontMatter { line: at, message }) => {
                assert!(at == line && message.contains(part), "{text}: line {at}: {message}");
            }
            other => panic!("{text}: {other:?}"),
        };
        check("---\nsymbol: f\nsymbl: g\n---\n", 3, "symbl");
        check("---\nsymbol: f\nsymbol: g\n---\n", 3, "symbol");
        check("---\nsymbol: [f\n---\n", 2, "");
        check("---\nsymbol:\n  a: b\n---\n", 3, "");
        assert_eq!(Task::parse("---\nsymbol: f\n"), Err(TaskError::Unclosed));
        assert!(
            matches!(Task::parse("---\nsites: calls\n---\n"), Err(TaskError::UnknownKind { kind, .. }) if kind == "calls")
        );
    }

    #[test]
    fn the_names_of_the_prose_come_in_order_with_their_lines() {
        assert_eq!(
            names(
                "`render_report` takes `verbose: bool = False`. Pass `verbose=True`\nto `core.render_report(...)` in `views.py`, not `None`."
            ),
            ["1 render_report", "2 core.render_report"]
        );
        assert_eq!(names("Use `@cached`, ``f()`` and `g(1, 2)`; `f` again."), ["1 cached", "1 f", "1 g"]);
        assert_eq!(names("```python\n`x`\n```\nthen `y`"), ["4 y"]);
    }

    #[test]
    fn names_that_the_text_says_not_to_touch_are_left_out() {
        assert_eq!(
            names("- Do NOT modify `f_old`, `g`, or `h_*`\n  or `k` — unlike `n`.\n- Update `f`."),
            ["2 n", "3 f"]
        );
        assert_eq!(names("Update `f` but don't touch `g`. `h` must not be changed. Leave `i` alone."), ["1 f"]);
        assert_eq!(names("Never rename `g`. Do not forget `f`."), ["1 f"]);
    }
}
