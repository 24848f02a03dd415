//! Folders that modules are imported from although the project doesn't say so.

use std::path::PathBuf;

/// Import roots that the project doesn't declare. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ExtraRoots {
    /// The user's, searched before those of the project.
    pub(crate) given: Vec<PathBuf>,
    /// Those without which imports don't resolve, searched after them.
    pub(crate) found: Vec<PathBuf>,
}

impl ExtraRoots {
    pub(crate) const fn is_empty(&self) -> bool {
        self.given.is_empty() && self.found.is_empty()
    }
}
