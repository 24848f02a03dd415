//! Which files an edit may touch: what was included, excluded, and what a machine wrote.

use crate::plan::{FileState, ListedFile, Site};
use crate::text::RelPath;

use super::listing::FileChoice;
use super::request::EditRequest;
use super::{HarnessError, Task};

/// Which files may be edited.
pub(super) struct Chosen {
    files: FileChoice,
    generated: Vec<RelPath>,
}

impl Chosen {
    pub(super) fn new(request: &EditRequest, task: Option<&Task>, files: &[ListedFile]) -> Result<Self, HarnessError> {
        let exclude: Vec<String> =
            request.exclude.iter().chain(task.into_iter().flat_map(|task| &task.exclude)).cloned().collect();
        Ok(Self {
            files: FileChoice::new(&request.include, &exclude)?,
            generated: files.iter().filter(|f| f.state == FileState::Generated).map(|f| f.file.clone()).collect(),
        })
    }

    /// The sites to edit, and those of generated files. Sites of other files are none of this run's.
    pub(super) fn split(&self, sites: Vec<Site>) -> (Vec<Site>, Vec<(Site, String)>) {
        let (mut mine, mut left) = (Vec::new(), Vec::new());
        for site in sites.into_iter().filter(|site| self.files.takes(site.file.as_str())) {
            if self.generated.contains(&site.file) && !self.files.names_some() {
                left.push((site, "in a generated or vendored file; --include it to edit it".to_owned()));
            } else {
                mine.push(site);
            }
        }
        (mine, left)
    }
}
