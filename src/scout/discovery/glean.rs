//! pyrefly's glean facts of the candidate files as a backend.
//!
//! Only the exact name in the defining file counts. Glean makes names up for inherited members and knows no
//! scopes, so what it says is a cross-check and never the last word (`census`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::checker::{GleanFacts, Pyrefly, UseTarget};
use crate::plan::Source;
use crate::scout::ScoutError;
use crate::scout::codebase::Codebase;
use crate::text::{ByteSpan, RelPath};

use super::{Discovery, GroupQuestion, Member, PlaceFile};

/// `pyrefly check --report-glean` on the files that hold the name. Sees names in dead code and in `__all__`.
pub(crate) struct Glean {
    pyrefly: Pyrefly,
    threads: usize,
}

impl Glean {
    /// `threads` 0 lets pyrefly choose.
    pub(crate) const fn new(pyrefly: Pyrefly, threads: usize) -> Self {
        Self { pyrefly, threads }
    }
}

impl Discovery for Glean {
    type Answer = GleanFacts;

    fn source(&self) -> Source {
        Source::Glean
    }

    async fn ask(&self, question: &GroupQuestion) -> Result<GleanFacts, ScoutError> {
        if question.files.is_empty() {
            return Ok(GleanFacts::default());
        }
        // The defining files come along, so that the facts name them as the workspace does.
        let defining = question.members.iter().filter_map(|member| match &member.place.file {
            PlaceFile::Inside(file) => Some(file),
            PlaceFile::Outside(_) => None,
        });
        let files: BTreeSet<&RelPath> = question.files.iter().chain(defining).collect();
        let paths: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(file.as_str())).collect();
        let targets: Vec<Target> = question.members.iter().filter_map(Target::of).collect();
        let wanted = |used: &UseTarget| targets.iter().any(|target| target.is(used));
        let root = question.root.as_path();
        Ok(self.pyrefly.glean(root, &paths, &question.import_roots, self.threads, wanted).await?)
    }

    fn uses(&self, codebase: &mut Codebase, facts: GleanFacts) -> BTreeSet<(RelPath, ByteSpan)> {
        let mut found = BTreeSet::new();
        for used in facts.uses {
            let Ok(file) = RelPath::new(&used.file) else { continue };
            let whole = facts.digests.get(&used.file).is_none_or(|digest| {
                // pyrefly read other bytes than we did: none of its places means anything.
                codebase.load(&file).is_some_and(|loaded| digest.size == byte_count(loaded.source.as_str()))
            });
            if whole {
                found.extend(used.spans.into_iter().map(|span| (file.clone(), span)));
            }
        }
        found
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
    fn of(member: &Member) -> Option<Self> {
        let file = match &member.place.file {
            PlaceFile::Inside(file) => file.to_string(),
            PlaceFile::Outside(path) => path.to_string_lossy().into_owned(),
        };
        let (loaded, span) = (&member.loaded, member.place.span);
        let declared = loaded.module.declaration_at(span).map(|declaration| declaration.qualname.clone());
        let qualname = declared.or_else(|| Some(vec![loaded.source.slice(span)?.to_owned()]))?;
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
