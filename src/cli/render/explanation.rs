//! What `scout --why` and `scout --reasons` show.

use anstyle::Style;

use crate::cli::render::worklist::excerpt;
use crate::cli::render::{line, safe};
use crate::harness::{Answered, Explained, ExplainedReason, Explanation};
use crate::plan::Reason;

const BOLD: Style = Style::new().bold();

/// The mentions of a place with what each source said, or what stands there instead.
pub(in crate::cli) fn explanation(explanation: &Explanation) -> String {
    let mut out = String::new();
    let file = safe(&explanation.file);
    let column = explanation.column.map(|column| format!(":{}", column + 1)).unwrap_or_default();
    let symbol = &explanation.symbol;
    line(&mut out, format_args!("{BOLD}{symbol}{BOLD:#} at {file}:{}{column}", explanation.line + 1));
    let shown = excerpt(&explanation.text, explanation.column.unwrap_or(0));
    if !shown.is_empty() {
        line(&mut out, format_args!("      {shown}"));
    }
    for mention in &explanation.mentions {
        one(&mut out, &file, mention);
    }
    if let Some(instead) = &explanation.instead {
        line(&mut out, format_args!("\nno mention of the symbol: {}", safe(&instead.what)));
        if instead.nearest.is_empty() {
            line(&mut out, format_args!("the file holds none"));
        } else {
            line(&mut out, format_args!("the nearest mentions"));
        }
        for nearest in &instead.nearest {
            line(&mut out, format_args!("  {}  {}", safe(&nearest.place), nearest.class));
        }
    }
    for remark in &explanation.remarks {
        out.push('\n');
        reason(&mut out, remark);
    }
    out
}

fn one(out: &mut String, file: &str, mention: &Explained) {
    let Explained { text, class, kind, line: at, column, .. } = mention;
    let target = mention.resolves_to.as_ref().map(|target| format!(", of {}", safe(target))).unwrap_or_default();
    let name = safe(text);
    line(out, format_args!("\n{file}:{}:{}  `{name}`: {BOLD}{class}{BOLD:#} ({kind}){target}", at + 1, column + 1));
    fact(out, "rule", &format!("{}: {}", mention.rule, mention.because));
    let points_at = mention.points_at.join(", ");
    let points_at = if points_at.is_empty() { points_at } else { format!(" ({points_at})") };
    source(out, "definition", &mention.definition, &points_at);
    source(out, "glean", &mention.glean, "");
    source(out, "references", &mention.references, "");
    if let Some(opinion) = &mention.second_opinion {
        source(out, "2nd opinion", &opinion.said, &format!(", says {}", opinion.server));
    }
    source(out, "scopes", &mention.scopes, "");
    fact(out, "syntax", &mention.syntax);
    for why in &mention.reasons {
        reason(out, why);
    }
}

fn source(out: &mut String, name: &str, answered: &Answered, more: &str) {
    fact(out, name, &format!("{}{more}", answered.told));
}

fn reason(out: &mut String, why: &ExplainedReason) {
    fact(out, "unresolved", &format!("{}: {}", why.reason, why.message));
    // Many a message begins with what every one of its reason means.
    if !why.message.starts_with(&why.explanation) {
        fact(out, "that is", &why.explanation);
    }
    fact(out, "remedy", &why.remedy);
}

fn fact(out: &mut String, name: &str, text: &str) {
    line(out, format_args!("  {name:11} {}", safe(text)));
}

/// Every reason with what it means and what resolves it.
pub(in crate::cli) fn reasons() -> String {
    let mut out = String::new();
    for reason in Reason::ALL {
        line(&mut out, format_args!("{BOLD}{}{BOLD:#}", reason.as_str()));
        line(&mut out, format_args!("  {}", reason.explanation()));
        line(&mut out, format_args!("  remedy: {}", reason.remedy()));
    }
    out
}
