//! What of a worklist is listed: all of it, or what is left when it is narrowed by kind and by file. The accounting
//! stays that of everything, so a listing says how many sites it leaves out.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::plan::{
    DocumentName, ListedFile, Mention, MentionClass, MentionKind, Near, Site, SiteKind, Unresolvable, Worklist,
};
use crate::text::{ProjectRoot, RelPath, SourceText};

use super::HarnessError;

/// `--include` and `--exclude`: files that match neither are taken unless some are included by name.
#[derive(Debug, Clone)]
pub(crate) struct FileChoice {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl FileChoice {
    pub(crate) fn new(include: &[String], exclude: &[String]) -> Result<Self, HarnessError> {
        let include = if include.is_empty() { None } else { Some(globs(include)?) };
        Ok(Self { include, exclude: globs(exclude)? })
    }

    /// Whether a file, relative to the workspace, is taken.
    pub(crate) fn takes(&self, file: &str) -> bool {
        !self.exclude.is_match(file) && self.include.as_ref().is_none_or(|include| include.is_match(file))
    }

    /// Whether files are included by name.
    pub(crate) const fn names_some(&self) -> bool {
        self.include.is_some()
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, HarnessError> {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        let bad =
            |error: globset::Error| HarnessError::Glob { pattern: pattern.clone(), reason: error.kind().to_string() };
        builder.add(Glob::new(pattern).map_err(bad)?);
    }
    let bad = |error: globset::Error| HarnessError::Glob { pattern: patterns.join(", "), reason: error.to_string() };
    builder.build().map_err(bad)
}

/// How a listing is narrowed; nothing named means that nothing is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Kinds of sites.
    pub(crate) kinds: Vec<SiteKind>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

impl Filter {
    pub(crate) const fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether its patterns are patterns.
    pub(crate) fn check(&self) -> Result<(), HarnessError> {
        FileChoice::new(&self.include, &self.exclude).map(drop)
    }

    fn takes_kind(&self, kind: SiteKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether a site is one that this filter lists.
    pub(super) fn takes(&self, files: &FileChoice, site: &Site) -> bool {
        self.takes_kind(site.kind) && files.takes(site.file.as_str())
    }
}

/// A worklist as it is shown.
#[derive(Debug)]
pub(crate) struct Listing<'w> {
    pub(crate) worklist: &'w Worklist,
    pub(crate) filter: &'w Filter,
    /// In the worklist's order: within a file from bottom to top.
    pub(crate) sites: Vec<&'w Site>,
    pub(crate) unresolvable: Vec<&'w Unresolvable>,
    pub(crate) near: Vec<&'w Near>,
    pub(crate) documents: Vec<&'w DocumentName>,
    pub(crate) files: Vec<&'w ListedFile>,
    pub(crate) mentions: Vec<&'w Mention>,
}

impl<'w> Listing<'w> {
    pub(crate) fn new(worklist: &'w Worklist, filter: &'w Filter) -> Result<Self, HarnessError> {
        let choice = FileChoice::new(&filter.include, &filter.exclude)?;
        let takes_mention = |mention: &&Mention| {
            let takes_kind = match (mention.class, mention.kind) {
                (MentionClass::Site, MentionKind::Name(kind)) => filter.takes_kind(kind),
                _ => true,
            };
            takes_kind && choice.takes(mention.file.as_str())
        };
        Ok(Self {
            worklist,
            filter,
            sites: worklist.sites.iter().filter(|site| filter.takes(&choice, site)).collect(),
            unresolvable: worklist.unresolvable.iter().filter(|entry| choice.takes(&entry.file)).collect(),
            near: worklist.near.iter().filter(|near| choice.takes(near.file.as_str())).collect(),
            documents: worklist.documents.iter().filter(|name| choice.takes(name.file.as_str())).collect(),
            files: worklist.files.iter().filter(|listed| choice.takes(listed.file.as_str())).collect(),
            mentions: worklist.mentions.iter().filter(takes_mention).collect(),
        })
    }

    /// How many sites the filter leaves out.
    pub(crate) fn sites_left_out(&self) -> usize {
        self.worklist.sites.len() - self.sites.len()
    }

    /// How many entries for a person the filter leaves out.
    pub(crate) fn unresolvable_left_out(&self) -> usize {
        self.worklist.unresolvable.len() - self.unresolvable.len()
    }

    /// The texts of the listed files that are still as they were looked at.
    pub(crate) fn sources(&self, workspace: &ProjectRoot) -> Sources {
        let read = |listed: &&ListedFile| {
            let source = SourceText::from_bytes(std::fs::read(workspace.join(&listed.file)).ok()?).ok()?;
            (*source.revision() == listed.revision).then(|| (listed.file.clone(), source))
        };
        Sources(self.files.iter().filter_map(read).collect())
    }
}

/// The texts of files, for the lines that people want to see.
#[derive(Debug, Default)]
pub(crate) struct Sources(BTreeMap<RelPath, SourceText>);

impl Sources {
    pub(crate) fn of(&self, file: &RelPath) -> Option<&SourceText> {
        self.0.get(file)
    }

    /// The same for a path that may be no file of the workspace.
    pub(crate) fn named(&self, file: &str) -> Option<&SourceText> {
        self.of(&RelPath::new(file).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_where_it_is_included_and_not_excluded() {
        let choice = |include: &[&str], exclude: &[&str]| {
            let owned = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>();
            FileChoice::new(&owned(include), &owned(exclude)).unwrap()
        };
        assert!(choice(&[], &[]).takes("a/b.py"));
        assert!(!choice(&[], &["a/**"]).takes("a/b.py"));
        assert!(choice(&["a/**"], &[]).takes("a/b.py"));
        assert!(!choice(&["a/**"], &[]).takes("c.py"));
        assert!(!choice(&["a/**"], &["**/b.py"]).takes("a/b.py"));
        assert!(matches!(FileChoice::new(&["[".to_owned()], &[]), Err(HarnessError::Glob { .. })));
    }
}
