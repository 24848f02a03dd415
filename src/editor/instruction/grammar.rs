//! Sentence forms over tokens: a small pattern language and its matcher. What the forms are is in `forms.rs`.
//!
//! A pattern is a row of items. A lower-case word stands for itself, an upper-case name for a class of
//! tokens, `<name>` for another form; `( a b | c )` chooses, `?` behind an item makes it optional, `*`
//! repeats it. Every form must cover a clause from end to end, so what a form doesn't foresee never matches.

use std::collections::{BTreeMap, BTreeSet};

use super::prose::Token;

/// A name and the tokens that it stands for.
pub(super) type Class = (&'static str, fn(&Token) -> bool);

/// A set of named forms.
pub(super) struct Grammar {
    forms: BTreeMap<&'static str, Pattern>,
}

enum Pattern {
    Word(&'static str),
    Class(fn(&Token) -> bool),
    Form(&'static str),
    Sequence(Vec<Self>),
    Choice(Vec<Self>),
    Optional(Box<Self>),
    Many(Box<Self>),
}

impl Grammar {
    /// Reads the forms; a fault in one is a fault in this program and shows in every test.
    pub(super) fn new(forms: &[(&'static str, &'static str)], classes: &[Class]) -> Self {
        let read = |&(name, text): &(&'static str, &'static str)| {
            let mut items = Items { row: text.split_ascii_whitespace().collect(), at: 0, classes };
            let pattern = items.choice();
            assert_eq!(items.at, items.row.len(), "form {name} has a parenthesis too many");
            (name, pattern)
        };
        Self { forms: forms.iter().map(read).collect() }
    }

    /// Whether the form covers all tokens.
    pub(super) fn matches(&self, form: &'static str, tokens: &[Token]) -> bool {
        self.ends(&Pattern::Form(form), tokens, &BTreeSet::from([0])).contains(&tokens.len())
    }

    /// Where the pattern can end when it begins at one of `starts`.
    fn ends(&self, pattern: &Pattern, tokens: &[Token], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        let step = |accepts: &dyn Fn(&Token) -> bool| {
            starts.iter().filter(|&&at| tokens.get(at).is_some_and(accepts)).map(|at| at + 1).collect()
        };
        match pattern {
            Pattern::Word(word) => step(&|token| token.is_word(word)),
            Pattern::Class(accepts) => step(accepts),
            Pattern::Form(name) => {
                self.ends(self.forms.get(name).expect("every form that is named exists"), tokens, starts)
            }
            Pattern::Sequence(parts) => {
                parts.iter().fold(starts.clone(), |reached, part| self.ends(part, tokens, &reached))
            }
            Pattern::Choice(parts) => parts.iter().flat_map(|part| self.ends(part, tokens, starts)).collect(),
            Pattern::Optional(part) => &self.ends(part, tokens, starts) | starts,
            Pattern::Many(part) => {
                let mut all = starts.clone();
                let mut fresh = starts.clone();
                while !fresh.is_empty() {
                    fresh = &self.ends(part, tokens, &fresh) - &all;
                    all.extend(&fresh);
                }
                all
            }
        }
    }
}

/// The items of one pattern while it is read.
struct Items<'a> {
    row: Vec<&'static str>,
    at: usize,
    classes: &'a [Class],
}

impl Items<'_> {
    fn choice(&mut self) -> Pattern {
        let mut parts = vec![self.sequence()];
        while self.row.get(self.at) == Some(&"|") {
            self.at += 1;
            parts.push(self.sequence());
        }
        Pattern::Choice(parts)
    }

    fn sequence(&mut self) -> Pattern {
        let mut parts = Vec::new();
        while let Some(&item) = self.row.get(self.at).filter(|item| **item != "|" && !item.starts_with(')')) {
            self.at += 1;
            let (item, suffix) = split_suffix(item);
            let part = if item == "(" {
                let inner = self.choice();
                let close = self.row.get(self.at).expect("every parenthesis of a form is closed");
                self.at += 1;
                parts.push(repeated(inner, split_suffix(close).1));
                continue;
            } else {
                self.item(item)
            };
            parts.push(repeated(part, suffix));
        }
        Pattern::Sequence(parts)
    }

    fn item(&self, item: &'static str) -> Pattern {
        if let Some(name) = item.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
            Pattern::Form(name)
        } else if item.starts_with(|c: char| c.is_ascii_uppercase()) {
            let class = self.classes.iter().find(|(name, _)| *name == item);
            Pattern::Class(class.expect("every class that is named exists").1)
        } else {
            Pattern::Word(item)
        }
    }
}

fn split_suffix(item: &'static str) -> (&'static str, Option<char>) {
    item.strip_suffix('?').map_or_else(
        || item.strip_suffix('*').map_or((item, None), |plain| (plain, Some('*'))),
        |plain| (plain, Some('?')),
    )
}

fn repeated(pattern: Pattern, suffix: Option<char>) -> Pattern {
    match suffix {
        Some('?') => Pattern::Optional(Box::new(pattern)),
        Some(_) => Pattern::Many(Box::new(pattern)),
        None => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_must_cover_every_token() {
        let grammar =
            Grammar::new(&[("greet", "hello ( there | <who>* )? friend"), ("who", "old | dear ( dear )?")], &[]);
        let check = |text: &str| {
            let tokens: Vec<_> = text.split(' ').map(Token::word).collect();
            grammar.matches("greet", &tokens)
        };
        assert!(check("hello friend") && check("hello there friend") && check("hello dear dear old friend"));
        assert!(!check("hello") && !check("hello there old friend") && !check("hello friend friend"));
    }
}
