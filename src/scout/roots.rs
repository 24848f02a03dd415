//! Import roots that nothing declares: folders without which imports of the workspace don't resolve.
//!
//! Only imports that the type checker can't follow count, and a folder is used only where the import can mean no
//! other and no import that resolves today would mean something else. Lines are searched for imports first, since
//! parsing a whole tree for them would cost more than a scout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::python::{ImportClause, Role};
use crate::text::{ByteOffset, Position, RelPath};

use super::ScoutError;
use super::codebase::{Codebase, Loaded};
use super::discovery::{Definitions, Place, PlaceFile};

/// An import that doesn't resolve, and the folders below which its module lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unrooted {
    /// As written.
    pub(crate) module: String,
    pub(crate) file: RelPath,
    /// 0-based.
    pub(crate) line: usize,
    pub(crate) standing: Standing,
}

/// What comes of an import that doesn't resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its one folder is an import root.
    Root(PathBuf),
    /// Nobody knows which folder is meant.
    Doubtful(BTreeSet<PathBuf>),
    /// With its folder as an import root this module, which is imported, would be another one.
    Hides(PathBuf, String),
}

/// The first import of each module of the workspace that the type checker can't follow, in order of the modules.
pub(crate) async fn unrooted(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
) -> Result<Vec<Unrooted>, ScoutError> {
    let places = top_level_names(codebase);
    let importers = importers(codebase, &places);
    let mut found: Vec<Unrooted> = Vec::new();
    for (name, files) in &importers {
        let mut asked = BTreeSet::new();
        for file in files {
            let Some(loaded) = codebase.load(file) else { continue };
            for clause in loaded.module.imports.iter().filter(|clause| imports(clause, name)) {
                let holds = |folder: &&PathBuf| codebase.holds_module_below(folder, &clause.target);
                let folders: BTreeSet<PathBuf> = places[name.as_str()].iter().filter(holds).cloned().collect();
                let is_settled = found.iter().any(|known| known.standing.settles(&folders));
                let is_below = folders.iter().any(|folder| codebase.root().join(file).starts_with(folder));
                // The type checker looks around the importing file, so that within and without differ.
                if folders.is_empty() || is_settled || !asked.insert((folders.clone(), is_below)) {
                    continue;
                }
                if !is_unresolved(codebase, definitions, file, &loaded, clause).await? {
                    continue;
                }
                // Beside a script its own folder is meant, which needs no import root.
                if folders.len() > 1 && codebase.root().join(file).parent().is_some_and(|own| folders.contains(own)) {
                    continue;
                }
                let line = loaded.source.position(clause.name.start()).map_or(0, Position::line);
                let standing = Standing::of(folders);
                found.push(Unrooted { module: clause.target.module.clone(), file: file.clone(), line, standing });
            }
        }
    }
    for import in &mut found {
        let Standing::Root(folder) = import.standing.clone() else { continue };
        if let Some(hidden) = hidden_by(&folder, codebase, definitions, &places, &importers).await? {
            import.standing = Standing::Hides(folder, hidden);
        }
    }
    Ok(found)
}

impl Standing {
    fn of(mut folders: BTreeSet<PathBuf>) -> Self {
        match folders.pop_first() {
            Some(only) if folders.is_empty() => Self::Root(only),
            Some(first) => {
                folders.insert(first);
                Self::Doubtful(folders)
            }
            None => Self::Doubtful(folders),
        }
    }

    /// Whether an import that may mean these folders is dealt with.
    fn settles(&self, folders: &BTreeSet<PathBuf>) -> bool {
        match self {
            Self::Root(root) | Self::Hides(root, _) => folders.contains(root),
            Self::Doubtful(known) => known == folders,
        }
    }
}

/// The modules and packages that can't be imported by the declared roots, with the folders that hold them. A folder
/// in a package is no import root.
fn top_level_names(codebase: &Codebase) -> BTreeMap<String, BTreeSet<PathBuf>> {
    let workspace = codebase.root().as_path();
    let mut names: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut packaged = BTreeMap::new();
    for file in codebase.checked_files() {
        let path = codebase.root().join(file);
        let mut inner = path.as_path();
        while let Some(folder) = inner.parent().filter(|folder| folder.starts_with(workspace)) {
            if let Some(name) = inner.file_stem().and_then(|name| name.to_str())
                && !is_in_package(folder, codebase, &mut packaged)
            {
                names.entry(name.to_owned()).or_default().insert(folder.to_owned());
            }
            inner = folder;
        }
    }
    let roots = codebase.import_roots();
    names.retain(|_, folders| !folders.iter().any(|folder| roots.contains(folder)));
    names
}

fn is_in_package(folder: &Path, codebase: &Codebase, known: &mut BTreeMap<PathBuf, bool>) -> bool {
    if let Some(&known) = known.get(folder) {
        return known;
    }
    let outer = folder.parent().filter(|outer| outer.starts_with(codebase.root().as_path()));
    let is_inside = codebase.is_package(folder) || outer.is_some_and(|outer| is_in_package(outer, codebase, known));
    known.insert(folder.to_owned(), is_inside);
    is_inside
}

/// The files whose lines import these names.
fn importers(codebase: &Codebase, names: &BTreeMap<String, BTreeSet<PathBuf>>) -> BTreeMap<String, BTreeSet<RelPath>> {
    let mut found: BTreeMap<String, BTreeSet<RelPath>> = BTreeMap::new();
    if names.is_empty() {
        return found;
    }
    for file in codebase.checked_files() {
        let Some(bytes) = codebase.bytes(file) else { continue };
        let imported = import_lines(&bytes).flat_map(imported_by).filter(|name| names.contains_key(*name));
        for name in imported {
            found.entry(name.to_owned()).or_default().insert(file.clone());
        }
    }
    found
}

/// The lines that may be imports.
fn import_lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    memmem::find_iter(bytes, b"import").filter_map(move |at| {
        let (before, after) = bytes.split_at(at);
        let start = before.iter().rposition(|byte| is_end(byte)).map_or(0, |end| end + 1);
        let end = after.iter().position(|byte| is_end(byte)).map_or(bytes.len(), |end| at + end);
        std::str::from_utf8(&bytes[start..end]).ok()
    })
}

/// The first components of what a line imports absolutely, should it be an import.
fn imported_by(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let from = line.strip_prefix("from ").map(|rest| rest.split(' ').next().unwrap_or(rest));
    let modules = from.or_else(|| line.strip_prefix("import ")).unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    modules.split(',').filter_map(move |module| module.trim_start().split(|c| !is_part(c)).next())
}

fn imports(clause: &ImportClause, name: &str) -> bool {
    clause.target.level == 0 && clause.target.module.split('.').next() == Some(name)
}

async fn is_unresolved(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    loaded: &Loaded,
    clause: &ImportClause,
) -> Result<bool, ScoutError> {
    let answers = ask(codebase, definitions, file, loaded, clause).await?;
    let is_itself =
        |place: &Place| place.file == PlaceFile::Inside(file.clone()) && clause.statement.contains(place.span);
    Ok(answers.iter().all(is_itself))
}

/// Where an import's module is defined, and the name that it brings.
async fn ask(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    loaded: &Loaded,
    clause: &ImportClause,
) -> Result<Vec<Place>, ScoutError> {
    let is_module = |token: &&crate::python::NameToken| {
        let inside = if clause.target.name.is_none() { clause.name } else { clause.statement };
        token.role == Role::ImportModule && inside.contains(token.span)
    };
    let last = loaded.module.names().filter(is_module).map(|token| token.span.start()).max();
    let name = clause.target.name.is_some().then(|| clause.name.start());
    let at: Vec<ByteOffset> = last.into_iter().chain(name).collect();
    Ok(definitions.definitions(codebase, file, &at).await?.into_iter().flatten().collect())
}

/// A module directly in the folder that some file imports from elsewhere today.
async fn hidden_by(
    folder: &Path,
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    places: &BTreeMap<String, BTreeSet<PathBuf>>,
    importers: &BTreeMap<String, BTreeSet<RelPath>>,
) -> Result<Option<String>, ScoutError> {
    for (name, files) in importers.iter().filter(|(name, _)| places[name.as_str()].contains(folder)) {
        let root = codebase.root().clone();
        for file in files.iter().filter(|file| !root.join(file).starts_with(folder)) {
            let Some(loaded) = codebase.load(file) else { continue };
            let Some(clause) = loaded.module.imports.iter().find(|clause| imports(clause, name)) else { continue };
            let answers = ask(codebase, definitions, file, &loaded, clause).await?;
            let is_elsewhere = |place: &Place| match &place.file {
                PlaceFile::Inside(target) => target != file && !codebase.root().join(target).starts_with(folder),
                PlaceFile::Outside(_) => true,
            };
            if answers.iter().any(is_elsewhere) {
                return Ok(Some(name.clone()));
            }
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_may_be_imports_are_found_whatever_ends_them() {
        let text = b"import a\r\nx = 1\rfrom b import c\n\xe9 = 1 # important\n  import d";
        assert_eq!(import_lines(text).collect::<Vec<_>>(), ["import a", "from b import c", "  import d"]);
    }

    #[test]
    fn lines_tell_the_first_components_of_absolute_imports() {
        let names = |line: &'static str| imported_by(line).filter(|name| !name.is_empty()).collect::<Vec<_>>();
        assert_eq!(names("from a.b import c, d"), ["a"]);
        assert_eq!(names("    import a.b as x, c  # note"), ["a", "c"]);
        assert_eq!(names("from . import a"), Vec::<&str>::new());
        assert_eq!(names("from .a import b"), Vec::<&str>::new());
        assert_eq!(names("important = 1"), Vec::<&str>::new());
    }
}
