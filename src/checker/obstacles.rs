//! What pyrefly's walk over a project stumbles over: links that lead nowhere or in a circle, and pipes that are
//! called like Python files.
//!
//! At the first such link pyrefly gives no answer about the whole project, and its language server builds an empty
//! index without a word; a pipe it reads for ever. Left out by name they do no harm. The walk here goes where
//! pyrefly's goes, through links too; what a project's own settings leave out is not asked, since to leave out
//! something twice costs nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// Folders that pyrefly leaves out by itself, beside hidden ones.
const PASSED_OVER: [&str; 2] = ["node_modules", "__pycache__"];
/// Other pipes nobody reads.
const READ_EXTENSIONS: [&str; 4] = ["py", "pyi", "pyw", "ipynb"];

/// Why pyrefly can't pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obstacle {
    /// A link to something that isn't there.
    Dangling,
    /// A link to itself, to a folder that it lies in, or to one that holds the project.
    Circle,
    /// A pipe, a socket or a device.
    NotAFile,
}

impl Obstacle {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Dangling => "a symbolic link to something that isn't there",
            Self::Circle => "a symbolic link that leads in a circle",
            Self::NotAFile => "no regular file",
        }
    }
}

/// All links, pipes and devices below a folder, as somebody found them who walked over it without following links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Odd<'o> {
    pub(crate) below: &'o Path,
    pub(crate) paths: &'o [PathBuf],
}

/// All obstacles below a folder, which is a canonical path. A walk over a large tree is dear, so that one which was
/// made before isn't made again.
pub(super) fn obstacles(root: &Path, known: Option<Odd<'_>>) -> BTreeMap<PathBuf, Obstacle> {
    let mut walk = Walk { root, found: BTreeMap::new(), around: vec![root.to_owned()] };
    match known.filter(|odd| odd.below == root) {
        Some(odd) => odd.paths.iter().for_each(|path| walk.odd(path)),
        None => walk.folder(root),
    }
    walk.found
}

struct Walk<'r> {
    root: &'r Path,
    found: BTreeMap<PathBuf, Obstacle>,
    /// The real paths of the folders that the walk is in.
    around: Vec<PathBuf>,
}

impl Walk<'_> {
    /// A folder that can't be read is one that pyrefly passes over.
    fn folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if let Ok(kind) = entry.file_type()
                && !is_passed_over(&entry.file_name())
            {
                self.entry(&entry.path(), kind);
            }
        }
    }

    /// What lies below the root, with no link above it.
    fn odd(&mut self, path: &Path) {
        let Ok(below) = path.strip_prefix(self.root) else { return };
        if let Ok(data) = path.symlink_metadata()
            && !below.iter().any(is_passed_over)
        {
            self.around = path.ancestors().skip(1).take(below.iter().count()).map(Path::to_owned).collect();
            self.around.reverse();
            self.entry(path, data.file_type());
        }
    }

    fn entry(&mut self, path: &Path, kind: FileType) {
        if kind.is_symlink() {
            self.link(path);
        } else if kind.is_dir() {
            let real = self.around.last().zip(path.file_name()).map(|(folder, name)| folder.join(name));
            self.inside(path, real.unwrap_or_else(|| path.to_owned()));
        } else if !kind.is_file() && is_read(path) {
            self.found.insert(path.to_owned(), Obstacle::NotAFile);
        }
    }

    fn link(&mut self, path: &Path) {
        let found = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Obstacle::Dangling,
            // A folder above the target can't be entered: nothing is known, and pyrefly would give up.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Obstacle::Dangling,
            Err(_) => Obstacle::Circle,
            Ok(real) if real.is_dir() && (self.around.contains(&real) || self.root.starts_with(&real)) => {
                Obstacle::Circle
            }
            Ok(real) if real.is_dir() => return self.inside(path, real),
            Ok(real) if !real.is_file() && is_read(path) => Obstacle::NotAFile,
            Ok(_) => return,
        };
        self.found.insert(path.to_owned(), found);
    }

    fn inside(&mut self, path: &Path, real: PathBuf) {
        self.around.push(real);
        self.folder(path);
        self.around.pop();
    }
}

fn is_passed_over(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || PASSED_OVER.iter().any(|passed_over| name == *passed_over)
}

fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|extension| READ_EXTENSIONS.iter().any(|read| extension == *read))
}

/// A path as a pattern that matches nothing else.
pub(crate) fn pattern(path: &Path) -> String {
    let mut pattern = String::new();
    for c in path.to_string_lossy().chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => pattern.extend(['[', c, ']']),
            // Bytes that are no UTF-8.
            char::REPLACEMENT_CHARACTER => pattern.push('*'),
            _ => pattern.push(c),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_patterns_match_only_themselves() {
        assert_eq!(pattern(Path::new("/p/a[1]*.py")), "/p/a[[]1[]][*].py");
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_or_in_a_circle_are_found_under_every_name() {
        use crate::checker::testing::Tree;
        use std::os::unix::fs::symlink;

        let outside = Tree::new(&[("far/x.py", "")]);
        let tree = Tree::new(&[
            ("p/a/m.py", ""),
            ("p/b/m.py", ""),
            ("p/.hidden/m.py", ""),
            ("p/node_modules/m.py", ""),
            ("p/out/m.py", ""),
        ]);
        let root = tree.path().join("p");
        let link = |target: &str, at: &str| symlink(target, root.join(at)).unwrap();
        link("nowhere.py", "gone.py");
        link("nowhere", "gone");
        link("self.py", "self.py");
        link("..", "a/up");
        link("..", "above");
        link("../b", "a/to_b");
        link("../a", "b/to_a");
        link("m.py", "a/again.py");
        link("/dev/null", "null.py");
        link("/dev/null", "null.txt");
        link("nowhere", ".hidden/gone");
        link("nowhere", "node_modules/gone");
        symlink(outside.path().join("far"), root.join("far")).unwrap();
        symlink("nowhere", outside.path().join("far/gone")).unwrap();
        let odd = [
            "gone.py",
            "gone",
            "self.py",
            "a/up",
            "above",
            "a/to_b",
            "b/to_a",
            "a/again.py",
            "null.py",
            "null.txt",
            "far",
            ".hidden/gone",
            "node_modules/gone",
        ];
        let odd = odd.map(|path| root.join(path));
        let found = obstacles(&root, None);
        assert_eq!(obstacles(&root, Some(Odd { below: &root, paths: &odd })), found);
        let found: Vec<(String, Obstacle)> = found
            .into_iter()
            .map(|(path, why)| (path.strip_prefix(&root).unwrap().display().to_string(), why))
            .collect();
        let expected = [
            ("a/to_b/to_a", Obstacle::Circle),
            ("a/up", Obstacle::Circle),
            ("above", Obstacle::Circle),
            ("b/to_a/to_b", Obstacle::Circle),
            ("b/to_a/up", Obstacle::Circle),
            ("far/gone", Obstacle::Dangling),
            ("gone", Obstacle::Dangling),
            ("gone.py", Obstacle::Dangling),
            ("null.py", Obstacle::NotAFile),
            ("self.py", Obstacle::Circle),
        ];
        assert_eq!(found, expected.map(|(path, why)| (path.to_owned(), why)));
    }
}
