//! What `tainie doctor` shows: a line for what is there, and for the rest why it matters and what mends it.

use anstyle::{AnsiColor, Style};

use crate::cli::render::{counted, line};
use crate::harness::{Check, CheckState, Checkup};

/// A checkup; commands stand on lines of their own.
pub(in crate::cli) fn checkup(checkup: &Checkup) -> String {
    let mut out = String::new();
    for check in &checkup.checks {
        one(&mut out, check);
    }
    let count = |state| checkup.checks.iter().filter(|check| check.state == state).count();
    let (missing, broken) = (count(CheckState::Missing), count(CheckState::Broken));
    let things = counted(missing, "thing is missing", "things are missing");
    let ending = match (broken, missing) {
        (0, 0) => "everything is there and works".to_owned(),
        (0, _) => format!("nothing is broken; {things}, which is no fault"),
        (_, _) => format!("{} broken", counted(broken, "thing is", "things are")),
    };
    line(&mut out, format_args!("\n{ending}"));
    out
}

fn one(out: &mut String, check: &Check) {
    let (word, color) = match check.state {
        CheckState::Ok => ("ok", AnsiColor::Green),
        CheckState::Missing => ("missing", AnsiColor::Yellow),
        CheckState::Broken => ("broken", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(color.into()));
    let mut details = check.detail.split('\n');
    let summary = details.next().unwrap_or_default();
    line(out, format_args!("{style}{word:8}{style:#} {:13} {summary}", check.name));
    for detail in details {
        line(out, format_args!("{:23}{detail}", ""));
    }
    if check.state == CheckState::Ok {
        return;
    }
    line(out, format_args!("{:23}why: {}", "", check.why));
    if let Some(fix) = &check.fix {
        line(out, format_args!("{:23}$ {fix}", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_on_a_line_of_its_own_and_only_where_something_is_missing() {
        let check = |state| Check {
            name: "pyrefly",
            state,
            detail: "found or not\nlooked at: x".to_owned(),
            why: "it matters",
            fix: Some("tainie setup".to_owned()),
        };
        let of = |checks| checkup(&Checkup { schema_version: 1, healthy: true, checks });
        let text = of(vec![check(CheckState::Missing)]);
        assert!(text.split('\n').any(|line| line.trim() == "$ tainie setup"), "{text}");
        assert!(text.ends_with("\nnothing is broken; 1 thing is missing, which is no fault\n"), "{text}");
        let text = of(vec![check(CheckState::Ok)]);
        assert!(!text.contains("tainie setup") && text.contains("looked at: x"), "{text}");
        assert!(of(vec![check(CheckState::Broken)]).ends_with("\n1 thing is broken\n"));
    }
}
