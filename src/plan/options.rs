//! How a scout goes about its work, as asked for.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::Family;

/// What belongs to a symbol, and how much work may be done for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScoutOptions {
    pub(crate) family: Family,
    pub(crate) effort: Effort,
    /// Whether what is known of the very same tree is asked for again.
    pub(crate) afresh: bool,
    /// Import roots beside those that the project declares; absolute.
    pub(crate) search_path: Vec<PathBuf>,
}

/// How much work a scout may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Ask every source about everything, however large the tree is.
    pub(crate) verify: bool,
    /// How many threads may work at once; with one, sources are asked one after the other. `None`: as suits the machine.
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Effort {
    pub(crate) const fn is_sequential(self) -> bool {
        self.threads() == 1
    }

    /// For a program that takes a number of threads, 0 meaning that it chooses.
    pub(crate) const fn threads(self) -> usize {
        match self.jobs {
            Some(jobs) => jobs.get(),
            None => 0,
        }
    }
}
