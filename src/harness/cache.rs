//! What the type checker said about the very same tree, kept in `.tainie/cache`, so that a second scout asks nothing.
//!
//! The key is a digest of everything that an answer depends on: tainie, the type checker, the environment that it
//! reads, the settings in the workspace and above, and every byte of the workspace's Python files. What a key can't
//! hold before the configuration is known is checked when a cache is read: the folders that dependencies are
//! installed in, by their entries' names and times of change. An edit of an installed dependency *in place* is not
//! seen; `--no-cache` is for that. A workspace below its project isn't cached at all, for its answers depend on
//! files outside. Nothing here is ever needed: what can't be read or written is as if it weren't there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checker::{ProjectConfig, Pyrefly};
use crate::scout::{Codebase, Facts, Fingerprint, Place, PlaceFile, SETTINGS, Uses};
use crate::text::{ByteOffset, ByteSpan, ProjectRoot, RelPath, Revision};

use super::Surroundings;
use super::journal::make_state_folder;
use super::records::state_folder;

/// Newer caches push older ones out.
const KEPT: usize = 4;
const SCHEMA_VERSION: u32 = 3;
const STRING: &str = "writing to a string can't fail";

/// The cache of one workspace in one state.
pub(super) struct Cache {
    folder: PathBuf,
    key: String,
    fingerprint: Fingerprint,
}

/// What a scout starts from, when it was there before.
pub(super) struct Kept {
    pub(super) configured: Configured,
    pub(super) facts: Facts,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema_version: u32,
    key: String,
    import_roots: Vec<PathBuf>,
    found_roots: Vec<PathBuf>,
    notes: Vec<String>,
    /// The folders of dependencies, each with a digest of its entries.
    site_packages: BTreeMap<PathBuf, String>,
    definitions: Vec<StoredAnswer>,
    types: Vec<StoredAnswer>,
    uses: BTreeMap<String, Vec<(String, usize, usize)>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnswer {
    file: String,
    at: usize,
    places: Vec<StoredPlace>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPlace {
    /// Of the workspace; else `file` is absolute.
    inside: bool,
    file: PathBuf,
    start: usize,
    end: usize,
}

impl Cache {
    /// `None` where no key can be made.
    pub(super) fn of(
        surroundings: &Surroundings,
        pyrefly: &Pyrefly,
        workspace: &ProjectRoot,
        search_path: &[PathBuf],
        codebase: &Codebase,
    ) -> Option<Self> {
        let program = std::fs::metadata(pyrefly.program()).ok()?;
        let fingerprint = codebase.fingerprint()?;
        let mut text = format!(
            "{SCHEMA_VERSION} {} {} {} {} {:?}\n{workspace}\n{}\n",
            env!("CARGO_PKG_VERSION"),
            pyrefly.version(),
            pyrefly.program().display(),
            program.len(),
            program.modified().ok()?,
            fingerprint.digest(),
        );
        for folder in search_path {
            writeln!(text, "search {}", folder.display()).expect(STRING);
        }
        for (name, value) in &surroundings.interpreter {
            writeln!(text, "{name}={}", value.display()).expect(STRING);
        }
        for folder in workspace.as_path().ancestors().skip(1) {
            for name in SETTINGS {
                if let Ok(bytes) = std::fs::read(folder.join(name)) {
                    writeln!(text, "{} {}", folder.join(name).display(), Revision::of(&bytes)).expect(STRING);
                }
            }
        }
        let key = Revision::of(text.as_bytes()).to_string();
        Some(Self { folder: state_folder(surroundings, workspace).join("cache"), key, fingerprint })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.key.get(..32).unwrap_or_default()))
    }

    /// What is known of this state of the tree.
    pub(super) fn read(&self) -> Option<Kept> {
        let stored: Stored = serde_json::from_slice(&std::fs::read(self.file()).ok()?).ok()?;
        let is_current = |(folder, digest): (&PathBuf, &String)| stamp(folder).as_ref() == Some(digest);
        let fits = stored.schema_version == SCHEMA_VERSION && stored.key == self.key;
        if !fits || !stored.site_packages.iter().all(is_current) {
            return None;
        }
        let definitions = stored.definitions.into_iter().map(answer).collect::<Option<_>>()?;
        let types = stored.types.into_iter().map(answer).collect::<Option<_>>()?;
        let mut facts = Facts { definitions, types, ..Facts::default() };
        for (question, uses) in stored.uses {
            let uses = uses.into_iter().map(|(file, start, end)| Some((RelPath::new(&file).ok()?, span(start, end)?)));
            facts.uses.insert(question, uses.collect::<Option<Uses>>()?);
        }
        let Stored { import_roots, found_roots, notes, site_packages, .. } = stored;
        Some(Kept { configured: Configured { import_roots, found_roots, notes, site_packages }, facts })
    }

    /// Whether what was read of the workspace since is of the state that this cache is about.
    pub(super) fn is_of(&self, codebase: &Codebase) -> bool {
        codebase.was_loaded_as(&self.fingerprint)
    }

    /// Keeps what is known now, unless the tree changed while it was asked about. A workspace that can't be written
    /// to simply has no cache.
    pub(super) fn write(&self, config: &Configured, facts: &Facts, codebase: &Codebase) {
        let is_unchanged = || codebase.is_still(&self.fingerprint);
        if facts.grown && is_unchanged() && self.try_write(config, facts).is_some() {
            self.push_out();
        }
    }

    fn try_write(&self, config: &Configured, facts: &Facts) -> Option<()> {
        let stored = Stored {
            schema_version: SCHEMA_VERSION,
            key: self.key.clone(),
            import_roots: config.import_roots.clone(),
            found_roots: config.found_roots.clone(),
            notes: config.notes.clone(),
            site_packages: config.site_packages.clone(),
            definitions: facts.definitions.iter().map(stored).collect(),
            types: facts.types.iter().map(stored).collect(),
            uses: facts.uses.iter().map(|(key, uses)| (key.clone(), uses.iter().map(row).collect())).collect(),
        };
        make_state_folder(self.folder.parent()?).ok()?;
        std::fs::create_dir_all(&self.folder).ok()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        file.write_all(&serde_json::to_vec(&stored).ok()?).ok()?;
        file.persist(self.file()).ok()?;
        Some(())
    }

    /// Removes all but the newest caches.
    fn push_out(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut files: Vec<_> =
            entries.flatten().filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path()))).collect();
        files.sort();
        for (_, old) in files.iter().rev().skip(KEPT) {
            // Another process may have been quicker; what stays is only some space.
            drop(std::fs::remove_file(old));
        }
    }
}

/// The parts of a configuration that are kept.
pub(super) struct Configured {
    /// What a check and a server search.
    pub(super) import_roots: Vec<PathBuf>,
    /// Those of them that nothing declares.
    pub(super) found_roots: Vec<PathBuf>,
    /// What there is to say about them.
    pub(super) notes: Vec<String>,
    site_packages: BTreeMap<PathBuf, String>,
}

impl Configured {
    /// `None` where answers depend on more than a key holds.
    pub(super) fn of(
        config: &ProjectConfig,
        found_roots: &[PathBuf],
        notes: &[String],
        workspace: &ProjectRoot,
    ) -> Option<Self> {
        let is_inside = |root: &PathBuf| root.starts_with(workspace.as_path());
        let import_roots = config.roots_for_files();
        if config.root != workspace.as_path() || !config.obstacles.is_empty() || !import_roots.iter().all(is_inside) {
            return None;
        }
        let stamped = config.site_packages.iter().map(|folder| Some((folder.clone(), stamp(folder)?)));
        let (found_roots, notes) = (found_roots.to_vec(), notes.to_vec());
        Some(Self { import_roots, found_roots, notes, site_packages: stamped.collect::<Option<_>>()? })
    }
}

/// A digest of the names and times of change of a folder's entries; `None` where it can't be read.
fn stamp(folder: &Path) -> Option<String> {
    let mut entries = BTreeSet::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let changed = entry.metadata().ok()?.modified().ok()?;
            entries.insert(format!("{} {changed:?}\n", entry.file_name().display()));
        }
    }
    Some(Revision::of(entries.into_iter().collect::<String>().as_bytes()).to_string())
}

fn stored(((file, at), places): (&(RelPath, ByteOffset), &Vec<Place>)) -> StoredAnswer {
    let places = places.iter().map(|place| {
        let (inside, file) = match &place.file {
            PlaceFile::Inside(file) => (true, PathBuf::from(file.as_str())),
            PlaceFile::Outside(path) => (false, path.clone()),
        };
        StoredPlace { inside, file, start: place.span.start().get(), end: place.span.end().get() }
    });
    StoredAnswer { file: file.to_string(), at: at.get(), places: places.collect() }
}

fn answer(stored: StoredAnswer) -> Option<((RelPath, ByteOffset), Vec<Place>)> {
    let places = stored.places.into_iter().map(read_back).collect::<Option<Vec<_>>>()?;
    Some(((RelPath::new(&stored.file).ok()?, ByteOffset::new(stored.at)), places))
}

fn read_back(place: StoredPlace) -> Option<Place> {
    let file = if place.inside {
        PlaceFile::Inside(RelPath::new(place.file.to_str()?).ok()?)
    } else {
        PlaceFile::Outside(place.file)
    };
    Some(Place { file, span: span(place.start, place.end)? })
}

fn row((file, span): &(RelPath, ByteSpan)) -> (String, usize, usize) {
    (file.to_string(), span.start().get(), span.end().get())
}

fn span(start: usize, end: usize) -> Option<ByteSpan> {
    (start <= end).then(|| ByteSpan::new(start, end))
}
