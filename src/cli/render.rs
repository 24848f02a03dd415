//! Values as text for people. Lines and columns are 1-based here, and nobody reads them back.

mod annotations;
mod checkup;
mod demo;
mod explanation;
mod safe;
mod sarif;
mod worklist;

pub(super) use annotations::{github, vimgrep};
pub(super) use checkup::checkup;
pub(super) use demo::{demo_edits, demo_table, demo_worklist};
pub(super) use explanation::{explanation, reasons};
pub(super) use safe::{safe, safe_lines};
pub(super) use sarif::sarif;
pub(super) use worklist::worklist;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::harness::{Outcome, Report, ReportedFinding, ReportedSite, RunRecord, Writing};
use crate::text::{Position, RelPath, unified_diff};

/// Pretty JSON with a final newline.
pub(super) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("the types of the JSON surface have string keys only");
    text.push('\n');
    text
}

/// One line of JSON per value.
pub(super) fn json_lines(values: &[impl Serialize]) -> String {
    let mut text = String::new();
    for value in values {
        text += &serde_json::to_string(value).expect("the types of the JSON surface have string keys only");
        text.push('\n');
    }
    text
}

/// `FILE:LINE:COLUMN`
fn place(file: &str, position: Position) -> String {
    format!("{}:{}:{}", safe(file), position.line() + 1, position.column() + 1)
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string can't fail");
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first line of a text, with a mark where there is more.
pub(super) fn one_line(text: &str) -> String {
    let first = text.split(['\n', '\r']).next().unwrap_or_default().trim_end();
    if first.len() == text.len() { safe(first) } else { format!("{} …", safe(first)) }
}

/// The unified diff of all files.
pub(super) fn diff(texts: &BTreeMap<RelPath, (String, String)>) -> String {
    texts.iter().map(|(file, (before, after))| unified_diff(file.as_str(), before, after)).collect()
}

/// What an edit came to: the diff, what needs a person, and how to take it back.
pub(super) fn report(report: &Report, texts: &BTreeMap<RelPath, (String, String)>, writing: Writing) -> String {
    let mut out = diff(texts);
    if !out.is_empty() {
        out.push('\n');
    }
    out + &outcomes(report, writing)
}

/// The same without the diff.
pub(super) fn outcomes(report: &Report, writing: Writing) -> String {
    let mut out = String::new();
    for outcome in Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Applied) {
        for site in report.sites.iter().filter(|site| site.result == outcome) {
            reported_site(&mut out, site);
        }
    }
    if let Some(oracle) = &report.oracle {
        let after = oracle.after.map_or("not run", green);
        line(&mut out, format_args!("oracle: {} before, {after} after ({})", green(oracle.before), oracle.command));
        if let Some(output) = oracle.output.as_ref().filter(|output| !output.trim().is_empty()) {
            for said in output.split('\n') {
                line(&mut out, format_args!("    {said}"));
            }
        }
    }
    for note in &report.notes {
        line(&mut out, format_args!("note: {note}"));
    }
    if report.unresolved > 0 {
        let some = counted(report.unresolved, "mention", "mentions");
        let how = format!("tainie scout {}", report.symbol);
        line(&mut out, format_args!("{some} could not be tied to anything and may be the symbol: see `{how}`"));
    }
    line(&mut out, format_args!("{}", summary(report, writing)));
    out
}

const fn green(yes: bool) -> &'static str {
    if yes { "green" } else { "red" }
}

fn reported_site(out: &mut String, site: &ReportedSite) {
    let at = format!("{}:{}:{}", safe(&site.site.file), site.site.line + 1, site.site.column + 1);
    let reason = site.reason.as_deref().unwrap_or("no reason was given");
    line(out, format_args!("{:10} {at}  {}", site.result.as_str(), one_line(&site.site.text)));
    let last = site.attempts.last().filter(|_| site.result == Outcome::Skipped);
    let findings = last.map_or(&[][..], |attempt| &attempt.diagnostics);
    // The reason of a rejection is its diagnostics, which say more.
    if findings.is_empty() || last.is_some_and(|attempt| attempt.reason != site.reason) {
        line(out, format_args!("           {reason}"));
    }
    for finding in findings {
        let ReportedFinding { file, line: at, column, rule, message } = finding;
        line(out, format_args!("           {file}:{}:{}: {message} [{rule}]", at + 1, column + 1));
    }
}

/// One line that says what happened to the tree.
fn summary(report: &Report, writing: Writing) -> String {
    let totals = &report.totals;
    let applied = if writing == Writing::Apply { "applied" } else { "to be applied" };
    let counts: Vec<String> = [
        (totals.applied, applied),
        (totals.already, "already so"),
        (totals.unchecked, "unchecked"),
        (totals.skipped, "skipped"),
        (totals.left, "left to a person"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let sites = counted(totals.sites, "site", "sites");
    let counts = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") };
    let files = counted(report.files.len(), "file", "files");
    let ending = match (writing, report.run) {
        _ if report.files.is_empty() => "no file changes".to_owned(),
        (Writing::Nothing, _) => format!("{files} would change; nothing was written"),
        (Writing::Apply, Some(run)) => format!("{files} changed in run {run}; `tainie undo {run}` takes it back"),
        (Writing::Apply, None) => "no file changes".to_owned(),
    };
    let checks = counted(report.gate.checks, "check", "checks");
    format!(
        "{}: {sites}: {counts} (editor {}, gate {}, {checks}); {ending}",
        report.symbol, report.editor, report.gate.mode
    )
}

/// The runs of a workspace, a line each.
pub(super) fn history(runs: &[RunRecord]) -> String {
    let mut out = String::new();
    for run in runs {
        let what = match (&run.symbol, run.undoes) {
            (_, Some(undone)) => format!("undo of run {}", undone.get()),
            (Some(symbol), None) => format!("{} {symbol}", run.command),
            (None, None) => run.command.clone(),
        };
        let files = counted(run.files.len(), "file", "files");
        line(
            &mut out,
            format_args!("{:4}  {}  {:11} {what}  ({files})", run.id.get(), run.started, run.state.as_str()),
        );
    }
    if runs.is_empty() {
        line(&mut out, format_args!("no runs yet"));
    }
    out
}

/// One run with its files, and its sites where it was an edit.
pub(super) fn run(run: &RunRecord) -> String {
    let mut out = history(std::slice::from_ref(run));
    for file in &run.files {
        line(&mut out, format_args!("      {}", file.file));
    }
    let report = run.report.clone().and_then(|value| serde_json::from_value::<Report>(value).ok());
    if let Some(report) = report {
        for site in &report.sites {
            let at = format!("{}:{}:{}", safe(&site.site.file), site.site.line + 1, site.site.column + 1);
            let what = site.change_summary.as_deref().or(site.reason.as_deref()).unwrap_or_default();
            line(&mut out, format_args!("  {:10} {at:28} {}", site.result.as_str(), one_line(what)));
        }
        line(&mut out, format_args!("{}", summary(&report, Writing::Apply)));
    }
    out
}
