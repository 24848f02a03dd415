//! Reads a task's prose as one operation, or refuses it with the sentence that stands in the way.
//!
//! The reading is a closed list of sentence forms (`forms.rs`): a sentence asks for the operation, says
//! what not to touch, or asks for nothing; any other one may limit or vary the edit, and is never guessed at.

mod forms;
mod grammar;
mod prose;

use std::collections::BTreeSet;

use crate::plan::{Operation, SymbolPath};
use crate::python::calls;

use grammar::Grammar;
use prose::{Piece, Sentence, Token};

/// A task that rules can carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Understood {
    pub(crate) operation: Operation,
    pub(crate) spared: Spared,
}

/// What the task says not to touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spared {
    /// One with a `*` at its end stands for all names that begin like it.
    pub(crate) names: BTreeSet<String>,
    /// The symbol's own definition.
    pub(crate) definition: bool,
}

/// Why rules can't carry out a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("line {line} may limit or vary the edit, and rules don't guess: \"{sentence}\"")]
    Limits { sentence: String, line: usize },
    #[error("line {line} is no sentence that rules understand: \"{sentence}\"")]
    NotUnderstood { sentence: String, line: usize },
    #[error("line {line} asks for {second}, and {first} was asked for before: \"{sentence}\"")]
    Differs { first: String, second: String, sentence: String, line: usize },
    #[error("the instruction doesn't say which argument to pass")]
    NothingAsked,
    #[error("`{text}` is no operation; write for example `add-keyword verbose=True`")]
    BadOperation { text: String },
    #[error("no argument can be called `{name}`, which is a word of Python's own")]
    Reserved { name: String, text: String },
}

impl Refusal {
    /// The words that are a mistake whoever reads them, where there are such: nobody, a model included, can carry them out.
    pub(crate) fn mistake(&self) -> Option<&str> {
        match self {
            Self::BadOperation { text } | Self::Reserved { text, .. } => Some(text),
            Self::Limits { .. } | Self::NotUnderstood { .. } | Self::Differs { .. } | Self::NothingAsked => None,
        }
    }
}

/// Reads the front matter's `operation`, such as `add-keyword verbose=True`.
pub(crate) fn parse_operation(text: &str) -> Result<Operation, Refusal> {
    let arguments = text.trim().strip_prefix("add-keyword").filter(|rest| rest.starts_with(char::is_whitespace));
    let (name, value) = arguments
        .and_then(|rest| prose::assignment(rest.trim()))
        .ok_or_else(|| Refusal::BadOperation { text: text.to_owned() })?;
    if calls::is_label(&name) {
        Ok(Operation::AddKeyword { name, value })
    } else {
        Err(Refusal::Reserved { name, text: text.to_owned() })
    }
}

/// Reads a task. With an explicit `operation` the prose may hold anything but what limits or varies it.
pub(crate) fn understand(operation: Option<&str>, prose: &str, symbol: &SymbolPath) -> Result<Understood, Refusal> {
    let explicit = operation.map(parse_operation).transpose()?;
    let mut reading = Reading {
        grammar: forms::grammar(),
        symbol,
        is_explicit: explicit.is_some(),
        operation: explicit,
        spared: Spared::default(),
    };
    let pieces = prose::read(prose, symbol);
    for piece in &pieces {
        if let Piece::Sentence(sentence) = piece {
            reading.sentence(sentence)?;
        }
    }
    // An example can be judged only once the operation is known.
    for piece in &pieces {
        if let Piece::Fence { code, line } = piece {
            reading.fence(code, *line)?;
        }
    }
    let operation = reading.operation.ok_or(Refusal::NothingAsked)?;
    Ok(Understood { operation, spared: reading.spared })
}

/// Whether the prose speaks of passing some `name=value`, whatever else it says.
#[cfg(feature = "openai")]
pub(super) fn holds_assignment(prose: &str) -> bool {
    let pieces = prose.split('`').chain(prose.split_whitespace());
    pieces.into_iter().any(|piece| prose::assignment(piece.trim_end_matches(['.', ',', ';', ':'])).is_some())
}

struct Reading<'a> {
    grammar: Grammar,
    symbol: &'a SymbolPath,
    is_explicit: bool,
    operation: Option<Operation>,
    spared: Spared,
}

/// What one clause does.
enum Clause {
    Asks(Operation),
    Spares(Spared),
    Harmless,
}

impl Reading<'_> {
    fn sentence(&mut self, sentence: &Sentence) -> Result<(), Refusal> {
        let Some(clauses) = self.clauses(&self.named(&sentence.tokens)) else {
            let limits = sentence.tokens.iter().any(forms::may_limit);
            let (sentence, line) = (sentence.text.clone(), sentence.line);
            return match (limits, self.is_explicit) {
                (true, _) => Err(Refusal::Limits { sentence, line }),
                (false, false) => Err(Refusal::NotUnderstood { sentence, line }),
                (false, true) => Ok(()),
            };
        };
        for clause in clauses {
            match clause {
                Clause::Asks(asked) => self.ask(asked, sentence)?,
                Clause::Spares(Spared { names, definition }) => {
                    self.spared.names.extend(names);
                    self.spared.definition |= definition;
                }
                Clause::Harmless => {}
            }
        }
        Ok(())
    }

    fn ask(&mut self, asked: Operation, sentence: &Sentence) -> Result<(), Refusal> {
        let Operation::AddKeyword { name, value } = &asked;
        if !calls::is_label(name) {
            return Err(Refusal::Reserved { name: name.clone(), text: format!("{name}={value}") });
        }
        match &self.operation {
            Some(known) if !same_operation(known, &asked) => Err(Refusal::Differs {
                first: known.to_string(),
                second: asked.to_string(),
                sentence: sentence.text.clone(),
                line: sentence.line,
            }),
            Some(_) => Ok(()),
            None => {
                self.operation = Some(asked);
                Ok(())
            }
        }
    }

    /// The tokens with the symbol's bare name, written without quotes, told from other words.
    fn named(&self, tokens: &[Token]) -> Vec<Token> {
        let is_symbol = |token: &Token| {
            let Token::Word { written, lower } = token else { return false };
            // A symbol that is spelled like a word of the language needs its quotes.
            written == self.symbol.name() && written != lower
        };
        tokens.iter().map(|token| if is_symbol(token) { Token::Symbol } else { token.clone() }).collect()
    }

    /// Reads tokens as one clause or several; `None` where a part of them has no form.
    fn clauses(&self, tokens: &[Token]) -> Option<Vec<Clause>> {
        if tokens.is_empty() {
            return Some(Vec::new());
        }
        if let Some(clause) = self.clause(tokens) {
            return Some(vec![clause]);
        }
        (1..tokens.len()).find_map(|at| {
            let (left, rest) = (tokens.get(..at)?, tokens.get(at..)?);
            let used = connector(left, rest)?;
            let first = self.clause(left)?;
            let mut all = self.clauses(rest.get(used..)?)?;
            all.insert(0, first);
            Some(all)
        })
    }

    fn clause(&self, tokens: &[Token]) -> Option<Clause> {
        let matches = |forms: &[&'static str]| forms.iter().any(|form| self.grammar.matches(form, tokens));
        if matches(forms::ASKS) {
            let [(name, value)] = assignments(tokens).try_into().ok()?;
            return Some(Clause::Asks(Operation::AddKeyword { name, value }));
        }
        if matches(forms::SPARES) {
            let names = tokens.iter().filter_map(|t| if let Token::Name(name) = t { Some(name.clone()) } else { None });
            let of_definition = ["definition", "signature", "declaration", "implementation", "itself"];
            let definition = tokens.iter().any(|t| of_definition.iter().any(|word| t.is_word(word)))
                // "Only call sites of `f` itself" confines the calls and says nothing of the definition.
                && !tokens.iter().any(|t| t.is_word("only"));
            return Some(Clause::Spares(Spared { names: names.collect(), definition }));
        }
        matches(forms::HARMLESS).then_some(Clause::Harmless)
    }

    /// A fence may show the definition, or calls that differ from others by the operation at most.
    fn fence(&self, code: &str, line: usize) -> Result<(), Refusal> {
        let code = code.trim();
        let defines = ["def ", "async def "].iter().any(|start| code.starts_with(start))
            && self.operation.is_some()
            && code.split('(').next().is_some_and(|head| head.ends_with(&format!(" {}", self.symbol.name())));
        if code.is_empty() || defines || self.is_example(code) {
            return Ok(());
        }
        Err(Refusal::Limits { sentence: code.split_whitespace().collect::<Vec<_>>().join(" "), line })
    }

    fn is_example(&self, code: &str) -> bool {
        let Some(Operation::AddKeyword { name, value }) = &self.operation else { return false };
        let Ok(wanted) = calls::keyword_value(value) else { return false };
        let Some(examples) = calls::calls_in_examples(code) else { return false };
        !examples.is_empty()
            && examples.iter().all(|example| {
                let is_symbol = example.callee.rsplit('.').next() == Some(self.symbol.name());
                is_symbol && example.keywords.iter().all(|(key, form)| key == name && *form == wanted)
            })
    }
}

/// How many tokens of `rest` join it to the clause before; `None` where there is no such border.
fn connector(left: &[Token], rest: &[Token]) -> Option<usize> {
    let first = rest.first()?;
    let word = |at: usize, words: &[&str]| rest.get(at).is_some_and(|t| words.iter().any(|w| t.is_word(w)));
    if let Token::Punctuation(',') = first {
        Some(if word(1, &["and", "but", "then", "so"]) { 2 } else { 1 })
    } else if matches!(first, Token::Punctuation(';' | '—' | ':')) || first.is_word("but") {
        Some(1)
    } else if first.is_word("and") && !left.iter().any(negates) {
        // After "do not touch `g`", an "and" may go on forbidding.
        Some(if word(1, &["then"]) { 2 } else { 1 })
    } else {
        None
    }
}

fn negates(token: &Token) -> bool {
    ["not", "don't", "never", "only", "no"].iter().any(|word| token.is_word(word))
}

/// The assignments in a clause, each once.
fn assignments(tokens: &[Token]) -> Vec<(String, String)> {
    let assigned =
        |t: &Token| if let Token::Assign { name, value } = t { Some((name.clone(), value.clone())) } else { None };
    let mut all: Vec<_> = tokens.iter().filter_map(assigned).collect();
    all.dedup();
    all
}

/// Whether two operations are the same but for the spelling of the value.
fn same_operation(a: &Operation, b: &Operation) -> bool {
    let Operation::AddKeyword { name, value } = a;
    let Operation::AddKeyword { name: other_name, value: other_value } = b;
    name == other_name && calls::keyword_value(value).ok() == calls::keyword_value(other_value).ok()
}

#[cfg(test)]
mod tests;
