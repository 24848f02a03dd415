//! A worklist for people: sites by file, what somebody should look at, everything else folded to counts, and the
//! accounting as the last line. Lines and columns are 1-based, columns in characters.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};

use crate::cli::render::{counted, line, place, safe};
use crate::harness::{Detail, Filter, Listing, Sources};
use crate::plan::{DocumentName, Mention, MentionClass, Near, Reason, Site, Unresolvable, Worklist};
use crate::text::{Position, RelPath};

const FILE: Style = Style::new().bold();
const KIND: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
const WARNING: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
/// Longer source lines are shown around the name only.
const LONGEST_LINE: usize = 160;
/// How much of such a line stands before the name.
const BEFORE_NAME: usize = 60;
/// Of what is outside the accounting, or no code, more than so many rows are folded.
const MOST_ROWS: usize = 20;
/// Places are aligned up to this width.
const WIDEST_PLACE: usize = 44;

/// The whole listing.
pub(in crate::cli) fn worklist(listing: &Listing<'_>, sources: &Sources, detail: Detail) -> String {
    let mut out = String::new();
    let symbol = &listing.worklist.symbol;
    let defined: Vec<String> = symbol.definitions.iter().map(|d| place(&d.file, d.position)).collect();
    let (fqn, kind) = (symbol.path.to_string(), symbol.kind.as_str());
    line(&mut out, format_args!("{FILE}{fqn}{FILE:#} ({kind}), defined at {}", defined.join(", ")));
    sites(&mut out, &listing.sites, sources);
    match detail {
        Detail::Worklist => folded(&mut out, listing),
        Detail::Explained => opened(&mut out, listing, sources),
    }
    documents(&mut out, &listing.documents, detail);
    unresolvable(&mut out, &listing.unresolvable, sources);
    for note in &listing.worklist.notes {
        line(&mut out, format_args!("\nnote: {}", safe(note)));
    }
    out.push('\n');
    narrowed(&mut out, listing);
    line(&mut out, format_args!("{FILE}{}{FILE:#}", accounting(listing.worklist)));
    out
}

/// `17 mentions = 11 site + 3 import + …`
pub(in crate::cli) fn accounting(worklist: &Worklist) -> String {
    let of = |&class: &MentionClass| format!("{} {}", worklist.accounting.of(class), class.as_str());
    let parts: Vec<String> = MentionClass::ALL.iter().map(of).collect();
    format!("{} = {}", counted(worklist.accounting.mentions, "mention", "mentions"), parts.join(" + "))
}

/// One row of a section.
struct Row {
    place: String,
    kind: &'static str,
    text: String,
}

fn rows(out: &mut String, rows: &[Row]) {
    let width = rows.iter().map(|row| row.place.chars().count()).max().unwrap_or(0).min(WIDEST_PLACE);
    let kinds = rows.iter().map(|row| row.kind.len()).max().unwrap_or(0);
    for Row { place, kind, text } in rows {
        let row = format!("  {place:width$}  {KIND}{kind:kinds$}{KIND:#}  {text}");
        line(out, format_args!("{}", row.trim_end()));
    }
}

fn sites(out: &mut String, sites: &[&Site], sources: &Sources) {
    let mut files: BTreeMap<&RelPath, Vec<&Site>> = BTreeMap::new();
    // People read from top to bottom.
    for site in sites.iter().rev() {
        files.entry(&site.file).or_default().push(site);
    }
    let of_files =
        if files.is_empty() { String::new() } else { format!(" in {}", counted(files.len(), "file", "files")) };
    line(out, format_args!("\n{}{of_files}", counted(sites.len(), "site", "sites")));
    for (file, sites) in files {
        let count = if sites.len() == 1 { String::new() } else { format!(" ({})", sites.len()) };
        line(out, format_args!("\n{FILE}{}{FILE:#}{count}", safe(file.as_str())));
        let row = |site: &&Site| Row {
            place: place(site.file.as_str(), site.position),
            kind: site.kind.as_str(),
            text: site_line(site, sources),
        };
        rows(out, &sites.iter().map(row).collect::<Vec<_>>());
    }
}

/// The source line of a site, marked where its region goes on, with the note that it stands under another name.
pub(in crate::cli) fn site_line(site: &Site, sources: &Sources) -> String {
    let shown = match sources.of(&site.file).and_then(|source| source.line(site.position.line()).ok()) {
        Some(line) => excerpt(line, site.position.column()),
        // The file changed meanwhile.
        None => excerpt(site.text.split(['\n', '\r']).next().unwrap_or_default(), 0),
    };
    let goes_on = if site.text.contains(['\n', '\r']) { " …" } else { "" };
    let alias = site.alias.as_ref().map(|alias| format!("  (as {})", safe(alias))).unwrap_or_default();
    format!("{shown}{goes_on}{alias}")
}

/// The line at a place, where the file is still as it was looked at.
fn line_at(file: &str, position: Position, sources: &Sources) -> Option<String> {
    let line = sources.named(file)?.line(position.line()).ok()?;
    Some(excerpt(line, position.column()))
}

/// A line without the blanks around it, and of a long one what stands around a column.
pub(in crate::cli) fn excerpt(line: &str, column: usize) -> String {
    let blanks = line.chars().take_while(|c| c.is_whitespace()).count();
    let line = line.trim();
    if line.chars().count() <= LONGEST_LINE {
        return safe(line);
    }
    let from = column.saturating_sub(blanks).saturating_sub(BEFORE_NAME);
    let window: String = line.chars().skip(from).take(LONGEST_LINE).collect();
    let before = if from > 0 { "… " } else { "" };
    let after = if from + LONGEST_LINE < line.chars().count() { " …" } else { "" };
    format!("{before}{}{after}", safe(&window))
}

fn folded(out: &mut String, listing: &Listing<'_>) {
    let decoys = by_target(&listing.mentions);
    if !decoys.is_empty() {
        line(out, format_args!("\nsomething else of that name (--explain lists each)"));
        for (target, mentions) in decoys {
            let first = mentions.first().map(|m| place(m.file.as_str(), m.position)).unwrap_or_default();
            line(out, format_args!("  {} x of {}, first at {first}", mentions.len(), safe(target)));
        }
    }
    near(out, &listing.near);
    let mut texts: BTreeMap<&RelPath, BTreeMap<&str, usize>> = BTreeMap::new();
    for mention in listing.mentions.iter().filter(|mention| mention.class == MentionClass::Text) {
        *texts.entry(&mention.file).or_default().entry(mention.kind.as_str()).or_default() += 1;
    }
    if !texts.is_empty() {
        line(out, format_args!("\nin comments and strings (--explain lists each)"));
        let files = texts.len();
        for (file, kinds) in texts.into_iter().take(MOST_ROWS) {
            let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} x {kind}")).collect();
            line(out, format_args!("  {}: {}", safe(file.as_str()), kinds.join(", ")));
        }
        more(out, files, "files");
    }
}

/// Says how many rows were left out.
fn more(out: &mut String, all: usize, what: &str) {
    if all > MOST_ROWS {
        line(out, format_args!("  and {} more {what} (--explain)", all - MOST_ROWS));
    }
}

fn by_target<'m>(mentions: &[&'m Mention]) -> BTreeMap<&'m str, Vec<&'m Mention>> {
    let mut targets: BTreeMap<&str, Vec<&Mention>> = BTreeMap::new();
    for &mention in mentions.iter().filter(|mention| mention.class == MentionClass::Decoy) {
        targets.entry(mention.resolves_to.as_deref().unwrap_or("something else")).or_default().push(mention);
    }
    targets
}

type NearNames<'n> = BTreeMap<(&'n str, Option<&'n str>), Vec<&'n Near>>;

fn by_name<'n>(near: &[&'n Near]) -> NearNames<'n> {
    let mut names = NearNames::new();
    for &near in near {
        names.entry((&near.text, near.resolves_to.as_deref())).or_default().push(near);
    }
    names
}

/// Longer names, folded to a count per name and target.
pub(in crate::cli) fn near(out: &mut String, near: &[&Near]) {
    let names = by_name(near);
    if !names.is_empty() {
        line(out, format_args!("\nlonger names that contain it, not counted"));
    }
    let all = names.len();
    for (name, places) in names.into_iter().take(MOST_ROWS) {
        let first = places.first().map(|near| place(near.file.as_str(), near.position)).unwrap_or_default();
        line(out, format_args!("  {} x {}, first at {first}", places.len(), near_name(name)));
    }
    more(out, all, "names");
}

fn near_name((name, target): (&str, Option<&str>)) -> String {
    match target {
        Some(target) => format!("{} of {}", safe(name), safe(target)),
        None => format!("{}, whose target wasn't asked for or isn't known", safe(name)),
    }
}

/// Everything that isn't a site, each with its place and what it is.
fn opened(out: &mut String, listing: &Listing<'_>, sources: &Sources) {
    let row = |mention: &Mention| Row {
        place: place(mention.file.as_str(), mention.position),
        kind: mention.kind.as_str(),
        text: line_at(mention.file.as_str(), mention.position, sources).unwrap_or_default(),
    };
    let section = |out: &mut String, class: MentionClass, one: &str, many: &str| {
        let mentions = listing.mentions.iter().filter(|mention| mention.class == class);
        let listed: Vec<Row> = mentions.map(|mention| row(mention)).collect();
        if !listed.is_empty() {
            line(out, format_args!("\n{}", counted(listed.len(), one, many)));
            rows(out, &listed);
        }
    };
    section(out, MentionClass::Definition, "definition", "definitions");
    section(out, MentionClass::Import, "import", "imports");
    for (target, mentions) in by_target(&listing.mentions) {
        line(out, format_args!("\nsomething else of that name: {} x of {}", mentions.len(), safe(target)));
        rows(out, &mentions.into_iter().map(row).collect::<Vec<_>>());
    }
    for (name, places) in by_name(&listing.near) {
        line(out, format_args!("\na longer name, not counted: {} x {}", places.len(), near_name(name)));
        let row = |near: &&Near| Row {
            place: place(near.file.as_str(), near.position),
            kind: "",
            text: line_at(near.file.as_str(), near.position, sources).unwrap_or_default(),
        };
        rows(out, &places.iter().map(row).collect::<Vec<_>>());
    }
    section(out, MentionClass::Text, "mention in comments and strings", "mentions in comments and strings");
}

/// Names in files that aren't Python: open where they are few.
fn documents(out: &mut String, names: &[&DocumentName], detail: Detail) {
    if names.is_empty() {
        return;
    }
    line(out, format_args!("\n{} in other files, not counted", counted(names.len(), "name", "names")));
    if names.len() <= MOST_ROWS || detail == Detail::Explained {
        let row = |name: &&DocumentName| Row {
            place: place(name.file.as_str(), name.position),
            kind: "",
            text: excerpt(&name.line, name.position.column()),
        };
        rows(out, &names.iter().map(row).collect::<Vec<_>>());
        return;
    }
    let mut files: BTreeMap<&RelPath, usize> = BTreeMap::new();
    for name in names {
        *files.entry(&name.file).or_default() += 1;
    }
    for (file, count) in files {
        line(out, format_args!("  {}: {count}", safe(file.as_str())));
    }
}

/// What a person should look at: always open, what has one reason and one remedy together.
fn unresolvable(out: &mut String, entries: &[&Unresolvable], sources: &Sources) {
    if entries.is_empty() {
        return;
    }
    line(out, format_args!("\n{} for a person to look at (--why FILE:LINE explains each)", entries.len()));
    let mut groups: Vec<((Reason, &str), Vec<Row>)> = Vec::new();
    for entry in entries {
        let key = (entry.reason, entry.message.as_str());
        let row = row_of(entry, sources);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    for ((reason, message), listed) in groups {
        line(out, format_args!("\n{WARNING}{}{WARNING:#}: {}", reason.as_str(), safe(message)));
        rows(out, &listed);
    }
}

/// An entry with its source line, where it has a place and the file is still as it was looked at.
fn row_of(entry: &Unresolvable, sources: &Sources) -> Row {
    match entry.place {
        Some((position, _)) => Row {
            place: place(&entry.file, position),
            kind: "",
            text: line_at(&entry.file, position, sources).unwrap_or_default(),
        },
        None => Row { place: safe(&entry.file), kind: "", text: String::new() },
    }
}

fn narrowed(out: &mut String, listing: &Listing<'_>) {
    if listing.filter.is_empty() {
        return;
    }
    let (sites, all) = (listing.sites_left_out(), listing.worklist.sites.len());
    let (entries, all_entries) = (listing.unresolvable_left_out(), listing.worklist.unresolvable.len());
    line(
        out,
        format_args!(
            "{WARNING}narrowed by {}{WARNING:#}: {sites} of {all} sites and {entries} of {all_entries} entries for a \
             person are not listed; what follows counts everything",
            flags(listing.filter)
        ),
    );
}

fn flags(filter: &Filter) -> String {
    let kinds = filter.kinds.iter().map(|kind| format!("--kind {}", kind.as_str()));
    let include = filter.include.iter().map(|glob| format!("--include {}", safe(glob)));
    let exclude = filter.exclude.iter().map(|glob| format!("--exclude {}", safe(glob)));
    kinds.chain(include).chain(exclude).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_stands_around_the_name_is_shown() {
        assert_eq!(excerpt("    f(1)  ", 4), "f(1)");
        let long = format!("{}name{}", "a".repeat(300), "b".repeat(300));
        let shown = excerpt(&long, 300);
        assert!(shown.starts_with("… aaa") && shown.contains("aname") && shown.ends_with("b …"), "{shown}");
        assert_eq!(shown.chars().count(), LONGEST_LINE + 4);
    }
}
