//! One walk over a workspace: what lies in it, and which of that an ignore file names.
//!
//! A folder is listed once, and whatever its entries' names tell is taken from that list: on a large tree the calls to
//! the system cost more than everything else that a scout does by itself. Links aren't followed. Ignore files count as
//! the type checker counts them: `.ignore`, `.gitignore`, and `.git/info/exclude`, none of the user's own.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What marks a virtual environment.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// Anything but a folder.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// Of the entry itself, not of what a link leads to.
    pub(super) kind: FileType,
    pub(super) is_ignored: bool,
    pub(super) is_in_environment: bool,
}

/// All that lies below a folder, in order of the folders' and the entries' names.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) entries: Vec<Entry>,
    /// Folders that can't be listed.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// Walks over everything below `root`, but for what has one of these names.
pub(super) fn walk(root: &Path, passed_over: &[&str]) -> Tree {
    let mut tree = Tree::default();
    let mut left =
        vec![Folder { path: root.to_owned(), ignore_files: None, is_ignored: false, is_in_environment: false }];
    while let Some(folder) = left.pop() {
        let names = match list(&folder.path, passed_over) {
            Ok(names) => names,
            Err(error) => {
                tree.unreadable.push((folder.path, error));
                continue;
            }
        };
        let first = left.len();
        folder.look_at(names, folder.path == root, &mut tree.entries, &mut left);
        left[first..].reverse();
    }
    tree
}

type Names = Vec<(std::ffi::OsString, FileType)>;

/// The entries of a folder by name, with the ones that only tell something of their folder.
fn list(folder: &Path, passed_over: &[&str]) -> io::Result<(Names, bool)> {
    let mut names = Vec::new();
    let mut is_repository = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        is_repository |= name == ".git";
        if !passed_over.iter().any(|passed_over| name == *passed_over) {
            names.push((name, entry.file_type()?));
        }
    }
    names.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok((names, is_repository))
}

struct Folder {
    path: PathBuf,
    ignore_files: Option<Rc<IgnoreFiles>>,
    is_ignored: bool,
    is_in_environment: bool,
}

impl Folder {
    fn look_at(
        &self,
        (names, is_repository): (Names, bool),
        is_root: bool,
        entries: &mut Vec<Entry>,
        folders: &mut Vec<Self>,
    ) {
        let holds = |wanted: &str| names.iter().any(|(name, _)| name == wanted);
        let is_in_environment = self.is_in_environment || !is_root && holds(ENVIRONMENT);
        let ignore_files = if is_repository || holds(".ignore") || holds(".gitignore") {
            Some(Rc::new(IgnoreFiles::of(&self.path, is_repository, self.ignore_files.clone())))
        } else {
            self.ignore_files.clone()
        };
        for (name, kind) in names {
            let path = self.path.join(name);
            let names_it = || ignore_files.as_ref().is_some_and(|rules| rules.name(&path, kind.is_dir()));
            let is_ignored = self.is_ignored || names_it();
            if kind.is_dir() {
                folders.push(Self { path, ignore_files: ignore_files.clone(), is_ignored, is_in_environment });
            } else {
                entries.push(Entry { path, kind, is_ignored, is_in_environment });
            }
        }
    }
}

/// The ignore files of one folder, and of those around it.
struct IgnoreFiles {
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// What git ignores ends at a repository.
    is_repository: bool,
    outer: Option<Rc<Self>>,
}

impl IgnoreFiles {
    fn of(folder: &Path, is_repository: bool, outer: Option<Rc<Self>>) -> Self {
        let read = |name: &str| {
            let mut builder = GitignoreBuilder::new(folder);
            // A line that can't be read is passed over, as git does.
            drop(builder.add(folder.join(name)));
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        };
        let exclude = if is_repository { read(".git/info/exclude") } else { Gitignore::empty() };
        Self { ignore: read(".ignore"), git: read(".gitignore"), exclude, is_repository, outer }
    }

    /// Whether they name what lies there. The file that is nearest says, and `.ignore` before all others.
    fn name(&self, path: &Path, is_folder: bool) -> bool {
        let (mut ignore, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let mut is_same_repository = true;
        let mut next = Some(self);
        while let Some(rules) = next {
            ignore = ignore.or(rules.ignore.matched(path, is_folder));
            if is_same_repository {
                git = git.or(rules.git.matched(path, is_folder));
                exclude = exclude.or(rules.exclude.matched(path, is_folder));
            }
            is_same_repository &= !rules.is_repository;
            next = rules.outer.as_deref();
        }
        ignore.or(git).or(exclude).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    fn which(root: &Path, are: impl Fn(&Entry) -> bool) -> Vec<String> {
        let tree = walk(root, &[".git"]);
        let names = |entry: &Entry| entry.path.strip_prefix(root).unwrap().display().to_string();
        tree.entries.iter().filter(|entry| are(entry)).map(names).filter(|name| name.ends_with(".py")).collect()
    }

    #[test]
    fn ignore_files_count_as_git_and_ripgrep_count_them() {
        let tree = tree(&[
            (".gitignore", "/build/\n*.gen.py\ndata\n"),
            (".git/info/exclude", "private.py\n"),
            (".git/HEAD", ""),
            ("build/a.py", ""),
            ("build/.gitignore", "!a.py\n"),
            ("pkg/build/b.py", ""),
            ("pkg/x.gen.py", ""),
            ("pkg/private.py", ""),
            ("pkg/data/c.py", ""),
            ("again/.gitignore", "!x.gen.py\n"),
            ("again/x.gen.py", ""),
            ("again/.ignore", "only.py\n"),
            ("again/only.py", ""),
            ("other/.git/HEAD", ""),
            ("other/y.gen.py", ""),
            ("above/.ignore", "!z.gen.py\n"),
            ("above/deep/.gitignore", "z.gen.py\n"),
            ("above/deep/z.gen.py", ""),
        ]);
        let ignored = which(tree.path(), |entry| entry.is_ignored);
        assert_eq!(ignored, ["again/only.py", "build/a.py", "pkg/private.py", "pkg/x.gen.py", "pkg/data/c.py"]);
    }

    #[test]
    fn everything_below_a_virtual_environment_is_in_it() {
        let tree = tree(&[
            ("pyvenv.cfg", ""),
            ("m.py", ""),
            ("env/pyvenv.cfg", ""),
            ("env/lib/python3/site-packages/dep.py", ""),
        ]);
        assert_eq!(which(tree.path(), |entry| entry.is_in_environment), ["env/lib/python3/site-packages/dep.py"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_named_and_not_followed() {
        let tree = tree(&[("a/m.py", "")]);
        std::os::unix::fs::symlink(tree.path(), tree.path().join("a/up")).unwrap();
        let walked = walk(tree.path(), &[]);
        let links: Vec<_> = walked.entries.iter().filter(|entry| entry.kind.is_symlink()).collect();
        assert_eq!(links.len(), 1);
        assert_eq!(links[0].path, tree.path().join("a/up"));
    }
}
