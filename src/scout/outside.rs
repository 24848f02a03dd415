//! Mentions in the project but outside the workspace: counted, so that nobody takes the worklist for more than it is.

use std::path::Path;

use crate::python;
use crate::text::{ProjectRoot, RelPath};

use super::ScoutError;
use super::codebase::Codebase;

/// How many mentions of `name` the Python files of `project` hold that lie outside `workspace`, by plain text search.
/// 0 when the workspace is the project.
pub(crate) fn mentions_outside(project: &Path, workspace: &ProjectRoot, name: &str) -> Result<usize, ScoutError> {
    let root = workspace.as_path();
    if project == root || !root.starts_with(project) {
        return Ok(0);
    }
    let mut codebase = Codebase::open(&ProjectRoot::from_canonical(project.to_owned()))?;
    let outside = |file: &RelPath| !project.join(file.as_str()).starts_with(root);
    let files: Vec<RelPath> =
        codebase.files_with(&[name.to_owned()].into()).into_iter().filter(|file| outside(file)).collect();
    let count = |file: &RelPath| codebase.load(file).map_or(0, |f| python::words(f.searched(), name).len());
    Ok(files.iter().map(count).sum())
}
