//! Names of the symbol in the workspace's text files that aren't Python: entry points, settings, documentation.
//!
//! Only what is exactly a dotted name or `module:attribute` counts, under any name that the symbol is imported by.
//! Files over 1 MiB, binary ones, those that an ignore file names and those in folders of installed packages are left
//! out. What isn't UTF-8 is read as Latin-1, which tells places right in any encoding of one byte each.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;

use crate::plan::DocumentName;
use crate::text::{ByteOffset, ByteSpan, RelPath, SourceText};

use super::codebase::Codebase;

/// Larger files are data.
const MAX_DOCUMENT_BYTES: u64 = 1 << 20;

/// A symbol as it can be imported: its module, and its name there.
pub(super) type ImportedAs = (String, Vec<String>);

/// Where files that aren't Python name the symbol, in order of file and place.
pub(super) fn documents(codebase: &Codebase, names: &BTreeSet<ImportedAs>) -> Vec<DocumentName> {
    // Nearly no file holds even the last part.
    let mut spelled: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, name) in names.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(last) = name.last() else { continue };
        let name = name.join(".");
        spelled.entry(last).or_default().extend([format!("{module}.{name}"), format!("{module}:{name}")]);
    }
    let finders: Vec<_> = spelled
        .into_iter()
        .map(|(last, spelled)| (memmem::Finder::new(last.as_bytes()).into_owned(), spelled))
        .collect();
    let mut found = Vec::new();
    for (file, bytes) in codebase.documents(MAX_DOCUMENT_BYTES) {
        let held: Vec<&str> = finders
            .iter()
            .filter(|(last, _)| last.find(&bytes).is_some())
            .flat_map(|(_, spelled)| spelled.iter().map(String::as_str))
            .filter(|spelled| memmem::find(&bytes, spelled.as_bytes()).is_some())
            .collect();
        if !held.is_empty() && !bytes.contains(&0) {
            names_in(file, bytes, &held, &mut found);
        }
    }
    found
}

fn names_in(file: &RelPath, bytes: Vec<u8>, spelled: &[&str], found: &mut Vec<DocumentName>) {
    // A name in ASCII has the same bytes in every encoding that extends ASCII.
    let in_latin_1: Option<String> =
        std::str::from_utf8(&bytes).is_err().then(|| bytes.iter().map(|&byte| char::from(byte)).collect());
    let source = match &in_latin_1 {
        Some(text) => SourceText::from_text(text),
        None => match SourceText::from_bytes(bytes) {
            Ok(source) => source,
            Err(_) => return,
        },
    };
    let text = source.as_str();
    let mut spans: BTreeSet<ByteSpan> = BTreeSet::new();
    for name in spelled {
        let places = memmem::find_iter(text.as_bytes(), name.as_bytes()).map(|start| (start, start + name.len()));
        let alone = places.filter(|&(start, end)| match (text.get(..start), text.get(end..)) {
            (Some(before), Some(after)) => is_alone(before, after),
            _ => false,
        });
        spans.extend(alone.map(|(start, end)| ByteSpan::new(start, end)));
    }
    found.extend(spans.into_iter().filter_map(|span| {
        let position = source.position(span.start()).ok()?;
        let (text, line) = (source.slice(span)?.to_owned(), source.line(position.line()).ok()?.to_owned());
        // One byte of the file each.
        let bytes = |end: ByteOffset| in_latin_1.as_ref().map_or(end.get(), |text| text[..end.get()].chars().count());
        let span = ByteSpan::new(bytes(span.start()), bytes(span.end()));
        Some(DocumentName { file: file.clone(), position, span, text, line })
    }));
}

/// Whether a name isn't part of a longer one; an attribute of it may follow.
fn is_alone(before: &str, after: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begins = !before.chars().next_back().is_some_and(|c| is_part(c) || c == '.');
    begins && !after.chars().next().is_some_and(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_alone_where_nothing_makes_it_longer() {
        for (before, after) in [("", ""), ("= \"", "\""), (":func:`", "`"), ("~", " "), ("x ", "."), ("", ".attribute")]
        {
            assert!(is_alone(before, after), "{before} {after}");
        }
        for (before, after) in [("other.", ""), ("a", ""), ("", "_"), ("", "s")] {
            assert!(!is_alone(before, after), "{before} {after}");
        }
    }
}
