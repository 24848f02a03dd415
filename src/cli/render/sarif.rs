//! SARIF 2.1.0: a note for each site, a warning for whatever a person should look at. Paths are relative to
//! `%SRCROOT%`, which stands for the workspace and is left for the reader to bind: the same tree gives the same bytes.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::render::worklist::accounting;
use crate::harness::{Listing, Sources};
use crate::plan::{Reason, Site, Unresolvable};
use crate::text::{ByteSpan, Position};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The log of one run.
pub(in crate::cli) fn sarif(listing: &Listing<'_>, sources: &Sources) -> Value {
    let fqn = listing.worklist.symbol.path.to_string();
    let sites = listing.sites.iter().rev().map(|site| site_result(site, &fqn, sources));
    let entries = listing.unresolvable.iter().map(|entry| entry_result(entry, sources));
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tainie",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": "the workspace" } } },
            "results": sites.chain(entries).collect::<Vec<Value>>(),
            "properties": { "symbol": fqn, "accounting": accounting(listing.worklist), "notes": listing.worklist.notes },
        }],
    })
}

/// `site` first, then one rule per reason.
fn rules() -> Vec<Value> {
    let rule = |id: &str, text: &str, help: &str, level: &str| {
        json!({
            "id": id,
            "shortDescription": { "text": format!("{text}.") },
            "help": { "text": format!("{help}.") },
            "defaultConfiguration": { "level": level },
        })
    };
    let reasons = Reason::ALL.into_iter().map(|r| rule(r.as_str(), r.explanation(), r.remedy(), "warning"));
    let site = rule("site", "a reference to the symbol", "`tainie edit` edits it", "note");
    std::iter::once(site).chain(reasons).collect()
}

fn rule_index(reason: Reason) -> usize {
    1 + Reason::ALL.iter().position(|known| *known == reason).expect("all reasons are listed")
}

fn site_result(site: &Site, fqn: &str, sources: &Sources) -> Value {
    let alias = site.alias.as_ref().map(|alias| format!(" as {alias}")).unwrap_or_default();
    json!({
        "ruleId": "site",
        "ruleIndex": 0,
        "level": "note",
        "message": { "text": format!("{} of {fqn}{alias}", site.kind.as_str()) },
        "locations": [location(site.file.as_str(), Some((site.position, site.span)), sources)],
        "properties": {
            "id": site.id.as_str(),
            "kind": site.kind.as_str(),
            "enclosing": site.enclosing,
            "region": { "byteOffset": site.region.start().get(), "byteLength": site.region.len() },
        },
    })
}

fn entry_result(entry: &Unresolvable, sources: &Sources) -> Value {
    json!({
        "ruleId": entry.reason.as_str(),
        "ruleIndex": rule_index(entry.reason),
        "level": "warning",
        "message": { "text": entry.message },
        "locations": [location(&entry.file, entry.place, sources)],
    })
}

fn location(file: &str, place: Option<(Position, ByteSpan)>, sources: &Sources) -> Value {
    let artifact = if std::path::Path::new(file).is_absolute() {
        let slash = if file.starts_with('/') { "" } else { "/" };
        json!({ "uri": format!("file://{slash}{}", percent_encoded(file)) })
    } else {
        json!({ "uri": percent_encoded(file), "uriBaseId": "%SRCROOT%" })
    };
    let mut physical = json!({ "artifactLocation": artifact });
    if let Some((position, span)) = place {
        let mut region = json!({
            "startLine": position.line() + 1,
            "startColumn": position.column() + 1,
            "byteOffset": span.start().get(),
            "byteLength": span.len(),
        });
        // The end stands behind the last character.
        if let Some(end) = sources.named(file).and_then(|source| source.position(span.end()).ok()) {
            region["endLine"] = json!(end.line() + 1);
            region["endColumn"] = json!(end.column() + 1);
        }
        physical["region"] = region;
    }
    json!({ "physicalLocation": physical })
}

/// A path as a URI reference; a colon in its first segment would make a scheme of that.
fn percent_encoded(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("writing to a string can't fail");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_reference_that_a_uri_parser_reads_back() {
        assert_eq!(percent_encoded("a b/ü#%.py"), "a%20b/%C3%BC%23%25.py");
        assert_eq!(percent_encoded("c:d.py"), "c%3Ad.py");
    }

    #[test]
    fn each_reason_has_its_rule() {
        let rules = rules();
        for reason in Reason::ALL {
            assert_eq!(rules[rule_index(reason)]["id"], reason.as_str());
        }
    }
}
