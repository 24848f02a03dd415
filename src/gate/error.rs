//! Why the gate can't judge at all. A rejected proposal is no error but a verdict.

use std::io;
use std::path::PathBuf;

use crate::checker::CheckerError;
use crate::text::{EditError, RelPath};

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GateError {
    #[error("the type checker gave no answer")]
    Checker(#[from] CheckerError),
    #[error("{path:?} can't be copied or written")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Judging there would mean nothing: the copy isn't seen as the original is.
    #[error(
        "the type checker sees the copy of the project in another way than the original ({} diagnostics only in the original, {} only in the copy)",
        only_original.len(), only_shadow.len()
    )]
    ShadowDiffers { only_original: Vec<String>, only_shadow: Vec<String> },
    #[error("the type checker covers {} files of the project that it doesn't cover in the copy, such as {}", missing.len(), missing.first().map_or("", String::as_str))]
    ShadowCovers { missing: Vec<String> },
    #[error("in the copy of the project, imports would still come from the original ({path:?})")]
    LeadsBack { path: PathBuf },
    #[error("{path:?} leads out of the copy of the project")]
    LeadsOut { path: PathBuf },
    #[error("{file} is not the text that was scouted")]
    SourceChanged { file: RelPath },
    #[error("{file} has proposals but no source text")]
    NoSource { file: RelPath },
    #[error("the edits of {file} that were settled before don't fit together")]
    Settled {
        file: RelPath,
        #[source]
        source: EditError,
    },
}

impl GateError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
