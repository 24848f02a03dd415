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
        let targets: Vec<Target> = group.members.iter().filter_map(|member| Target::of(codebase, member)).collect();
        for used in &facts.uses {
            let Ok(file) = RelPath::new(&used.file) else { continue };
            let whole = facts.digests.get(&used.file).is_none_or(|digest| {
                // pyrefly read other bytes than we did: none of its places means anything.
                codebase.load(&file).is_some_and(|loaded| digest.size == byte_count(loaded.source.as_str()))
            });
            if whole && targets.iter().any(|target| target.is(&used.target)) {
                found.uses.extend(used.spans.iter().map(|span| (file.clone(), *span)));
            }
        }
        Ok(found)
    }
}

fn byte_count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// A member of the group, as the facts name it.
struct Target {
    file: String,
    qualname: Vec<String>,
}

impl Target {
    fn of(codebase: &mut Codebase, member: &Place) -> Option<Self> {
        let (file, loaded) = match &member.file {
            PlaceFile::Inside(file) => (file.to_string(), codebase.load(file)?),
            PlaceFile::Outside(path) => (path.to_string_lossy().into_owned(), codebase.load_outside(path)?),
        };
        let declared = loaded.module.declaration_at(member.span).map(|declaration| declaration.qualname.clone());
        let qualname = declared.or_else(|| Some(vec![loaded.source.slice(member.span)?.to_owned()]))?;
        Some(Self { file, qualname })
    }

    fn is(&self, target: &UseTarget) -> bool {
        let UseTarget::Local { file, name } = target else { return false };
        let names: Vec<&str> = name.split('.').filter(|part| *part != "<locals>").collect();
        let wanted: Vec<&str> = self.qualname.iter().map(String::as_str).collect();
        // The module's own components come first; a longer path would be a member of another class of that name.
        *file == self.file && names.ends_with(&wanted)
    }
}
