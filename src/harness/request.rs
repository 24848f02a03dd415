//! What a command asks of a run, and what a run answers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::{ScoutOptions, SiteKind};
use crate::text::{ProjectRoot, RelPath};

use super::opinion::OpinionRequest;
use super::report::Report;
use super::scouting::Asked;
use super::{Recovered, Task};

/// Where the symbol of an edit comes from.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Asked(Asked),
    /// The task file names it, in its front matter or its prose.
    Task,
    /// A worklist: its file's name, for messages, and its JSON.
    Worklist {
        file: String,
        json: String,
    },
}

/// Who edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditorChoice {
    Auto,
    Rules,
    Model,
}

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateChoice {
    Project,
    File,
    Off,
}

/// Whether the tree is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    Apply,
    Nothing,
}

/// The model to ask.
#[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "nobody is there to be asked"))]
#[derive(Clone)]
pub(crate) struct ModelRequest {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) attempts: usize,
    pub(crate) time_limit: Duration,
}

/// One edit, as asked for.
pub(crate) struct EditRequest {
    pub(crate) workspace: ProjectRoot,
    pub(crate) target: Target,
    /// How the sites are found.
    pub(crate) scout: ScoutOptions,
    pub(crate) second_opinion: Option<OpinionRequest>,
    /// The task file's name, for messages, and what it says.
    pub(crate) task: Option<(String, Task)>,
    pub(crate) instruction: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) editor: EditorChoice,
    pub(crate) model: ModelRequest,
    pub(crate) gate: GateChoice,
    /// The kinds of reference to edit; empty means the task's, or those that the operation concerns.
    pub(crate) kinds: Vec<SiteKind>,
    pub(crate) strict: bool,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) oracle: Option<String>,
    pub(crate) show_file: bool,
    pub(crate) writing: Writing,
}

/// What an edit came to.
pub(crate) struct EditDone {
    pub(crate) report: Report,
    /// Texts before and after, by file.
    pub(crate) texts: BTreeMap<RelPath, (String, String)>,
    /// A run that had crashed and was brought to an end first.
    pub(crate) recovered: Option<Recovered>,
    /// How the task's symbol was chosen, where the prose named it.
    pub(crate) chosen: Option<String>,
}
