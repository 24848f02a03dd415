//! Which bindings of a name may count where it is used: the order of a scope's statements, taken apart by the arms
//! of `if`, `try`, `match` and loops. What a function reads is settled when it is called, so for it the scope has
//! run to its end. Conditions aren't evaluated, and calls that never return aren't known.

use super::scopes::{Binding, BindingKind};

/// What kind of statement an arm belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fork {
    /// `if` and `match`: one arm runs, or none where no arm catches the rest.
    Choice,
    /// `for` and `while`: arm 0 may run many times or never, arm 1 is `else`.
    Loop,
    /// Arm 0 is the body with `else`, the others are handlers, each of which may follow a part of the body.
    Try,
}

/// One arm of a compound statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arm {
    /// Offset of the statement.
    pub(crate) statement: usize,
    pub(crate) number: usize,
    /// How many arms the statement has, counting the one that does nothing where no arm catches the rest.
    pub(crate) of: usize,
    pub(crate) fork: Fork,
    /// Ends in `return` or `raise`, so that nothing in it counts behind the statement.
    pub(crate) leaves: bool,
}

/// A place that reads a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) arms: &'a [Arm],
    /// `None`: once the scope has run.
    pub(super) order: Option<u32>,
}

/// The bindings of a variable that may be the last one before a reader. Empty when none comes before it.
pub(super) fn reaching<'b>(bindings: &'b [Binding], reader: Reader<'_>) -> Vec<&'b Binding> {
    let binds = |binding: &&Binding| !matches!(binding.kind, BindingKind::Declared | BindingKind::Deleted);
    let (anytime, mut own): (Vec<&Binding>, Vec<&Binding>) = bindings.iter().filter(binds).partition(|b| b.anytime);
    own.sort_by_key(|binding| binding.order);
    let mut state = match run(&own, 0, Vec::new(), Some(reader)) {
        Run::Reader(state) | Run::Through(state) => state,
    };
    merge(&mut state, anytime);
    state
}

type State<'b> = Vec<&'b Binding>;

enum Run<'b> {
    /// The reader was met, with what may count there.
    Reader(State<'b>),
    Through(State<'b>),
}

/// Runs through bindings that share their first `depth` arms. `reader`: somebody reads within those arms.
fn run<'b>(items: &[&'b Binding], depth: usize, mut state: State<'b>, reader: Option<Reader<'_>>) -> Run<'b> {
    let order = reader.and_then(|reader| reader.order);
    let mut rest = items;
    while let Some((first, behind)) = rest.split_first() {
        let Some(arm) = first.arms.get(depth) else {
            if order.is_some_and(|order| first.order > order) {
                return Run::Reader(state);
            }
            state = vec![first];
            rest = behind;
            continue;
        };
        let inside = |binding: &&Binding| binding.arms.get(depth).is_some_and(|a| a.statement == arm.statement);
        let (of_statement, behind) = rest.split_at(rest.iter().take_while(|binding| inside(binding)).count());
        rest = behind;
        let read_in = reader.and_then(|reader| reader.arms.get(depth)).filter(|a| a.statement == arm.statement);
        match (read_in, reader) {
            (Some(read_in), Some(reader)) => match run_to_reader(of_statement, depth, &state, *read_in, reader) {
                Run::Through(after) => state = after,
                met @ Run::Reader(_) => return met,
            },
            _ if order.is_some_and(|order| first.order > order) => return Run::Reader(state),
            _ => state = run_statement(of_statement, depth, &state, *arm),
        }
    }
    match order {
        Some(_) => Run::Reader(state),
        None => Run::Through(state),
    }
}

/// Runs through the one arm of a statement that somebody reads in.
fn run_to_reader<'b>(items: &[&'b Binding], depth: usize, before: &State<'b>, arm: Arm, reader: Reader<'_>) -> Run<'b> {
    let body = of_arm(items, depth, 0);
    let mut entry = before.clone();
    match arm.fork {
        // A second turn sees what the first has bound.
        Fork::Loop => merge(&mut entry, through(&body, depth, Vec::new())),
        Fork::Try if arm.number > 0 => merge(&mut entry, body),
        Fork::Try | Fork::Choice => {}
    }
    run(&of_arm(items, depth, arm.number), depth + 1, entry, Some(reader))
}

/// What may count behind a whole statement.
fn run_statement<'b>(items: &[&'b Binding], depth: usize, before: &State<'b>, statement: Arm) -> State<'b> {
    let mut after = Vec::new();
    for number in 0..statement.of {
        let arm = of_arm(items, depth, number);
        if arm.first().is_some_and(|binding| binding.arms.get(depth).is_some_and(|arm| arm.leaves)) {
            continue;
        }
        let mut entry = before.clone();
        if statement.fork == Fork::Try && number > 0 {
            merge(&mut entry, of_arm(items, depth, 0));
        }
        merge(&mut after, through(&arm, depth, entry));
    }
    if statement.fork == Fork::Loop {
        merge(&mut after, before.clone());
    }
    after
}

fn through<'b>(arm: &[&'b Binding], depth: usize, entry: State<'b>) -> State<'b> {
    match run(arm, depth + 1, entry, None) {
        Run::Reader(state) | Run::Through(state) => state,
    }
}

fn of_arm<'b>(items: &[&'b Binding], depth: usize, number: usize) -> Vec<&'b Binding> {
    let is_in = |binding: &&&Binding| binding.arms.get(depth).is_some_and(|arm| arm.number == number);
    items.iter().filter(is_in).copied().collect()
}

fn merge<'b>(state: &mut State<'b>, more: Vec<&'b Binding>) {
    for binding in more {
        if !state.iter().any(|known| known.span == binding.span) {
            state.push(binding);
        }
    }
}
