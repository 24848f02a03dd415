//! What pyrefly itself says of a project: its root, where imports come from, which files it covers.
//!
//! Two runs of `dump-config`. The first is pyrefly's own view, mypy's and pyright's settings included; it names the
//! import roots and what the interpreter adds to them. An editable install adds a folder of the project itself,
//! which pyrefly takes for site packages and leaves out of the check. The second run therefore has all import roots
//! of the project as `--search-path`, as every later check has, and says what such a check covers.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::check::normalized;
use super::obstacles::{Obstacle, Odd, obstacles, pattern};
use super::{CheckOptions, CheckerError, Environment, Pyrefly};

/// One project as pyrefly sees it. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectConfig {
    /// The folder of the nearest configuration or marker, which may lie above; else the folder that was asked about.
    pub(crate) root: PathBuf,
    /// A configuration of pyrefly, or a file that merely marks a project root.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) interpreter: Option<PathBuf>,
    pub(crate) python_version: Option<String>,
    pub(crate) python_platform: Option<String>,
    /// The root that pyrefly inferred from the layout.
    pub(crate) import_root: Option<PathBuf>,
    /// The configured import roots, then those that the interpreter adds inside the project (editable installs):
    /// what a check needs as `--search-path`. Extra roots stand around them, with all others named.
    pub(crate) search_path: Vec<PathBuf>,
    /// Everything else that imports come from, inside the project only where it is a virtual environment or a
    /// folder that the configuration calls site packages.
    pub(crate) site_packages: Vec<PathBuf>,
    /// The files that a check of the whole project with [`ProjectConfig::options`] covers.
    pub(crate) covered: BTreeSet<PathBuf>,
    /// What every check has to leave out by name, since pyrefly can't pass it.
    pub(crate) obstacles: BTreeMap<PathBuf, Obstacle>,
    /// Whether the walk of the language server, which can't be told to leave anything out, meets one of them: its
    /// index is then empty, or never built.
    pub(crate) index_fails: bool,
}

/// What a check with given options would look at. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inspection {
    pub(crate) config_file: Option<PathBuf>,
    /// Everything that imports come from, except what the options themselves name as import roots.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) covered: BTreeSet<PathBuf>,
}

impl ProjectConfig {
    /// The flags under which a check of this project sees all of it and asks no interpreter.
    pub(crate) fn options(&self) -> CheckOptions {
        CheckOptions {
            search_path: self.search_path.clone(),
            site_packages: self.site_packages.clone(),
            environment: Environment::Given {
                version: self.python_version.clone(),
                platform: self.python_platform.clone(),
            },
            exclude: self.obstacles.keys().map(|path| pattern(path)).collect(),
            ..CheckOptions::default()
        }
    }

    /// Where roots are named, an inferred one isn't searched any more, so it is named, too.
    fn surround(&mut self, before: &[PathBuf], after: &[PathBuf]) {
        if before.is_empty() && after.is_empty() {
            return;
        }
        let mut all = Vec::new();
        for root in before.iter().chain(&self.roots_for_files()).chain(after) {
            if !all.contains(root) {
                all.push(root.clone());
            }
        }
        self.search_path = all;
    }

    /// Import roots for a check of single files: without a project to read them from, the inferred one is named too.
    pub(crate) fn roots_for_files(&self) -> Vec<PathBuf> {
        let mut roots = self.search_path.clone();
        roots.extend(self.import_root.iter().filter(|root| !self.search_path.contains(root)).cloned());
        if !roots.contains(&self.root) {
            roots.push(self.root.clone());
        }
        roots
    }
}

impl Pyrefly {
    /// Asks what the project of `cwd` is, with import roots that it doesn't declare, absolute: some to be searched
    /// before its own, others after them.
    pub(crate) async fn dump_config(
        &self,
        cwd: &Path,
        before: &[PathBuf],
        after: &[PathBuf],
        odd: Option<Odd<'_>>,
    ) -> Result<ProjectConfig, CheckerError> {
        let cwd = cwd.canonicalize().map_err(CheckerError::io(cwd))?;
        let mut found = BTreeMap::new();
        let mut arguments: Vec<OsString> = vec!["--full".into()];
        let mut answer = self.dump(&cwd, &arguments).await;
        let stumbles = matches!(answer, Err(CheckerError::NoAnswer { .. }));
        if let Err(error @ CheckerError::NoAnswer { .. }) = &answer {
            found = obstacles(&root_from_talk(error, &cwd), odd);
            arguments.extend(left_out(&found));
            answer = if found.is_empty() { answer } else { self.dump(&cwd, &arguments).await };
        }
        let first = match answer? {
            Dumped::Answer(dump) => dump,
            Dumped::NothingCovered(error) => self.dump_editable(&cwd, &arguments, error).await?,
        };
        let root = first.root(&cwd);
        if !stumbles {
            // Those in folders that an ignore file names come up in checks that read such folders too.
            found = obstacles(&root, odd);
        }
        let reads_for_ever = first.covered.iter().any(|file| found.contains_key(file));
        let mut project = first.into_project(root);
        project.surround(before, after);
        project.index_fails = stumbles || reads_for_ever;
        project.obstacles = found;
        project.covered = self.inspect(&cwd, &project.options()).await?.covered;
        Ok(project)
    }

    /// The first run again, for a project in which all folders with Python files are taken for site packages: any
    /// file tells which those are, and as import roots they are covered.
    async fn dump_editable(
        &self,
        cwd: &Path,
        arguments: &[OsString],
        error: CheckerError,
    ) -> Result<Dump, CheckerError> {
        let root = root_from_talk(&error, cwd);
        let Some(file) = first_python_file(&root) else { return Err(error) };
        let Dumped::Answer(of_file) = self.dump(cwd, &[pattern(&file).into()]).await? else { return Err(error) };
        let mut arguments = arguments.to_vec();
        for path in of_file.queried_site.iter().filter(|path| is_source(path, &root)) {
            arguments.extend(["--search-path".into(), path.into()]);
        }
        match self.dump(cwd, &arguments).await? {
            Dumped::Answer(dump) => Ok(dump),
            Dumped::NothingCovered(error) => Err(error),
        }
    }

    /// What a check of `cwd` with these options would look at.
    pub(crate) async fn inspect(&self, cwd: &Path, options: &CheckOptions) -> Result<Inspection, CheckerError> {
        let cwd = cwd.canonicalize().map_err(CheckerError::io(cwd))?;
        let mut arguments = options.arguments();
        arguments.extend(options.files.iter().map(|file| pattern(&cwd.join(file)).into()));
        match self.dump(&cwd, &arguments).await? {
            Dumped::Answer(dump) => Ok(Inspection {
                config_file: dump.config_file,
                roots: dump
                    .import_root
                    .into_iter()
                    .chain(dump.configured)
                    .chain(dump.named_site)
                    .chain(dump.queried_site)
                    .collect(),
                covered: dump.covered.into_iter().collect(),
            }),
            Dumped::NothingCovered(error) => Err(error),
        }
    }

    async fn dump(&self, cwd: &Path, arguments: &[OsString]) -> Result<Dumped, CheckerError> {
        let mut all: Vec<OsString> = ["dump-config", "--max-files", "all"].map(Into::into).into();
        all.extend_from_slice(arguments);
        let answer = self.ask(&all, cwd).await?;
        let text = String::from_utf8_lossy(&answer.stdout);
        if text.trim().is_empty() {
            // The message is long and its end says little.
            let (command, stderr) = (answer.command.clone(), answer.stderr.trim().to_owned());
            return if stderr.contains("No Python files matched") {
                Ok(Dumped::NothingCovered(CheckerError::NothingCovered { command, stderr }))
            } else {
                Err(CheckerError::NoAnswer { command, stderr: answer.last_lines() })
            };
        }
        let dump = Dump::parse(&text, cwd);
        let incomplete = |missing| CheckerError::Incomplete { command: answer.command.clone(), missing };
        Ok(Dumped::Answer(dump.map_err(incomplete)?))
    }
}

enum Dumped {
    Answer(Dump),
    NothingCovered(CheckerError),
}

/// The root that pyrefly names in its talk when it covers nothing: ``Found `…/pyproject.toml` marking …``.
fn root_from_talk(error: &CheckerError, cwd: &Path) -> PathBuf {
    let talk = if let CheckerError::NothingCovered { stderr, .. } | CheckerError::NoAnswer { stderr, .. } = error {
        stderr
    } else {
        ""
    };
    let file = ["Found `", "configured at `"]
        .iter()
        .find_map(|lead| talk.split_once(lead)?.1.split_once('`').map(|(file, _)| file));
    file.and_then(|file| Path::new(file).parent()).unwrap_or(cwd).to_owned()
}

/// The flags that leave obstacles out.
fn left_out(obstacles: &BTreeMap<PathBuf, Obstacle>) -> impl Iterator<Item = OsString> {
    obstacles.keys().flat_map(|path| ["--extend-project-excludes".into(), pattern(path).into()])
}

/// Some Python file below the folder, the first in order of names; virtual environments and hidden folders left out.
fn first_python_file(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_python = |path: &Path| path.extension().is_some_and(|e| e == "py" || e == "pyi") && path.is_file();
    if let Some(file) = entries.iter().find(|path| is_python(path)) {
        return Some(file.clone());
    }
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let is_folder =
        |path: &Path| path.is_dir() && !path.is_symlink() && !hidden(path) && !path.join("pyvenv.cfg").exists();
    entries.iter().filter(|path| is_folder(path)).find_map(|path| first_python_file(path))
}

/// One answer of `dump-config`, read but not yet judged.
#[derive(Debug, Default, PartialEq, Eq)]
struct Dump {
    config_file: Option<PathBuf>,
    interpreter: Option<PathBuf>,
    version: Option<String>,
    platform: Option<String>,
    covered: Vec<PathBuf>,
    import_root: Option<PathBuf>,
    configured: Vec<PathBuf>,
    /// Site packages that the configuration names.
    named_site: Vec<PathBuf>,
    queried_site: Vec<PathBuf>,
}

impl Dump {
    /// The answer is made for people: headings, and indented lines below them.
    fn parse(text: &str, cwd: &Path) -> Result<Self, &'static str> {
        let mut dump = Self::default();
        let mut heading = "";
        let mut headings = 0;
        for line in text.split('\n') {
            if heading == "Covered files" && dump.continues_file(line) {
                continue;
            }
            let line = line.trim_end_matches('\r');
            let content = line.trim_start();
            match line.len() - content.len() {
                0 if content.is_empty() => {}
                0 => {
                    headings += 1;
                    // Only the first configuration is that of the project.
                    if headings > 1 {
                        break;
                    }
                    dump.config_file = between_backticks(content).map(|file| normalized(&cwd.join(file)));
                }
                2 => heading = dump.heading(content, cwd),
                _ => dump.entry(heading, content, cwd),
            }
        }
        if headings == 0 {
            return Err("a configuration");
        }
        if dump.covered.is_empty() {
            return Err("covered files");
        }
        Ok(dump)
    }

    /// Takes the line for more of the last file's name, which holds a line feed when it isn't a Python file's yet.
    fn continues_file(&mut self, line: &str) -> bool {
        let unfinished = |file: &&mut PathBuf| {
            file.extension().is_none_or(|ext| !["py", "pyi", "pyw", "ipynb"].iter().any(|known| ext == *known))
        };
        let Some(file) = self.covered.last_mut().filter(unfinished) else { return false };
        let mut name = std::mem::take(file).into_os_string();
        name.push("\n");
        name.push(line);
        *file = name.into();
        true
    }

    fn heading(&mut self, content: &str, cwd: &Path) -> &'static str {
        if let Some(interpreter) = content.strip_prefix("Using interpreter: ") {
            self.interpreter = (!interpreter.starts_with('<')).then(|| normalized(&cwd.join(interpreter)));
        }
        ["Covered files", "Resolving imports", "Configuration settings"]
            .into_iter()
            .find(|heading| content.starts_with(heading))
            .unwrap_or("")
    }

    fn entry(&mut self, heading: &str, content: &str, cwd: &Path) {
        let paths = |list: &str| -> Vec<PathBuf> {
            quoted_strings(list).into_iter().map(|path| normalized(&cwd.join(path))).collect()
        };
        match heading {
            "Covered files" => self.covered.push(normalized(&cwd.join(content))),
            "Configuration settings" => {
                let value =
                    |name: &str| Some(content.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned());
                self.version = self.version.take().or_else(|| value("python-version"));
                self.platform = self.platform.take().or_else(|| value("python-platform"));
            }
            "Resolving imports" => {
                let Some((label, list)) = content.split_once(": ") else { return };
                if label.starts_with("Import root") {
                    self.import_root = paths(list).into_iter().next();
                } else if label.starts_with("Search path (from config") {
                    self.configured = paths(list);
                } else if label.starts_with("Site packages path from user") {
                    self.named_site = paths(list);
                } else if label.starts_with("Site packages path queried") {
                    self.queried_site = paths(list);
                }
            }
            _ => {}
        }
    }

    fn root(&self, cwd: &Path) -> PathBuf {
        self.config_file.as_deref().and_then(Path::parent).unwrap_or(cwd).to_owned()
    }

    /// Sorts the import roots: what the interpreter adds inside the project is source, unless it belongs to a
    /// virtual environment that happens to stand there.
    fn into_project(self, root: PathBuf) -> ProjectConfig {
        let (editable, installed): (Vec<_>, Vec<_>) =
            self.queried_site.into_iter().partition(|path| is_source(path, &root));
        let mut search_path = Vec::new();
        for path in self.configured.into_iter().chain(editable) {
            if path.is_dir() && !search_path.contains(&path) {
                search_path.push(path);
            }
        }
        let site_packages = self.named_site.into_iter().chain(installed).filter(|path| path.is_dir()).collect();
        ProjectConfig {
            config_file: self.config_file,
            interpreter: self.interpreter,
            python_version: self.version,
            python_platform: self.platform,
            import_root: self.import_root,
            search_path,
            site_packages,
            covered: BTreeSet::new(),
            obstacles: BTreeMap::new(),
            index_fails: false,
            root,
        }
    }
}

/// Whether a folder that the interpreter adds holds sources of the project.
fn is_source(path: &Path, root: &Path) -> bool {
    path.starts_with(root) && path.is_dir() && !is_installed(path, root)
}

/// Whether a folder holds installed packages: by its name, or because a virtual environment surrounds it.
fn is_installed(path: &Path, root: &Path) -> bool {
    let named = |name| path.ends_with(name);
    let inside = path.ancestors().take_while(|folder| folder.starts_with(root) && *folder != root);
    named("site-packages")
        || named("dist-packages")
        || inside.into_iter().any(|folder| folder.join("pyvenv.cfg").exists())
}

fn between_backticks(text: &str) -> Option<&str> {
    Some(text.split_once('`')?.1.rsplit_once('`')?.0)
}

/// The strings of a list as Rust's `Debug` writes it: `["a", "b\"c"]`.
fn quoted_strings(list: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut chars = list.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut string = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => string.extend(unescaped(&mut chars)),
                _ => string.push(c),
            }
        }
        strings.push(string);
    }
    strings
}

fn unescaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    match chars.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        'u' => {
            let digits: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::testing::{Tree, block_on, pyrefly};

    fn project(tree: &Tree, below: &str) -> ProjectConfig {
        block_on(pyrefly().dump_config(&tree.path().join(below), &[], &[], None)).unwrap()
    }

    fn covered(tree: &Tree, project: &ProjectConfig) -> Vec<String> {
        project.covered.iter().map(|f| f.strip_prefix(tree.path()).unwrap().display().to_string()).collect()
    }

    #[test]
    fn the_folder_itself_is_the_root_where_nothing_marks_one() {
        let tree = Tree::new(&[("p/a.py", "")]);
        let project = project(&tree, "p");
        assert_eq!((project.root, project.config_file), (tree.path().join("p"), None));
        assert!(project.python_version.is_some() && project.interpreter.is_some());
    }

    #[test]
    fn the_root_is_that_of_the_nearest_configuration_above() {
        let tree = Tree::new(&[("pyproject.toml", ""), ("top.py", ""), ("sub/a.py", "")]);
        let project = project(&tree, "sub");
        assert_eq!(project.root, tree.path());
        assert_eq!(covered(&tree, &project), ["sub/a.py", "top.py"]);
    }

    #[test]
    fn a_file_that_the_configuration_leaves_out_is_not_covered() {
        let tree = Tree::new(&[("pyrefly.toml", "project-includes = ['sub/**']"), ("a.py", ""), ("sub/b.py", "")]);
        assert_eq!(covered(&tree, &project(&tree, ".")), ["sub/b.py"]);
    }

    #[test]
    fn settings_of_mypy_lend_their_import_roots_and_leave_no_file_out() {
        let config = "[tool.mypy]\nfiles = ['sub']\nmypy_path = 'lib'\n";
        let tree = Tree::new(&[("pyproject.toml", config), ("a.py", ""), ("sub/b.py", ""), ("lib/c.py", "")]);
        let project = project(&tree, ".");
        assert_eq!(project.search_path, [tree.path().join("lib")]);
        assert_eq!(covered(&tree, &project), ["a.py", "lib/c.py", "sub/b.py"]);
    }

    #[test]
    fn sources_that_editable_installs_point_to_are_covered_import_roots() {
        let tree =
            Tree::new(&[("pyproject.toml", ""), ("packages/a/src/alib/m.py", ""), ("packages/b/src/blib/m.py", "")]);
        tree.venv(".venv", &["packages/a/src", "packages/b/src"]);
        let project = project(&tree, ".");
        assert_eq!(project.search_path, [tree.path().join("packages/a/src"), tree.path().join("packages/b/src")]);
        assert_eq!(covered(&tree, &project), ["packages/a/src/alib/m.py", "packages/b/src/blib/m.py"]);
        assert!(
            project.site_packages.iter().all(|path| path.ends_with("site-packages")),
            "{:?}",
            project.site_packages
        );
    }

    #[test]
    fn a_check_under_the_options_of_a_project_asks_no_interpreter() {
        let tree = Tree::new(&[("pyproject.toml", ""), ("a.py", ""), ("lib/b.py", "")]);
        tree.venv(".venv", &["lib"]);
        let project = project(&tree, ".");
        assert_eq!(project.search_path, [tree.path().join("lib")]);
        let seen = block_on(pyrefly().inspect(tree.path(), &project.options())).unwrap();
        // What an interpreter adds would come up a second time, after the import roots.
        assert!(!seen.roots.contains(&tree.path().join("lib")), "{:?}", seen.roots);
    }

    #[test]
    fn a_name_with_line_feeds_is_one_file() {
        let tree = Tree::new(&[("a\n\n  b.py", ""), ("z.py", ""), ("d\ne/m.py", "")]);
        assert_eq!(covered(&tree, &project(&tree, ".")), ["a\n\n  b.py", "d\ne/m.py", "z.py"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_pyrefly_would_stumble_over_is_left_out() {
        let tree = Tree::new(&[("pyproject.toml", ""), ("a.py", ""), ("sub/b.py", ""), (".gitignore", "ignored/")]);
        let link = |target: &str, at: &str| std::os::unix::fs::symlink(target, tree.path().join(at)).unwrap();
        let sound = project(&tree, ".");
        assert!(!sound.index_fails && sound.obstacles.is_empty());
        std::fs::create_dir(tree.path().join("ignored")).unwrap();
        link("nowhere", "ignored/gone.py");
        let ignored = project(&tree, "sub");
        assert!(!ignored.index_fails && ignored.obstacles.contains_key(&tree.path().join("ignored/gone.py")));
        link("nowhere [x]*", "gone [x]*.py");
        link("..", "sub/up");
        let stumbled = project(&tree, "sub");
        assert!(stumbled.index_fails);
        assert_eq!(covered(&tree, &stumbled), ["a.py", "sub/b.py"]);
        let ignored_too = CheckOptions { ignored_too: true, ..stumbled.options() };
        assert_eq!(block_on(pyrefly().check(tree.path(), &ignored_too)).unwrap().diagnostics, []);
    }

    #[test]
    fn no_python_at_all_is_an_error() {
        let tree = Tree::new(&[("a.txt", "")]);
        let error = block_on(pyrefly().dump_config(tree.path(), &[], &[], None)).unwrap_err();
        assert!(matches!(error, CheckerError::NothingCovered { .. }));
    }

    #[test]
    fn quoted_lists_read_back_what_debug_wrote() {
        for paths in [vec!["a b", "li é\"b", "x\\y"], vec!["e\u{301}", "tab\t"], vec![]] {
            assert_eq!(quoted_strings(&format!("{paths:?}")), paths);
        }
    }
}
