//! The JSON surface: types made for it, apart from the inner ones, so that an inner change can't alter it unseen.
//!
//! `line` and `column` are 0-based, columns in characters without a byte-order mark; `span` and `region` are byte
//! offsets, end exclusive, a byte-order mark counted. Files are relative to the workspace.

mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{
    Definition, DocumentName, ExtraRoots, FileState, ListedFile, Mention, MentionClass, Near, Site, SiteId, SiteKind,
    Source, Symbol, SymbolKind, SymbolPath, Unresolvable, Worklist,
};
use crate::text::{ByteOffset, ByteSpan, PathError, Position, ProjectRoot, RelPath, Revision};

use super::listing::{Filter, Listing};

pub(crate) use lines::WireLine;

/// The version of every JSON object that tainie writes.
pub(crate) const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireTool {
    pub(crate) tainie: String,
    pub(crate) pyrefly: String,
}

impl WireTool {
    pub(crate) fn new(pyrefly: &str) -> Self {
        Self { tainie: env!("CARGO_PKG_VERSION").to_owned(), pyrefly: pyrefly.to_owned() }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub(crate) struct WireSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl From<ByteSpan> for WireSpan {
    fn from(span: ByteSpan) -> Self {
        Self { start: span.start().get(), end: span.end().get() }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireDefinition {
    file: String,
    line: usize,
    column: usize,
    span: WireSpan,
    /// Outside the workspace; left out when it isn't.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    external: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireSymbol {
    fqn: String,
    kind: String,
    definitions: Vec<WireDefinition>,
}

/// One place that an edit may change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireSite {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) symbol: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) span: WireSpan,
    pub(crate) region: WireSpan,
    pub(crate) kind: String,
    pub(crate) alias: Option<String>,
    pub(crate) text: String,
    pub(crate) enclosing: String,
    pub(crate) sources: Vec<String>,
    pub(crate) what_to_change: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireUnresolvable {
    file: String,
    /// Missing, like `column` and `span`, when the entry is about a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    span: Option<WireSpan>,
    reason: String,
    message: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireAccounting {
    mentions: usize,
    site: usize,
    import: usize,
    definition: usize,
    decoy: usize,
    unresolved: usize,
    text: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireNear {
    file: String,
    line: usize,
    column: usize,
    span: WireSpan,
    text: String,
    resolves_to: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireFile {
    file: String,
    /// SHA-256 of the file's exact bytes.
    revision: String,
    state: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireMention {
    file: String,
    line: usize,
    column: usize,
    span: WireSpan,
    class: String,
    kind: String,
    resolves_to: Option<String>,
    reason: Option<String>,
}

/// What was listed: sites of these kinds, and what stands in files that match. Nothing named leaves nothing out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireFilter {
    kinds: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    /// How many sites aren't listed: with those that are, they make `accounting.site`.
    sites_left_out: usize,
}

/// A worklist as JSON, version 1.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireWorklist {
    schema_version: u32,
    tool: WireTool,
    workspace: String,
    symbol: WireSymbol,
    instruction: Option<String>,
    sites: Vec<WireSite>,
    unresolvable: Vec<WireUnresolvable>,
    accounting: WireAccounting,
    near: Vec<WireNear>,
    /// Files that aren't Python and name the symbol: not counted, and never edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    documents: Vec<WireDocument>,
    files: Vec<WireFile>,
    /// How much each source was asked: `all` mentions, those left `open` by the others, or `nothing`.
    #[serde(default)]
    asked: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Import roots that the project doesn't declare, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    import_roots: Option<WireRoots>,
    /// How the listing was narrowed, where it was; `accounting` counts everything all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<WireFilter>,
    /// Every mention, only with `--explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mentions: Option<Vec<WireMention>>,
}

/// An exact dotted name or `module:attribute` of the symbol.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireDocument {
    file: String,
    line: usize,
    column: usize,
    span: WireSpan,
    /// The name as written.
    text: String,
}

/// Import roots that the project doesn't declare: relative to the workspace, `.` the workspace itself, or absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireRoots {
    /// The user's, searched before those of the project.
    pub(crate) given: Vec<String>,
    /// Those without which imports don't resolve, searched after them.
    pub(crate) found: Vec<String>,
}

impl WireRoots {
    pub(super) fn below(&self, workspace: &ProjectRoot) -> ExtraRoots {
        let folders = |names: &[String]| names.iter().map(|name| workspace.as_path().join(name)).collect();
        ExtraRoots { given: folders(&self.given), found: folders(&self.found) }
    }
}

/// Whether the JSON of a worklist holds every mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Worklist,
    Explained,
}

impl WireWorklist {
    pub(crate) fn new(listing: &Listing<'_>, workspace: &ProjectRoot, pyrefly: &str, detail: Detail) -> Self {
        let worklist = listing.worklist;
        let fqn = worklist.symbol.path.to_string();
        Self {
            schema_version: SCHEMA_VERSION,
            tool: WireTool::new(pyrefly),
            // Only the folder's name: the same tree elsewhere gives the same bytes.
            workspace: folder_name(workspace),
            symbol: wire_symbol(&worklist.symbol),
            instruction: None,
            sites: listing.sites.iter().map(|site| wire_site(site, &fqn)).collect(),
            unresolvable: listing.unresolvable.iter().map(|entry| wire_unresolvable(entry)).collect(),
            accounting: wire_accounting(worklist),
            near: listing.near.iter().map(|near| wire_near(near)).collect(),
            documents: listing.documents.iter().map(|name| wire_document(name)).collect(),
            files: listing
                .files
                .iter()
                .map(|file| WireFile {
                    file: file.file.to_string(),
                    revision: file.revision.to_string(),
                    state: file.state.as_str().to_owned(),
                })
                .collect(),
            asked: worklist
                .asked
                .iter()
                .map(|(s, extent)| (s.as_str().to_owned(), extent.as_str().to_owned()))
                .collect(),
            notes: worklist.notes.clone(),
            import_roots: (!worklist.roots.is_empty()).then(|| wire_roots(&worklist.roots, workspace)),
            filter: (!listing.filter.is_empty()).then(|| wire_filter(listing)),
            mentions: (detail == Detail::Explained)
                .then(|| listing.mentions.iter().map(|mention| wire_mention(mention)).collect()),
        }
    }
}

/// How a workspace is named where the same tree elsewhere must give the same bytes.
pub(super) fn folder_name(workspace: &ProjectRoot) -> String {
    workspace.as_path().file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn wire_roots(roots: &ExtraRoots, workspace: &ProjectRoot) -> WireRoots {
    let names = |folders: &[PathBuf]| folders.iter().map(|folder| name_of_root(folder, workspace)).collect();
    WireRoots { given: names(&roots.given), found: names(&roots.found) }
}

/// A folder as people and scripts are told of it: below the workspace by its place there.
pub(super) fn name_of_root(folder: &Path, workspace: &ProjectRoot) -> String {
    match folder.strip_prefix(workspace.as_path()) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"),
        Err(_) => folder.display().to_string(),
    }
}

fn wire_unresolvable(entry: &Unresolvable) -> WireUnresolvable {
    WireUnresolvable {
        file: entry.file.clone(),
        line: entry.place.map(|(position, _)| position.line()),
        column: entry.place.map(|(position, _)| position.column()),
        span: entry.place.map(|(_, span)| span.into()),
        reason: entry.reason.as_str().to_owned(),
        message: entry.message.clone(),
    }
}

fn wire_accounting(worklist: &Worklist) -> WireAccounting {
    let count = |class| worklist.accounting.of(class);
    WireAccounting {
        mentions: worklist.accounting.mentions,
        site: count(MentionClass::Site),
        import: count(MentionClass::Import),
        definition: count(MentionClass::Definition),
        decoy: count(MentionClass::Decoy),
        unresolved: count(MentionClass::Unresolved),
        text: count(MentionClass::Text),
    }
}

fn wire_document(name: &DocumentName) -> WireDocument {
    WireDocument {
        file: name.file.to_string(),
        line: name.position.line(),
        column: name.position.column(),
        span: name.span.into(),
        text: name.text.clone(),
    }
}

fn wire_near(near: &Near) -> WireNear {
    WireNear {
        file: near.file.to_string(),
        line: near.position.line(),
        column: near.position.column(),
        span: near.span.into(),
        text: near.text.clone(),
        resolves_to: near.resolves_to.clone(),
    }
}

fn wire_filter(listing: &Listing<'_>) -> WireFilter {
    let Filter { kinds, include, exclude } = listing.filter;
    WireFilter {
        kinds: kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
        include: include.clone(),
        exclude: exclude.clone(),
        sites_left_out: listing.sites_left_out(),
    }
}

fn wire_symbol(symbol: &Symbol) -> WireSymbol {
    WireSymbol {
        fqn: symbol.path.to_string(),
        kind: symbol.kind.as_str().to_owned(),
        definitions: symbol
            .definitions
            .iter()
            .map(|definition| WireDefinition {
                file: definition.file.clone(),
                line: definition.position.line(),
                column: definition.position.column(),
                span: definition.span.into(),
                external: definition.external,
            })
            .collect(),
    }
}

pub(super) fn wire_site(site: &Site, fqn: &str) -> WireSite {
    WireSite {
        id: site.id.as_str().to_owned(),
        file: site.file.to_string(),
        symbol: fqn.to_owned(),
        line: site.position.line(),
        column: site.position.column(),
        span: site.span.into(),
        region: site.region.into(),
        kind: site.kind.as_str().to_owned(),
        alias: site.alias.clone(),
        text: site.text.clone(),
        enclosing: site.enclosing.clone(),
        sources: site.sources.iter().map(|source| source.as_str().to_owned()).collect(),
        what_to_change: None,
    }
}

fn wire_mention(mention: &Mention) -> WireMention {
    WireMention {
        file: mention.file.to_string(),
        line: mention.position.line(),
        column: mention.position.column(),
        span: mention.span.into(),
        class: mention.class.as_str().to_owned(),
        kind: mention.kind.as_str().to_owned(),
        resolves_to: mention.resolves_to.clone(),
        reason: mention.reason.map(|reason| reason.as_str().to_owned()),
    }
}

/// Why a worklist that was read back is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("schema_version is {found}, and this program knows {SCHEMA_VERSION}")]
    Version { found: u32 },
    #[error("the path of {of} can't be followed: {source}")]
    Path { of: String, source: PathError },
    #[error("`{field}` of {of} is not usable: {value}")]
    Field { of: String, field: &'static str, value: String },
    #[error(
        "`accounting` doesn't add up: {mentions} mentions, {classified} in its classes, {listed} sites listed of {sites}"
    )]
    Accounting { mentions: usize, classified: usize, sites: usize, listed: usize },
}

/// The parts of a worklist that an edit needs, read back from JSON; nothing in it is trusted before the files
/// were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadBack {
    pub(crate) symbol: Symbol,
    pub(crate) sites: Vec<Site>,
    pub(crate) files: Vec<ListedFile>,
    /// Mentions that nobody could tie to anything.
    pub(crate) unresolved: usize,
    /// The workspace that it was made in.
    pub(crate) made_in: String,
    /// How its listing was narrowed.
    pub(crate) filter: Filter,
    /// Import roots as they were named.
    pub(crate) import_roots: WireRoots,
}

impl WireWorklist {
    /// Reads a worklist back; every name, path and span is checked.
    pub(crate) fn read_back(&self) -> Result<ReadBack, WireError> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(WireError::Version { found: self.schema_version });
        }
        let bad = |of: &str, field, value: &str| WireError::Field { of: of.to_owned(), field, value: value.to_owned() };
        let symbol = &self.symbol;
        let path = SymbolPath::parse(&symbol.fqn).map_err(|_| bad("symbol", "fqn", &symbol.fqn))?;
        let kind = SymbolKind::parse(&symbol.kind).ok_or_else(|| bad("symbol", "kind", &symbol.kind))?;
        let definition = |d: &WireDefinition| {
            Ok(Definition {
                file: d.file.clone(),
                position: Position::new(d.line, d.column),
                span: span(d.span).ok_or_else(|| bad("symbol", "span", &d.file))?,
                external: d.external,
            })
        };
        let definitions = symbol.definitions.iter().map(definition).collect::<Result<Vec<_>, WireError>>()?;
        let files = self.files.iter().map(|file| {
            Ok(ListedFile {
                file: RelPath::new(&file.file)
                    .map_err(|source| WireError::Path { of: "an entry of `files`".to_owned(), source })?,
                revision: Revision::parse(&file.revision).ok_or_else(|| bad(&file.file, "revision", &file.revision))?,
                state: FileState::parse(&file.state).ok_or_else(|| bad(&file.file, "state", &file.state))?,
            })
        });
        let files = files.collect::<Result<Vec<_>, WireError>>()?;
        let sites = self.sites.iter().map(read_site).collect::<Result<Vec<_>, WireError>>()?;
        self.adds_up()?;
        let unresolved = self.accounting.unresolved;
        let made_in = self.workspace.clone();
        let filter = self.filter.as_ref().map(read_filter).transpose()?.unwrap_or_default();
        let import_roots = self.import_roots.clone().unwrap_or_default();
        let symbol = Symbol { path, kind, definitions };
        Ok(ReadBack { symbol, sites, files, unresolved, made_in, filter, import_roots })
    }

    fn adds_up(&self) -> Result<(), WireError> {
        let WireAccounting { mentions, site, import, definition, decoy, unresolved, text } = self.accounting;
        let classes = [site, import, definition, decoy, unresolved, text];
        let classified = classes.into_iter().fold(0, usize::saturating_add);
        let listed = self.sites.len();
        let left_out = self.filter.as_ref().map_or(0, |filter| filter.sites_left_out);
        if classified == mentions && listed.checked_add(left_out) == Some(site) {
            Ok(())
        } else {
            Err(WireError::Accounting { mentions, classified, sites: site, listed })
        }
    }
}

fn read_filter(filter: &WireFilter) -> Result<Filter, WireError> {
    let bad = |kind: &String| WireError::Field { of: "`filter`".to_owned(), field: "kinds", value: kind.clone() };
    let kinds = filter.kinds.iter().map(|kind| SiteKind::parse(kind).ok_or_else(|| bad(kind)));
    Ok(Filter {
        kinds: kinds.collect::<Result<_, WireError>>()?,
        include: filter.include.clone(),
        exclude: filter.exclude.clone(),
    })
}

fn span(span: WireSpan) -> Option<ByteSpan> {
    (span.start <= span.end).then(|| ByteSpan::new(span.start, span.end))
}

fn read_site(site: &WireSite) -> Result<Site, WireError> {
    let bad = |field, value: &str| WireError::Field { of: site.id.clone(), field, value: value.to_owned() };
    let file = RelPath::new(&site.file).map_err(|source| WireError::Path { of: site.id.clone(), source })?;
    let name = span(site.span).ok_or_else(|| bad("span", "ends before it starts"))?;
    let region = span(site.region).ok_or_else(|| bad("region", "ends before it starts"))?;
    if !region.contains(name) {
        return Err(bad("region", "doesn't contain the span"));
    }
    let id = SiteId::new(&file, ByteOffset::new(site.span.start));
    if id.as_str() != site.id {
        return Err(bad("id", &site.id));
    }
    let sources = site.sources.iter().map(|s| Source::parse(s).ok_or_else(|| bad("sources", s)));
    Ok(Site {
        id,
        file,
        position: Position::new(site.line, site.column),
        span: name,
        region,
        kind: SiteKind::parse(&site.kind).ok_or_else(|| bad("kind", &site.kind))?,
        alias: site.alias.clone(),
        text: site.text.clone(),
        enclosing: site.enclosing.clone(),
        sources: sources.collect::<Result<BTreeSet<_>, WireError>>()?,
    })
}

/// The JSON Schema of a line of `--format jsonl`.
pub(crate) fn line_schema() -> serde_json::Value {
    schemars::schema_for!(WireLine).to_value()
}

/// The JSON Schema of a worklist.
pub(crate) fn worklist_schema() -> serde_json::Value {
    schemars::schema_for!(WireWorklist).to_value()
}
