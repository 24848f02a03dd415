//! A worklist that is read back: believed only where it agrees with the files as they are now.
//!
//! It comes from outside and may have been altered. Its revisions must be those of the files, each site must be a
//! use that the parser sees at that place, once, and its numbers must add up. What is not asked again is whether a
//! site refers to the symbol: that was the scout's work, and the gate has its say on every edit.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{ListedFile, Site};
use crate::python::Module;
use crate::scout;
use crate::text::{ProjectRoot, RelPath, SourceText};

use super::HarnessError;
use super::listing::FileChoice;
use super::wire::{ReadBack, WireError, WireWorklist, folder_name};

/// Reads the worklist `json`, which comes from the file `name`, as one of this workspace.
///
/// # Errors
/// [`HarnessError::Worklist`] where it is malformed or says of a place what isn't so,
/// [`HarnessError::WorklistRefused`] where a path leads out of the workspace, [`HarnessError::WorklistElsewhere`]
/// where none of its files is there as it was, [`HarnessError::WorklistStale`] where files changed since.
pub(super) fn worklist(workspace: &ProjectRoot, name: &str, json: &str) -> Result<ReadBack, HarnessError> {
    let bad = |reason: String| HarnessError::Worklist { file: name.to_owned(), reason };
    let wire: WireWorklist = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
    let read = wire.read_back().map_err(|error| match error {
        WireError::Path { .. } => HarnessError::WorklistRefused { file: name.to_owned(), reason: error.to_string() },
        WireError::Version { .. } | WireError::Field { .. } | WireError::Accounting { .. } => bad(error.to_string()),
    })?;
    let files = current_files(workspace, name, &read)?;
    let choice = FileChoice::new(&read.filter.include, &read.filter.exclude)?;
    let mut seen = BTreeSet::new();
    for site in &read.sites {
        if !seen.insert(&site.id) {
            return Err(bad(format!("{} is listed twice", site.id)));
        }
        if !read.filter.takes(&choice, site) {
            return Err(bad(format!("{} isn't one that its `filter` lists", site.id)));
        }
        let (source, module) = files.get(&site.file).ok_or_else(|| bad(format!("{} has no file entry", site.id)))?;
        agrees(&read, site, source, module).map_err(|reason| bad(format!("{} {reason}", site.id)))?;
    }
    Ok(read)
}

type Files = BTreeMap<RelPath, (SourceText, Module)>;

/// The listed files, read and parsed, each at the revision that the worklist names.
fn current_files(workspace: &ProjectRoot, name: &str, read: &ReadBack) -> Result<Files, HarnessError> {
    let mut files = BTreeMap::new();
    let mut stale = Vec::new();
    for listed in &read.files {
        let bytes = std::fs::read(workspace.join(&listed.file)).unwrap_or_default();
        match SourceText::from_bytes(bytes) {
            Ok(source) if *source.revision() == listed.revision => {
                if let Some(module) = Module::of_file(&source, listed.file.extension()) {
                    files.insert(listed.file.clone(), (source, module));
                }
            }
            _ => stale.push(listed.file.clone()),
        }
    }
    let is_missing = |listed: &ListedFile| !workspace.join(&listed.file).exists();
    let is_elsewhere = files.is_empty() && read.made_in != folder_name(workspace);
    if !read.files.is_empty() && (is_elsewhere || read.files.iter().all(is_missing)) {
        return Err(HarnessError::WorklistElsewhere {
            file: name.to_owned(),
            workspace: workspace.to_string(),
            made_in: read.made_in.clone(),
        });
    }
    if stale.is_empty() {
        return Ok(files);
    }
    Err(HarnessError::WorklistStale { file: name.to_owned(), symbol: read.symbol.path.to_string(), files: stale })
}

/// Whether the parser sees at the site's place what the site says of it.
fn agrees(read: &ReadBack, site: &Site, source: &SourceText, module: &Module) -> Result<(), &'static str> {
    let name = site.alias.as_deref().unwrap_or_else(|| read.symbol.path.name());
    if source.slice(site.span) != Some(name) {
        return Err("isn't where the name stands");
    }
    if source.slice(site.region) != Some(site.text.as_str()) {
        return Err("has a text that isn't what stands in the file");
    }
    let is_definition = |d: &crate::plan::Definition| d.file == site.file.as_str() && d.span == site.span;
    if read.symbol.definitions.iter().any(is_definition) {
        return Err("is a definition, and a definition is never a site");
    }
    let (region, kind) = scout::use_at(module, site.span).ok_or("isn't a use of a name")?;
    if region != site.region {
        return Err("has a region that isn't the use's own");
    }
    if kind != site.kind {
        return Err("has a kind that isn't the use's own");
    }
    if source.position(site.span.start()).ok() != Some(site.position) {
        return Err("has a line and column that aren't those of its span");
    }
    Ok(())
}
