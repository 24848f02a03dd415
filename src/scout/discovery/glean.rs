//! pyrefly's glean facts of the candidate files as a backend.

use crate::checker::Pyrefly;
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::Codebase;
use crate::text::ByteSpan;

use super::{Discovery, Found, GroupQuestion, Place, PlaceFile};

/// `pyrefly check --report-glean` on the files that hold the name. Sees names in dead code and in `__all__`.
pub(crate) struct Glean {
    pyrefly: Pyrefly,
}

impl Glean {
    pub(crate) const fn new(pyrefly: Pyrefly) -> Self {
        Self { pyrefly }
    }
}
