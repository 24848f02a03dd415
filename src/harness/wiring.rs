//! The composition root: the one file that names concrete backends.
//!
//! To swap a backend, change its line here; one that doesn't fit its trait is a compile error.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::checker::{FindOptions, Pyrefly};
use crate::editor::{Rules, Spared};
use crate::lsp::{Mode, Server};
use crate::plan::Effort;
use crate::scout::{Glean, ServerDefinitions, ServerReferences};

use super::HarnessError;
use super::request::ModelRequest;

/// What the process was started in; read once, by the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// `--pyrefly`
    pub(crate) pyrefly_flag: Option<PathBuf>,
    /// `TAINIE_PYREFLY`
    pub(crate) pyrefly_env: Option<PathBuf>,
    /// `VIRTUAL_ENV`
    pub(crate) virtual_env: Option<PathBuf>,
    /// `PATH`
    pub(crate) path: Option<OsString>,
    /// tainie's own folder for what it installs.
    pub(crate) cache: PathBuf,
    /// `TAINIE_STATE_DIR`
    pub(crate) state_dir: Option<PathBuf>,
    /// The variables by which an interpreter and the type checker are found and set up.
    pub(crate) interpreter: BTreeMap<String, OsString>,
}

impl Surroundings {
    pub(super) fn find_options(&self, workspace: Option<&Path>) -> FindOptions {
        FindOptions {
            flag: self.pyrefly_flag.clone(),
            env: self.pyrefly_env.clone(),
            workspace: workspace.map(Path::to_owned),
            virtual_env: self.virtual_env.clone(),
            path: self.path.clone(),
            cache: self.cache.clone(),
        }
    }

    /// The first usable pyrefly.
    pub(super) async fn pyrefly(&self, workspace: &Path) -> Result<Pyrefly, HarnessError> {
        Ok(Pyrefly::find(&self.find_options(Some(workspace))).await?)
    }
}

/// `search_path` empty: what the project itself declares.
pub(super) fn definitions(pyrefly: &Pyrefly, effort: Effort, search_path: &[PathBuf]) -> ServerDefinitions {
    let program = pyrefly.program().to_owned();
    ServerDefinitions::new(Server::pyrefly(program, Mode::Definitions, effort.threads()).with_search_path(search_path))
}

pub(super) fn references(pyrefly: &Pyrefly, effort: Effort, search_path: &[PathBuf]) -> ServerReferences {
    let program = pyrefly.program().to_owned();
    ServerReferences::new(Server::pyrefly(program, Mode::References, effort.threads()).with_search_path(search_path))
}

/// Another server's definitions, as a second opinion.
pub(super) fn second_opinion(server: Server, search_path: &[PathBuf]) -> ServerDefinitions {
    ServerDefinitions::new(server.with_search_path(search_path))
}

pub(super) fn glean(pyrefly: &Pyrefly, effort: Effort) -> Glean {
    Glean::new(pyrefly.clone(), effort.threads())
}

pub(super) fn rules(spared: Spared) -> Rules {
    Rules::new(spared)
}

/// The model behind the server that the user named.
#[cfg(feature = "openai")]
pub(super) async fn model(request: &ModelRequest, spared: Spared) -> Result<crate::editor::Model, HarnessError> {
    let base_url = request.base_url.clone().ok_or(HarnessError::NoServer)?;
    let settings = crate::editor::ModelSettings {
        base_url,
        model: request.model.clone(),
        api_key: request.api_key.clone(),
        time_limit: request.time_limit,
    };
    Ok(crate::editor::Model::connect(&settings, spared).await?)
}

/// A build without the client has no model to ask.
#[cfg(not(feature = "openai"))]
#[expect(clippy::unused_async, reason = "the signature of the build with the client")]
pub(super) async fn model(_request: &ModelRequest, _spared: Spared) -> Result<Rules, HarnessError> {
    Err(HarnessError::NoModelBuilt)
}
