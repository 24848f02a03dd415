//! Which files an edit may touch: what was included, excluded, and what a machine wrote.

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::plan::{FileState, ListedFile, Site};
use crate::text::RelPath;

use super::request::EditRequest;
use super::{HarnessError, Task};

/// Which files may be edited.
pub(super) struct Chosen {
    include: Option<GlobSet>,
    exclude: GlobSet,
    generated: Vec<RelPath>,
}

impl Chosen {
    pub(super) fn new(request: &EditRequest, task: Option<&Task>, files: &[ListedFile]) -> Result<Self, HarnessError> {
        let exclude: Vec<String> =
            request.exclude.iter().chain(task.into_iter().flat_map(|task| &task.exclude)).cloned().collect();
        Ok(Self {
            include: if request.include.is_empty() { None } else { Some(globs(&request.include)?) },
            exclude: globs(&exclude)?,
            generated: files.iter().filter(|f| f.state == FileState::Generated).map(|f| f.file.clone()).collect(),
        })
    }

    /// The sites to edit, and those of generated files. Sites of other files are none of this run's.
    pub(super) fn split(&self, sites: Vec<Site>) -> (Vec<Site>, Vec<(Site, String)>) {
        let (mut mine, mut left) = (Vec::new(), Vec::new());
        for site in sites {
            let path = site.file.as_str();
            let included = self.include.as_ref().map(|globs| globs.is_match(path));
            if self.exclude.is_match(path) || included == Some(false) {
                continue;
            }
            if self.generated.contains(&site.file) && included.is_none() {
                left.push((site, "in a generated or vendored file; --include it to edit it".to_owned()));
            } else {
                mine.push(site);
            }
        }
        (mine, left)
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
