//! A worklist as lines of JSON: a header first, then one object per line, so that a large one can be read as it comes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    WireAccounting, WireDocument, WireFile, WireFilter, WireMention, WireNear, WireRoots, WireSite, WireSymbol,
    WireTool, WireUnresolvable, WireWorklist,
};

/// One line; `type` says what it holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum WireLine {
    /// The first line.
    Header {
        schema_version: u32,
        tool: WireTool,
        workspace: String,
        symbol: WireSymbol,
        accounting: WireAccounting,
        /// How much each source was asked: `all` mentions, those left `open` by the others, or `nothing`.
        asked: BTreeMap<String, String>,
        notes: Vec<String>,
        /// Import roots that the project doesn't declare, where there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        import_roots: Option<WireRoots>,
        /// How the listing was narrowed, where it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        filter: Option<WireFilter>,
    },
    Site(WireSite),
    Unresolvable(WireUnresolvable),
    Near(WireNear),
    Document(WireDocument),
    File(WireFile),
    /// Only with `--explain`.
    Mention(WireMention),
}

impl WireWorklist {
    /// The header, then the sites, the list for a person, longer names, documents, files and mentions.
    pub(crate) fn into_lines(self) -> Vec<WireLine> {
        let header = WireLine::Header {
            schema_version: self.schema_version,
            tool: self.tool,
            workspace: self.workspace,
            symbol: self.symbol,
            accounting: self.accounting,
            asked: self.asked,
            notes: self.notes,
            import_roots: self.import_roots,
            filter: self.filter,
        };
        std::iter::once(header)
            .chain(self.sites.into_iter().map(WireLine::Site))
            .chain(self.unresolvable.into_iter().map(WireLine::Unresolvable))
            .chain(self.near.into_iter().map(WireLine::Near))
            .chain(self.documents.into_iter().map(WireLine::Document))
            .chain(self.files.into_iter().map(WireLine::File))
            .chain(self.mentions.into_iter().flatten().map(WireLine::Mention))
            .collect()
    }
}
