//! What `tainie demo` shows: the worklist with everything that merely looks like it, the edits, and a table.

use anstyle::Style;

use crate::cli::render::worklist::near;
use crate::cli::render::{counted, green, line, one_line, place};
use crate::harness::{Demonstration, Outcome};
use crate::plan::{Mention, MentionClass, Near, Site, Worklist};

const BOLD: Style = Style::new().bold();
/// The width of the column with the names of the rows.
const NAMES: usize = 39;
/// By fixture: the autonomous grep loop, and the decomposed architecture.
const QUOTED: [(&str, [&str; 2]); 2] = [("d4", ["7/10", "10/10"]), ("d7", ["4/5", "5/5"])];

/// The sites, and what everything else that a search for the name finds really is.
pub(in crate::cli) fn demo_worklist(fixture: &str, headline: &str, worklist: &Worklist) -> String {
    let mut out = String::new();
    let symbol = &worklist.symbol;
    let defined: Vec<String> = symbol.definitions.iter().map(|d| place(&d.file, d.position)).collect();
    line(&mut out, format_args!("{BOLD}{fixture}{BOLD:#}: {headline}"));
    line(&mut out, format_args!("{} ({}), defined at {}", symbol.path, symbol.kind.as_str(), defined.join(", ")));
    sites(&mut out, &worklist.sites);
    let others: Vec<&Mention> = worklist.mentions.iter().filter(|m| m.class != MentionClass::Site).collect();
    let others_counted = counted(others.len(), "other mention", "other mentions");
    line(&mut out, format_args!("\n{others_counted} of the name, and what each really is"));
    for mention in others {
        let at = place(mention.file.as_str(), mention.position);
        line(&mut out, format_args!("  {at:28} {}", what_it_is(mention)));
    }
    near(&mut out, &worklist.near.iter().collect::<Vec<&Near>>());
    out
}

fn sites(out: &mut String, sites: &[Site]) {
    line(out, format_args!("\n{}", counted(sites.len(), "site", "sites")));
    for site in sites {
        let alias = site.alias.as_ref().map(|alias| format!(" (as {alias})")).unwrap_or_default();
        let (at, kind) = (place(site.file.as_str(), site.position), site.kind.as_str());
        line(out, format_args!("  {at:28} {kind:11} {}{alias}", one_line(&site.text)));
    }
}

fn what_it_is(mention: &Mention) -> String {
    let kind = mention.kind.as_str();
    match (mention.class, &mention.resolves_to, mention.reason) {
        (MentionClass::Decoy, Some(target), _) => format!("decoy: {kind} of {target}"),
        (MentionClass::Decoy, None, _) => format!("decoy: {kind} of something else"),
        (MentionClass::Unresolved, _, Some(reason)) => format!("unresolved: {}", reason.as_str()),
        (MentionClass::Text, ..) => format!("text: in a {kind}"),
        (MentionClass::Import, ..) => "import".to_owned(),
        (MentionClass::Definition, ..) => "definition".to_owned(),
        (class, ..) => class.as_str().to_owned(),
    }
}

/// Each site with what it became, and whatever isn't as it must be.
pub(in crate::cli) fn demo_edits(done: &Demonstration) -> String {
    let mut out = String::new();
    let (totals, editor) = (&done.report.totals, editor(done));
    line(&mut out, format_args!("\n{} of {} sites edited by {editor}", totals.applied, totals.sites));
    for site in &done.report.sites {
        let at = format!("{}:{}:{}", site.site.file, site.site.line + 1, site.site.column + 1);
        let what = match (&site.change_summary, &site.reason) {
            (Some(change), _) => change.rsplit_once(" -> ").map_or(change.as_str(), |(_, after)| after),
            (None, Some(reason)) => reason.as_str(),
            (None, None) => "no reason was given",
        };
        let outcome = if site.result == Outcome::Applied { "->" } else { site.result.as_str() };
        line(&mut out, format_args!("  {at:28} {outcome} {}", one_line(what)));
    }
    for problem in done.problems() {
        line(&mut out, format_args!("{BOLD}not as it must be{BOLD:#}: {problem}"));
    }
    let oracle_output = done.report.oracle.as_ref().and_then(|oracle| oracle.output.as_deref());
    for said in oracle_output.into_iter().flat_map(|output| output.split('\n')) {
        line(&mut out, format_args!("    {said}"));
    }
    out.push('\n');
    out
}

fn editor(done: &Demonstration) -> String {
    match done.report.editor.as_str() {
        "rules" => "the built-in rules".to_owned(),
        model => format!("the model {model}"),
    }
}

/// One column per fixture; the seed's figures stand below, marked as what they are.
pub(in crate::cli) fn demo_table(shown: &[Demonstration]) -> String {
    let rows: Vec<(&str, Vec<String>)> =
        ROWS.iter().map(|(name, value)| (*name, shown.iter().map(value).collect())).collect();
    let quoted: Vec<(&str, Vec<String>)> = [("autonomous grep loop", 0), ("decomposed architecture, scout first", 1)]
        .iter()
        .map(|&(name, at)| (name, shown.iter().map(|done| quoted(done.fixture, at)).collect()))
        .collect();
    let width = |cells: &mut dyn Iterator<Item = &String>| cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
    let column = width(&mut rows.iter().chain(&quoted).flat_map(|(_, cells)| cells)) + 3;
    let mut out = String::new();
    let mut print = |rows: &[(&str, Vec<String>)]| {
        for (name, cells) in rows {
            let cells = cells.iter().map(|cell| format!("{cell:column$}")).collect::<Vec<_>>().concat();
            line(&mut out, format_args!("{}", format!("{name:NAMES$}{cells}").trim_end()));
        }
    };
    print(&rows);
    print(&[
        ("", Vec::new()),
        ("quoted from the project's kickoff document, not measured here: runs that were right", Vec::new()),
    ]);
    print(&quoted);
    out
}

/// The name of a row, and what stands in it for a fixture.
type Row = (&'static str, fn(&Demonstration) -> String);

const ROWS: [Row; 12] = [
    ("fixture", |done| done.fixture.to_owned()),
    ("editor", |done| done.report.editor.clone()),
    ("sites", |done| done.report.totals.sites.to_string()),
    ("applied", |done| done.report.totals.applied.to_string()),
    ("skipped", |done| done.report.totals.skipped.to_string()),
    ("unchecked, left, already so", |done| {
        let totals = &done.report.totals;
        (totals.unchecked + totals.left + totals.already).to_string()
    }),
    ("decoys and near names untouched", |done| format!("{} of {}", done.others.untouched, done.others.lookalikes)),
    ("bytes outside the sites", |done| match done.others.changed.len() {
        0 => format!("{} unchanged", done.others.bytes),
        _ => "CHANGED".to_owned(),
    }),
    ("oracle before -> after", |done| match &done.report.oracle {
        Some(oracle) => format!("{} -> {}", green(oracle.before), oracle.after.map_or("not run", green)),
        None => "none".to_owned(),
    }),
    ("undo", |done| match (done.report.run, done.not_undone.is_empty()) {
        (_, false) => "NOT EXACT".to_owned(),
        (Some(_), true) => "byte for byte".to_owned(),
        (None, true) => "nothing to undo".to_owned(),
    }),
    ("model calls", |done| done.report.totals.model_calls.to_string()),
    ("seconds", |done| format!("{:.1}", done.seconds)),
];

fn quoted(fixture: &str, at: usize) -> String {
    let figures = QUOTED.iter().find(|(name, _)| *name == fixture).and_then(|(_, figures)| figures.get(at));
    figures.map_or_else(String::new, |figure| (*figure).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_quoted_for_every_fixture() {
        let all = |at| crate::harness::FIXTURES.map(|fixture| quoted(fixture, at));
        assert_eq!((all(0), all(1)), (["7/10", "4/5"].map(str::to_owned), ["10/10", "5/5"].map(str::to_owned)));
        assert!(demo_table(&[]).contains("quoted from the project's kickoff document, not measured here"));
    }
}
