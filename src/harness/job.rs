//! What an edit starts from, whoever writes it: the sites with their files, and what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::editor::Understood;
use crate::plan::{ExtraRoots, Site, SiteKind, Symbol};
use crate::text::{ProjectRoot, RelPath, Revision, SourceText};

use super::oracle::Oracle;
use super::{ApplyError, HarnessError};

/// Everything about an edit that doesn't depend on who writes it.
pub(super) struct Job<'j> {
    pub(super) workspace: &'j ProjectRoot,
    pub(super) symbol: Symbol,
    pub(super) instruction: String,
    pub(super) understood: Option<Understood>,
    /// The sites to edit, in worklist order.
    pub(super) sites: Vec<Site>,
    /// The revisions that were scouted.
    pub(super) revisions: BTreeMap<RelPath, Revision>,
    /// Sites that are listed as left to a person from the start, with the reason.
    pub(super) left: Vec<(Site, String)>,
    pub(super) signature: Option<String>,
    pub(super) attempts: usize,
    pub(super) strict: bool,
    pub(super) show_file: bool,
    pub(super) oracle: Option<Oracle>,
    /// Import roots that the project doesn't declare.
    pub(super) roots: ExtraRoots,
    pub(super) unresolved: usize,
}

/// The texts of the files with sites, which must be those that were scouted.
pub(super) fn read_sources(job: &Job<'_>) -> Result<BTreeMap<RelPath, SourceText>, HarnessError> {
    let mut sources = BTreeMap::new();
    let mut stale = BTreeSet::new();
    let left = job.left.iter().map(|(site, _)| site);
    for file in job.sites.iter().chain(left).map(|site| &site.file) {
        if sources.contains_key(file) {
            continue;
        }
        let unreadable = |reason: String| HarnessError::Unreadable { file: file.to_string(), reason };
        let bytes = std::fs::read(job.workspace.join(file)).map_err(|error| unreadable(error.to_string()))?;
        let source = SourceText::from_bytes(bytes).map_err(|error| unreadable(error.to_string()))?;
        if job.revisions.get(file) != Some(source.revision()) {
            stale.insert(file.clone());
        }
        sources.insert(file.clone(), source);
    }
    if stale.is_empty() { Ok(sources) } else { Err(ApplyError::Stale { files: stale.into_iter().collect() }.into()) }
}

/// Splits sites into those whose kind the instruction concerns, and the others with why not.
pub(super) fn by_kind(sites: Vec<Site>, wanted: &[SiteKind]) -> (Vec<Site>, Vec<(Site, String)>) {
    let calls = [SiteKind::Call, SiteKind::Decorator];
    let concerned =
        |site: &Site| if wanted.is_empty() { calls.contains(&site.kind) } else { wanted.contains(&site.kind) };
    let (mine, others): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(concerned);
    let others = if wanted.is_empty() { others } else { Vec::new() };
    let others = others.into_iter().filter(|site| !site.kind.only_names());
    let why = |site: &Site| match site.kind {
        SiteKind::Value => "passed as a value: whoever calls it chooses the arguments".to_owned(),
        SiteKind::Cell => "a cell of a notebook, which no type checker reads: edit it by hand".to_owned(),
        SiteKind::Doctest => "an example in a docstring, which no type checker reads: edit it by hand".to_owned(),
        SiteKind::Call
        | SiteKind::Annotation
        | SiteKind::Base
        | SiteKind::Decorator
        | SiteKind::AttributeAssignment
        | SiteKind::Import
        | SiteKind::ReExport
        | SiteKind::String
        | SiteKind::KeywordLabel
        | SiteKind::Export
        | SiteKind::Slot
        | SiteKind::Key
        | SiteKind::ScopeDeclaration
        | SiteKind::Accessor
        | SiteKind::TypeComment => format!("used as {}, not called", site.kind.as_str()),
    };
    (mine, others.map(|site| (site.clone(), why(&site))).collect())
}
