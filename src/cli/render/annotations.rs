//! Formats of one line per place for other programs: GitHub's workflow commands, and the list of an editor.

use std::fmt::Write as _;

use crate::cli::render::worklist::{accounting, site_line};
use crate::cli::render::{line, safe};
use crate::harness::{Listing, Sources};
use crate::plan::Site;
use crate::text::{ByteSpan, Position};

/// `::notice` for each site, `::warning` for whatever a person should look at, and the accounting at the end.
/// `prefix` leads from the current folder, which is the root of the repository in most jobs, to the workspace.
pub(in crate::cli) fn github(listing: &Listing<'_>, sources: &Sources, prefix: &str) -> String {
    let mut out = String::new();
    let fqn = listing.worklist.symbol.path.to_string();
    for site in listing.sites.iter().rev() {
        let file = format!("{prefix}{}", site.file);
        let text = format!("{} of {fqn}: {}", site.kind.as_str(), site_line(site, sources));
        command(&mut out, "notice", Some((&file, Some(site.position))), &text);
    }
    for entry in &listing.unresolvable {
        let file = if is_absolute(&entry.file) { entry.file.clone() } else { format!("{prefix}{}", entry.file) };
        let text = format!("{fqn} may be meant, {}: {}", entry.reason.as_str(), safe(&entry.message));
        command(&mut out, "warning", Some((&file, entry.place.map(|(position, _)| position))), &text);
    }
    command(&mut out, "notice", None, &format!("{fqn}: {}", accounting(listing.worklist)));
    out
}

fn is_absolute(file: &str) -> bool {
    std::path::Path::new(file).is_absolute()
}

fn command(out: &mut String, name: &str, at: Option<(&str, Option<Position>)>, message: &str) {
    let mut properties = String::new();
    if let Some((file, position)) = at {
        write!(properties, " file={}", property(file)).expect("writing to a string can't fail");
        if let Some(position) = position {
            write!(properties, ",line={},col={}", position.line() + 1, position.column() + 1)
                .expect("writing to a string can't fail");
        }
    }
    line(out, format_args!("::{name}{properties}::{}", data(message)));
}

/// A message: `%` first, since the others bring some.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property ends at a comma, and the properties at a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// `FILE:LINE:COL:TEXT`, the column in bytes as Vim's `%c` counts it. What is unresolved is listed with its reason, so
/// that nobody who steps through the list misses it.
pub(in crate::cli) fn vimgrep(listing: &Listing<'_>, sources: &Sources, prefix: &str) -> String {
    let mut found: Vec<(&str, Position, ByteSpan, String)> = Vec::new();
    for site in &listing.sites {
        found.push((site.file.as_str(), site.position, site.span, whole_line(site, sources)));
    }
    for entry in &listing.unresolvable {
        let Some((position, span)) = entry.place else { continue };
        let text = format!("[{}] {}", entry.reason.as_str(), safe(&entry.message));
        found.push((&entry.file, position, span, text));
    }
    found.sort();
    let mut out = String::new();
    for (file, position, span, text) in found {
        let in_bytes = sources.named(file).and_then(|source| source.byte_column(span.start()).ok());
        let column = in_bytes.unwrap_or_else(|| position.column());
        line(&mut out, format_args!("{prefix}{}:{}:{}:{text}", safe(file), position.line() + 1, column + 1));
    }
    out
}

/// The line as it is written, as `grep` would show it.
fn whole_line(site: &Site, sources: &Sources) -> String {
    let line = sources.of(&site.file).and_then(|source| source.line(site.position.line()).ok());
    safe(line.unwrap_or_else(|| site.text.split(['\n', '\r']).next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        assert_eq!(data("100%\r\n: a, b"), "100%25%0D%0A: a, b");
        assert_eq!(property("a:b,c%.py"), "a%3Ab%2Cc%25.py");
    }
}
