//! pyrefly's glean facts of the candidate files as a backend.
//!
//! Only the exact name in the defining file counts. Glean makes names up for inherited members and knows no
//! scopes, so what it says is a cross-check and never the last word (`census`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::checker::{Pyrefly, UseTarget};
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::Codebase;
use crate::text::RelPath;

use super::{Discovery, Found, GroupQuestion, PlaceFile};

/// `pyrefly check --report-glean` on the files that hold the name. Sees names in dead code and in `__all__`.
pub(crate) struct Glean {
    pyrefly: Pyrefly,
}

impl Glean {
    pub(crate) const fn new(pyrefly: Pyrefly) -> Self {
        Self { pyrefly }
    }
}

impl Discovery for Glean {
    fn source(&self) -> Source {
        Source::Glean
    }

    async fn uses(&mut self, codebase: &mut Codebase, group: &GroupQuestion) -> Result<Found, ScoutError> {
        let mut found = Found::default();
        if group.candidates.is_empty() {
            return Ok(found);
        }
        // The defining files come along, so that the facts name them as the workspace does.
        let defining = group.members.iter().filter_map(|member| match &member.file {
            PlaceFile::Inside(file) => Some(file.clone()),
            PlaceFile::Outside(_) => None,
        });
        let files: BTreeSet<RelPath> = group.candidates.iter().cloned().chain(defining).collect();
        let paths: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(file.as_str())).collect();
        let root = codebase.root().as_path().to_owned();
        let facts = self.pyrefly.glean(&root, &paths, codebase.import_roots()).await?;
        for used in &facts.uses {
            let Ok(file) = RelPath::new(&used.file) else { continue };
            let whole = facts.digests.get(&used.file).is_none_or(|digest| {
                // pyrefly read other bytes than we did: none of its places means anything.
                codebase.load(&file).is_some_and(|loaded| digest.size == byte_count(loaded.source.as_str()))
            });
            if whole && is_target(group, &used.target) {
                found.uses.extend(used.spans.iter().map(|span| (file.clone(), *span)));
            }
        }
        Ok(found)
    }
}

fn byte_count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

fn is_target(group: &GroupQuestion, target: &UseTarget) -> bool {
    let UseTarget::Local { file, name } = target else { return false };
    let in_group = group.members.iter().any(|member| match &member.file {
        PlaceFile::Inside(member) => member.as_str() == file,
        PlaceFile::Outside(path) => path.to_string_lossy() == file.as_str(),
    });
    let names: Vec<&str> = name.split('.').filter(|part| *part != "<locals>").collect();
    let wanted: Vec<&str> = group.qualname.iter().map(String::as_str).collect();
    // The module's own components come first; a longer path would be a member of another class of that name.
    in_group && names.ends_with(&wanted)
}
