//! The files of a workspace: which are looked at, which are not and why, and their modules' names.
//!
//! Reading is here; what a text means is `python`'s, and what a mention refers to is decided elsewhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::WalkBuilder;
use memchr::memmem;

use crate::plan::Reason;
use crate::python::{ImportRef, Module, without_escapes};
use crate::text::{ProjectRoot, RelPath, Revision, SourceText};

use super::ScoutError;
use super::texts::{NOT_A_FILE, Texts, read, read_small};
use super::tree::{self, Entry};

/// Folders that the type checker never reads, beside hidden ones.
const UNREAD_FOLDERS: [&str; 4] = ["node_modules", "__pycache__", "venv", "site-packages"];
/// Folders that hold nobody's source.
const INTERNAL_FOLDERS: [&str; 5] = [".git", ".hg", ".tainie", ".mypy_cache", ".ruff_cache"];
const VENDORED_FOLDERS: [&str; 5] = ["_vendor", "vendor", "vendored", "_vendored", "third_party"];
/// Files that say how the type checker reads a project, or which files it leaves out.
pub(crate) const SETTINGS: [&str; 9] = [
    "pyrefly.toml",
    "pyproject.toml",
    "mypy.ini",
    ".mypy.ini",
    "setup.cfg",
    "pyrightconfig.json",
    "tox.ini",
    ".gitignore",
    ".ignore",
];
/// What the name of a package ends in that holds the stubs of another (PEP 561).
const STUBS: &str = "-stubs";
/// Where type checkers look for stubs, too.
const TYPINGS: &str = "typings";
/// Larger files are data.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// How much of a folder elsewhere is searched.
const MAX_ENTRIES_BEHIND_A_LINK: usize = 20_000;
/// How much of a file is looked at for the mark of a generator.
const HEADER_BYTES: usize = 1000;

/// One file with its syntax.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) source: SourceText,
    pub(crate) module: Module,
    /// The text in which words are looked for, place by place the same, where that isn't the source itself.
    searched: Option<String>,
}

impl Loaded {
    /// The text in which words are looked for: of a notebook, the one without the escapes of its JSON.
    pub(super) fn searched(&self) -> &str {
        self.searched.as_deref().unwrap_or_else(|| self.source.as_str())
    }
}

/// A file that may hold mentions but isn't looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unread {
    pub(super) file: RelPath,
    pub(super) reason: Reason,
    pub(super) message: String,
}

/// One state of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    revisions: BTreeMap<RelPath, Revision>,
    /// Length and time of change of what isn't read.
    unread: BTreeMap<RelPath, String>,
}

impl Fingerprint {
    pub(crate) fn digest(&self) -> Revision {
        let revisions = self.revisions.iter().map(|(file, revision)| format!("{:?} {revision}\n", file.as_str()));
        let unread = self.unread.iter().map(|(file, data)| format!("{:?} {data}\n", file.as_str()));
        Revision::of(revisions.chain(unread).collect::<String>().as_bytes())
    }
}

/// The Python files of a workspace.
pub(crate) struct Codebase {
    root: ProjectRoot,
    files: BTreeSet<RelPath>,
    /// The files by the last component of their modules' names.
    by_stem: BTreeMap<String, Vec<RelPath>>,
    unread: BTreeSet<Unread>,
    settings: BTreeSet<RelPath>,
    /// Files that aren't Python, but for those that an ignore file names.
    documents: BTreeSet<RelPath>,
    unnameable: Vec<PathBuf>,
    /// Links, pipes and devices.
    odd: Vec<PathBuf>,
    import_roots: Vec<PathBuf>,
    /// The files that hold a text, for each that was searched for: no file is read twice for one.
    files_with: RefCell<BTreeMap<String, BTreeSet<RelPath>>>,
    texts: RefCell<Texts>,
    loaded: BTreeMap<RelPath, Option<Rc<Loaded>>>,
    outside: BTreeMap<PathBuf, Option<Rc<Loaded>>>,
}

impl Codebase {
    /// Lists the workspace's files; modules are named from the folders that the layout shows.
    pub(crate) fn open(root: &ProjectRoot) -> Result<Self, ScoutError> {
        if !root.as_path().is_dir() {
            return Err(ScoutError::NoWorkspace { path: root.to_string() });
        }
        let mut codebase = Self {
            root: root.clone(),
            files: BTreeSet::new(),
            by_stem: BTreeMap::new(),
            unread: BTreeSet::new(),
            settings: BTreeSet::new(),
            documents: BTreeSet::new(),
            unnameable: Vec::new(),
            odd: Vec::new(),
            import_roots: Vec::new(),
            files_with: RefCell::new(BTreeMap::new()),
            texts: RefCell::new(Texts::default()),
            loaded: BTreeMap::new(),
            outside: BTreeMap::new(),
        };
        codebase.name_modules_from(&[]);
        codebase.list();
        if codebase.files.is_empty() && codebase.unread.is_empty() {
            return Err(ScoutError::NoPython { path: root.to_string() });
        }
        Ok(codebase)
    }

    /// Names modules from these folders, as the type checker has them, and from those that the layout shows.
    pub(crate) fn name_modules_from(&mut self, import_roots: &[PathBuf]) {
        let root = self.root.as_path();
        let mut roots: Vec<PathBuf> = import_roots.to_vec();
        for folder in ["src", TYPINGS].map(|name| root.join(name)) {
            if folder.is_dir() && !folder.join("__init__.py").exists() {
                roots.push(folder);
            }
        }
        roots.push(root.to_owned());
        roots.retain(|candidate| root.starts_with(candidate) || candidate.starts_with(root));
        roots.sort_by_key(|root| std::cmp::Reverse(root.components().count()));
        roots.dedup();
        self.import_roots = roots;
    }

    pub(crate) const fn root(&self) -> &ProjectRoot {
        &self.root
    }

    /// The folders that modules are named from, the deepest first.
    pub(super) fn import_roots(&self) -> &[PathBuf] {
        &self.import_roots
    }

    fn note_unnameable(&mut self, path: &Path) {
        if path.extension().is_some_and(|extension| extension == "py" || extension == "pyi") {
            self.unnameable.push(path.strip_prefix(self.root.as_path()).unwrap_or(path).to_owned());
        }
    }

    /// Files that hold the text and whose name isn't UTF-8, so that no JSON and no protocol can name them.
    pub(super) fn unnameable_with(&self, text: &str) -> Vec<String> {
        let texts = BTreeSet::from([text.to_owned()]);
        let holds =
            |path: &&PathBuf| read(&self.root.as_path().join(path)).map_or(true, |bytes| holds_any(&bytes, &texts));
        self.unnameable.iter().filter(holds).map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// All files that are looked at.
    pub(crate) fn files(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter()
    }

    /// Those of them that the type checker reads: no notebooks.
    pub(crate) fn checked_files(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter().filter(|file| !is_notebook(file))
    }

    pub(super) fn contains(&self, file: &RelPath) -> bool {
        self.files.contains(file)
    }

    fn list(&mut self) {
        let tree = tree::walk(self.root.as_path(), &INTERNAL_FOLDERS);
        for entry in tree.entries {
            if !entry.kind.is_file() {
                self.odd.push(entry.path.clone());
            }
            let Ok(file) = self.root.relativize(&entry.path) else {
                self.note_unnameable(&entry.path);
                continue;
            };
            match self.judge_file(&file, &entry) {
                Standing::Read => {
                    if let Some(stem) = module_stem(&file).filter(|_| !is_notebook(&file)) {
                        self.by_stem.entry(stem.to_owned()).or_default().push(file.clone());
                    }
                    self.files.insert(file);
                }
                Standing::Unread(reason, message) => {
                    self.unread.insert(Unread { file, reason, message });
                }
                Standing::Foreign => {
                    if SETTINGS.contains(&file.file_name()) {
                        self.settings.insert(file.clone());
                    }
                    if entry.kind.is_file() && !entry.is_ignored && !entry.is_in_environment {
                        self.documents.insert(file);
                    }
                }
            }
        }
        // A folder that can't be looked into may hold anything.
        for (path, error) in tree.unreadable {
            if let Ok(file) = self.root.relativize(&path) {
                self.unread.insert(Unread { file, reason: Reason::Unreadable, message: error.to_string() });
            }
        }
    }

    /// Changes whenever an answer about the workspace may: with any byte of a file that is looked at and of the
    /// settings in it, and with the length or time of change of a Python file that isn't. `None` where something
    /// can't be read, so that nobody knows.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        let revision = |file: &RelPath| Some((file.clone(), Revision::of(&*self.bytes(file)?)));
        let revisions = self.files.iter().chain(&self.settings).map(revision).collect::<Option<_>>()?;
        let unread = self.stamps_of_unread()?;
        self.unnameable.is_empty().then_some(Fingerprint { revisions, unread })
    }

    /// Whether the files that were listed are still as they were.
    pub(crate) fn is_still(&self, fingerprint: &Fingerprint) -> bool {
        let texts = self.texts.borrow();
        let is_same = |(file, revision): (&RelPath, &Revision)| texts.is_still(file, &self.root.join(file), revision);
        fingerprint.revisions.iter().all(is_same) && self.stamps_of_unread().as_ref() == Some(&fingerprint.unread)
    }

    fn stamps_of_unread(&self) -> Option<BTreeMap<RelPath, String>> {
        let changed = |unread: &Unread| {
            let data = std::fs::symlink_metadata(self.root.join(&unread.file)).ok()?;
            Some((unread.file.clone(), format!("{} {:?}", data.len(), data.modified().ok()?)))
        };
        self.unread.iter().map(changed).collect()
    }

    /// Whether every file that was loaded had the bytes of the fingerprint.
    pub(crate) fn was_loaded_as(&self, fingerprint: &Fingerprint) -> bool {
        self.loaded.iter().all(|(file, loaded)| {
            loaded.as_ref().is_none_or(|loaded| fingerprint.revisions.get(file) == Some(loaded.source.revision()))
        })
    }

    fn judge_file(&self, file: &RelPath, entry: &Entry) -> Standing {
        let unread = |reason, message: &str| Standing::Unread(reason, message.to_owned());
        let is_link = entry.kind.is_symlink();
        if is_link && entry.path.is_dir() {
            return self.judge_folder_link(&entry.path);
        }
        // Emacs marks a file that it has open with a dangling link of this name.
        if is_link && file.file_name().starts_with(".#") {
            return Standing::Foreign;
        }
        let is_python = match file.extension() {
            Some("py" | "pyi" | "pyw" | "ipynb") => true,
            Some("pyx" | "pxd" | "pxi") => {
                return unread(Reason::NotCovered, "Cython, which the type checker doesn't read");
            }
            None if is_python_script(&entry.path) => {
                return unread(Reason::NotCovered, "a Python script without .py, which the type checker doesn't read");
            }
            Some(_) | None => false,
        };
        if !is_python {
            return Standing::Foreign;
        }
        if is_link {
            return self.judge_link(&entry.path);
        }
        if !entry.kind.is_file() {
            return unread(Reason::Unreadable, NOT_A_FILE);
        }
        if let Some(folder) = file.directories().into_iter().find(|name| name.starts_with('.')) {
            let message = format!("below the hidden folder {folder}, which the type checker doesn't read");
            return Standing::Unread(Reason::NotCovered, message);
        }
        if let Some(folder) = file.directories().into_iter().find(|name| UNREAD_FOLDERS.contains(name)) {
            let message = format!("below {folder}, which the type checker doesn't read");
            return Standing::Unread(Reason::NotCovered, message);
        }
        if entry.is_in_environment {
            return unread(Reason::NotCovered, "in a virtual environment");
        }
        if entry.is_ignored {
            return unread(Reason::NotCovered, "ignored by .gitignore");
        }
        if entry.path.metadata().is_ok_and(|data| data.len() > MAX_FILE_BYTES) {
            return unread(Reason::NotCovered, "over 16 MiB");
        }
        Standing::Read
    }

    /// A link to a file of the workspace is the same file again; one to elsewhere isn't the workspace's to edit.
    fn judge_link(&self, path: &Path) -> Standing {
        match path.canonicalize() {
            Ok(target) if target.starts_with(self.root.as_path()) => {
                let message = "a symbolic link to a file of the workspace, which is looked at under its own name";
                Standing::Unread(Reason::Symlink, message.to_owned())
            }
            Ok(target) => {
                let message = format!("a symbolic link that leaves the workspace, to {}", target.display());
                Standing::Unread(Reason::Symlink, message)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Standing::Unread(Reason::Symlink, "a dangling symbolic link".to_owned())
            }
            Err(error) => Standing::Unread(Reason::Symlink, format!("a symbolic link that can't be followed: {error}")),
        }
    }

    /// Folders are looked at under their own names alone. What a link to one elsewhere leads to is no part of the
    /// workspace, although the type checker reads it.
    fn judge_folder_link(&self, path: &Path) -> Standing {
        let message = match path.canonicalize() {
            Ok(target) if self.root.as_path().starts_with(&target) => {
                "a symbolic link to a folder that holds the workspace, which isn't followed".to_owned()
            }
            Ok(target) if target.starts_with(self.root.as_path()) => return Standing::Foreign,
            Ok(target) => format!("a symbolic link to a folder outside the workspace, {}", target.display()),
            Err(error) => format!("a symbolic link that can't be followed: {error}"),
        };
        Standing::Unread(Reason::Symlink, message)
    }

    /// Files that are looked at and hold one of the texts.
    pub(super) fn files_with(&self, texts: &BTreeSet<String>) -> BTreeSet<RelPath> {
        let mut known = self.files_with.borrow_mut();
        let new: Vec<&String> = texts.iter().filter(|text| !known.contains_key(*text)).collect();
        if !new.is_empty() {
            let finders: Vec<_> = new.iter().map(|text| memmem::Finder::new(text.as_bytes())).collect();
            let mut found = vec![BTreeSet::new(); new.len()];
            for file in &self.files {
                let Some(bytes) = self.bytes(file) else { continue };
                for (finder, found) in finders.iter().zip(&mut found) {
                    if finder.find(&bytes).is_some() {
                        found.insert(file.clone());
                    }
                }
            }
            known.extend(new.into_iter().cloned().zip(found));
        }
        texts.iter().flat_map(|text| &known[text]).cloned().collect()
    }

    /// Files that aren't looked at and hold the text, or couldn't be searched for it.
    pub(super) fn unread_with(&self, text: &str) -> Vec<Unread> {
        let texts = BTreeSet::from([text.to_owned()]);
        let unreadable = self.files.iter().filter_map(|file| {
            let error = self.read(file).err()?;
            Some(Unread { file: file.clone(), reason: Reason::Unreadable, message: error.to_string() })
        });
        let holds = |unread: &&Unread| may_hold(&self.root.join(&unread.file), &self.root, &texts);
        let mut found: Vec<Unread> = self.unread.iter().filter(holds).cloned().chain(unreadable).collect();
        found.sort();
        found
    }

    /// Reads and parses a file of the workspace, once. `None`: it can't be read or isn't UTF-8, which
    /// [`Codebase::why_not`] tells.
    pub(super) fn load(&mut self, file: &RelPath) -> Option<Rc<Loaded>> {
        if !self.loaded.contains_key(file) {
            let loaded = self.load_afresh(file).ok().map(Rc::new);
            self.loaded.insert(file.clone(), loaded);
        }
        self.loaded[file].clone()
    }

    /// What was loaded before; never reads.
    pub(super) fn loaded(&self, file: &RelPath) -> Option<&Rc<Loaded>> {
        self.loaded.get(file)?.as_ref()
    }

    /// The same for a file anywhere: the standard library, a dependency.
    pub(super) fn load_outside(&mut self, path: &Path) -> Option<Rc<Loaded>> {
        let load = || parse(path, read(path).ok()?).ok().map(Rc::new);
        self.outside.entry(path.to_owned()).or_insert_with(load).clone()
    }

    fn load_afresh(&self, file: &RelPath) -> Result<Loaded, (Reason, String)> {
        let bytes = self.read(file).map_err(|error| (Reason::Unreadable, error.to_string()))?;
        parse(&self.root.join(file), bytes.to_vec())
    }

    /// Why a file couldn't be loaded.
    pub(super) fn why_not(&self, file: &RelPath) -> (Reason, String) {
        match self.load_afresh(file) {
            Ok(_) => (Reason::Unreadable, "it could be read at the second attempt only".to_owned()),
            Err(why) => why,
        }
    }

    /// The dotted name that a file is imported by.
    pub(super) fn module_name(&self, file: &RelPath) -> String {
        self.module_name_of(&self.root.join(file))
    }

    /// The dotted names that a file can be imported by, that of its deepest import root first.
    pub(super) fn module_names(&self, file: &RelPath) -> Vec<String> {
        let path = self.root.join(file);
        let below = self.import_roots.iter().filter_map(|root| path.strip_prefix(root).ok()).map(dotted);
        let mut names: Vec<String> = below.collect();
        if names.is_empty() {
            names.push(self.module_name(file));
        }
        names
    }

    /// The same for a file anywhere; outside the import roots, the name below `site-packages` or the bare stem.
    pub(super) fn module_name_of(&self, path: &Path) -> String {
        let below = self.import_roots.iter().find_map(|root| path.strip_prefix(root).ok());
        let inside = below.map_or_else(|| below_site_packages(path), Path::to_owned);
        dotted(&inside)
    }

    /// The workspace's files that an import written in `from` may mean: a module, a package, their stubs.
    pub(super) fn resolve_import(&self, from: &RelPath, import: &ImportRef) -> Vec<RelPath> {
        let own = self.root.join(from);
        let parts: Vec<&str> = import.module.split('.').filter(|part| !part.is_empty()).collect();
        let bases: Vec<PathBuf> = if import.level > 0 {
            own.ancestors().nth(import.level).map(Path::to_owned).into_iter().collect()
        } else {
            let sibling = own.parent().map(Path::to_owned);
            self.import_roots.iter().cloned().chain(sibling).collect()
        };
        let found: Vec<RelPath> = bases.iter().flat_map(|base| self.module_files(base, &parts)).collect();
        if found.is_empty() && import.level == 0 { self.below_unnamed_root(&own, &parts) } else { found }
    }

    /// The files of a module below the one folder that would have to be an import root for it: sources below `lib`,
    /// a package below `backend`. A package isn't an import root; of several folders the innermost around the
    /// importing file is meant, else none.
    fn below_unnamed_root(&self, from: &Path, parts: &[&str]) -> Vec<RelPath> {
        let Some(stem) = parts.last() else { return Vec::new() };
        let roots: BTreeSet<PathBuf> = self
            .by_stem
            .get(*stem)
            .into_iter()
            .flatten()
            .filter_map(|file| self.root_for(file, parts))
            .filter(|root| !self.is_package(root))
            .collect();
        let around = roots.iter().filter(|root| from.starts_with(root)).max_by_key(|root| root.components().count());
        let only = roots.first().filter(|_| roots.len() == 1);
        around.or(only).map_or_else(Vec::new, |root| self.module_files(root, parts))
    }

    /// Whether the folder, as an import root, would hold the module of an absolute import.
    pub(super) fn holds_module_below(&self, folder: &Path, import: &ImportRef) -> bool {
        let mut parts: Vec<&str> = import.module.split('.').collect();
        if !self.module_files(folder, &parts).is_empty() {
            return true;
        }
        // `from a import b` of a namespace package, and `import a.b` of one.
        parts.extend(import.name.as_deref());
        let last = folder.join(parts.join(std::path::MAIN_SEPARATOR_STR));
        !self.module_files(folder, &parts).is_empty() || last.is_dir()
    }

    /// Whether a folder of the workspace is a package that isn't a namespace.
    pub(super) fn is_package(&self, folder: &Path) -> bool {
        let holds = |name: &str| self.root.relativize(&folder.join(name)).is_ok_and(|file| self.contains(&file));
        holds("__init__.py") || holds("__init__.pyi")
    }

    /// Files that aren't Python, up to a size, with their bytes, but for those of installed packages.
    pub(super) fn documents(&self, max_bytes: u64) -> impl Iterator<Item = (&RelPath, Vec<u8>)> {
        let is_source = |file: &&RelPath| !file.directories().iter().any(|name| UNREAD_FOLDERS.contains(name));
        self.documents
            .iter()
            .filter(is_source)
            .filter_map(move |file| Some((file, read_small(&self.root.join(file), max_bytes).ok()?)))
    }

    /// The bytes of a file that is looked at; `None` where it can't be read.
    pub(super) fn bytes(&self, file: &RelPath) -> Option<Rc<Vec<u8>>> {
        self.read(file).ok()
    }

    /// The bytes of a file that is looked at, as they were when it was first read.
    fn read(&self, file: &RelPath) -> std::io::Result<Rc<Vec<u8>>> {
        self.texts.borrow_mut().read(file, &self.root.join(file))
    }

    /// Links, pipes and devices, of which the type checker may have to be told.
    pub(crate) fn odd(&self) -> &[PathBuf] {
        &self.odd
    }

    /// The folder below which a file is the module of that name.
    fn root_for(&self, file: &RelPath, parts: &[&str]) -> Option<PathBuf> {
        let path = self.root.join(file);
        let module = if path.file_stem()? == "__init__" { path.parent()?.to_owned() } else { path.with_extension("") };
        let mut root = module.as_path();
        for part in parts.iter().rev() {
            if root.file_name()?.to_str()? != *part {
                return None;
            }
            root = root.parent()?;
        }
        root.starts_with(self.root.as_path()).then(|| root.to_owned())
    }

    fn module_files(&self, base: &Path, parts: &[&str]) -> Vec<RelPath> {
        let mut stem = base.to_owned();
        stem.extend(parts);
        let names = [".py", ".pyi", "/__init__.py", "/__init__.pyi"];
        let mut files: Vec<RelPath> = names
            .iter()
            .filter_map(|ending| {
                let path = PathBuf::from(format!("{}{ending}", stem.display()));
                self.root.relativize(&path).ok().filter(|file| self.contains(file))
            })
            .collect();
        files.sort();
        files
    }

    /// The stubs of a module, or the module of a stub: the same dotted name below any import root.
    pub(super) fn stub_twins(&self, file: &RelPath) -> Vec<RelPath> {
        let is_stub = |file: &RelPath| file.extension() == Some("pyi");
        let same_stem = module_stem(file).and_then(|stem| self.by_stem.get(stem)).into_iter().flatten();
        let name = self.module_name(file);
        same_stem.filter(|other| is_stub(other) != is_stub(file) && self.module_name(other) == name).cloned().collect()
    }
}

/// The module of a file by its path below an import root.
fn dotted(path: &Path) -> String {
    let mut parts: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "__init__") && parts.len() > 1 {
        parts.pop();
    }
    if let Some(package) = parts.first_mut()
        && let Some(name) = package.strip_suffix(STUBS)
    {
        *package = name.to_owned();
    }
    parts.join(".")
}

enum Standing {
    Read,
    Unread(Reason, String),
    Foreign,
}

/// Whether a file says of itself that a program wrote it, or lies in a folder of vendored code.
pub(super) fn is_generated(file: &RelPath, source: &SourceText) -> bool {
    let text = source.as_str();
    let mut end = HEADER_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let header = text.get(..end).unwrap_or_default();
    header.contains("@generated")
        || header.contains("DO NOT EDIT")
        || file.directories().iter().any(|folder| VENDORED_FOLDERS.contains(folder))
}

/// Whether a file is one that no server or check is asked about, for they would take its JSON for Python.
pub(super) fn is_notebook(file: &RelPath) -> bool {
    file.extension() == Some("ipynb")
}

/// `core` for `lib/core.py` and for `lib/core/__init__.py`.
fn module_stem(file: &RelPath) -> Option<&str> {
    let (folders, name) = file.as_str().rsplit_once('/').unwrap_or(("", file.as_str()));
    match name.split('.').next()? {
        "__init__" => folders.rsplit('/').next().map(|folder| folder.strip_suffix(STUBS).unwrap_or(folder)),
        stem => Some(stem),
    }
}

/// Whether what isn't looked at holds one of the texts, as far as can be told: what can't be read may, and so may a
/// folder that is too large to search or that holds the workspace.
fn may_hold(path: &Path, workspace: &ProjectRoot, texts: &BTreeSet<String>) -> bool {
    let Ok(folder) = path.canonicalize().map_err(drop).and_then(|real| if real.is_dir() { Ok(real) } else { Err(()) })
    else {
        return read(path).map_or(true, |bytes| holds_any(&bytes, texts));
    };
    let is_python = |path: &Path| path.extension().is_some_and(|extension| extension == "py" || extension == "pyi");
    let mut left = MAX_ENTRIES_BEHIND_A_LINK;
    workspace.as_path().starts_with(&folder)
        || WalkBuilder::new(folder).standard_filters(false).build().any(|entry| {
            left = left.saturating_sub(1);
            let Ok(entry) = entry else { return true };
            let holds = || read(entry.path()).is_ok_and(|bytes| holds_any(&bytes, texts));
            left == 0 || is_python(entry.path()) && holds()
        })
}

fn parse(path: &Path, bytes: Vec<u8>) -> Result<Loaded, (Reason, String)> {
    let source = SourceText::from_bytes(bytes).map_err(|error| (Reason::NotUtf8, error.to_string()))?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let module = Module::of_file(&source, extension);
    let module = module.ok_or_else(|| (Reason::Notebook, "not a notebook of Python that can be read".to_owned()))?;
    let searched = (extension == Some("ipynb")).then(|| without_escapes(source.as_str()));
    Ok(Loaded { source, module, searched })
}

fn holds_any(bytes: &[u8], texts: &BTreeSet<String>) -> bool {
    texts.iter().any(|text| memmem::find(bytes, text.as_bytes()).is_some())
}

fn is_python_script(path: &Path) -> bool {
    use std::io::Read as _;
    if !path.is_file() {
        return false;
    }
    let mut first = [0; 128];
    let Ok(read) = std::fs::File::open(path).and_then(|mut file| file.read(&mut first)) else { return false };
    let line = first.get(..read).and_then(|bytes| bytes.split(|&b| b == b'\n').next()).unwrap_or_default();
    line.starts_with(b"#!") && memmem::find(line, b"python").is_some()
}

/// `os.path` for `…/lib/python3.11/os/path.py`, `pkg.mod` for `…/site-packages/pkg/mod.pyi`.
fn below_site_packages(path: &Path) -> PathBuf {
    let parts: Vec<_> = path.iter().collect();
    let is_base = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        let is_named = matches!(&*name, "site-packages" | "dist-packages" | "stdlib" | "stubs");
        // The last is where pyrefly unpacks the stubs that it brings along.
        is_named || name.starts_with("python3") || name.starts_with("pyrefly_bundled_typeshed")
    };
    match parts.iter().rposition(|part| is_base(part)) {
        Some(at) => parts.iter().skip(at + 1).collect(),
        None => path.file_name().map(PathBuf::from).unwrap_or_default(),
    }
}
