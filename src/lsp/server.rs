//! The language servers that a session can be had with: program, arguments, settings, what they need before an
//! answer counts, and how long they may be silent. To add one, add a constructor here and say what was measured.
//!
//! What was measured, each with 20 fresh servers on 152 files, asked right after `didOpen`:
//!
//! | server | encoding | asks for settings | definitions at once | columns of a byte-order mark |
//! |---|---|---|---|---|
//! | pyrefly 1.5.0 | UTF-16 | yes | all of 20 | counted |
//! | ty 0.0.108 | UTF-16 | yes, section `ty` | all of 20 | counted |
//! | basedpyright 1.40.2 | UTF-16, by saying nothing | yes, 3 sections | all of 20 | counted |

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::process::Launch;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No index: where a name is defined, at once.
    Definitions,
    /// An index of the whole workspace: who refers to a definition.
    References,
}

impl Mode {
    fn arguments(self, threads: usize) -> Vec<String> {
        let arguments: &[&str] = match self {
            Self::Definitions => &["lsp", "--indexing-mode", "none"],
            // Over its limit (2,000 files) pyrefly leaves files out without a word.
            Self::References => &["lsp", "--indexing-mode", "lazy-blocking", "--workspace-indexing-limit", "1000000"],
        };
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        arguments.chain(["--threads".to_owned(), threads.to_string()]).collect()
    }
}

/// How long the server may be silent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Until it says that it is there.
    pub(super) start: Duration,
    /// Until the next answer of a row of questions.
    pub(super) answer: Duration,
    /// Until the index of the workspace is built.
    pub(super) index: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { start: seconds(60), answer: seconds(120), index: seconds(900) }
    }
}

impl Limits {
    /// The same for everything.
    pub(crate) const fn all(limit: Duration) -> Self {
        Self { start: limit, answer: limit, index: limit }
    }
}

/// One language server, as it is started and spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(super) launch: Launch,
    pub(super) mode: Mode,
    /// What it is told when it asks for settings, whatever the section.
    pub(super) settings: Value,
    pub(super) limits: Limits,
    /// Where in its settings the folders stand that it searches beside those it finds; empty: it can't be told.
    search_path_at: &'static [&'static str],
    /// Whether its first empty answers may only mean that it isn't ready yet.
    pub(super) is_slow_starter: bool,
}

impl Server {
    /// `threads` 0 lets it choose. Its settings: infer as the gate does, and don't compute diagnostics. Of
    /// `extraPaths`, all that is searched before dependencies, it takes those in the section `pyrefly` alone.
    pub(crate) fn pyrefly(program: PathBuf, mode: Mode, threads: usize) -> Self {
        let settings = json!({"pyrefly": {"typeCheckingMode": "default", "displayTypeErrors": "force-off"}});
        let other = Self::other(program, mode.arguments(threads)).at_once();
        Self { mode, settings, search_path_at: &["pyrefly", "extraPaths"], ..other }
    }

    pub(crate) fn ty(program: PathBuf) -> Self {
        let settings = json!({"diagnosticMode": "off"});
        let other = Self::other(program, vec!["server".to_owned()]).at_once();
        Self { settings, search_path_at: &["configuration", "environment", "extra-paths"], ..other }
    }

    pub(crate) fn basedpyright(program: PathBuf) -> Self {
        let settings = json!({"analysis": {"diagnosticMode": "openFilesOnly", "typeCheckingMode": "off"}});
        let other = Self::other(program, vec!["--stdio".to_owned()]).at_once();
        Self { settings, search_path_at: &["analysis", "extraPaths"], ..other }
    }

    /// A server that nobody measured: it is asked again while it answers nothing at first.
    pub(crate) fn other(program: PathBuf, arguments: Vec<String>) -> Self {
        let launch = Launch { program, arguments };
        let (mode, limits) = (Mode::Definitions, Limits::default());
        Self { launch, mode, settings: Value::Null, limits, search_path_at: &[], is_slow_starter: true }
    }

    const fn at_once(mut self) -> Self {
        self.is_slow_starter = false;
        self
    }

    /// Tells it, where it can be told, which folders modules are imported from, the first before the others.
    #[must_use]
    pub(crate) fn with_search_path(mut self, folders: &[PathBuf]) -> Self {
        if let (false, Some((last, sections))) = (folders.is_empty(), self.search_path_at.split_last()) {
            let settings = sections.iter().fold(&mut self.settings, |settings, section| &mut settings[*section]);
            settings[*last] = json!(folders);
        }
        self
    }

    #[must_use]
    pub(crate) const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
