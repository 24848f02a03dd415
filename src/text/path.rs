//! Paths that can't leave their root.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::PathError;

/// An absolute directory, symbolic links resolved, that relative paths are joined to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProjectRoot(PathBuf);

impl ProjectRoot {
    /// Takes a path that the caller has canonicalised.
    pub(crate) const fn from_canonical(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn as_path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, path: &RelPath) -> PathBuf {
        self.0.join(path.as_str())
    }

    /// The path of `absolute` as seen from this root.
    pub(crate) fn relativize(&self, absolute: &Path) -> Result<RelPath, PathError> {
        // Nearly every path is written like the root, and taking all of them apart shows in a profile.
        let below = self.0.to_str().zip(absolute.to_str()).and_then(|(root, path)| path.strip_prefix(root));
        if let Some(Ok(path)) = below.and_then(|below| below.strip_prefix('/')).map(RelPath::new)
            && cfg!(unix)
        {
            return Ok(path);
        }
        let inside = absolute.strip_prefix(&self.0).map_err(|_| PathError::Outside {
            path: absolute.display().to_string(),
            root: self.0.display().to_string(),
        })?;
        RelPath::from_path(inside)
    }
}

impl fmt::Display for ProjectRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

/// A `/`-separated path below a root: no empty, `.` or `..` segment, no NUL, not absolute, UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RelPath(String);

impl RelPath {
    pub(crate) fn new(path: &str) -> Result<Self, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.starts_with('/') || Path::new(path).is_absolute() {
            return Err(PathError::Absolute { path: path.to_owned() });
        }
        let bad = |segment: &str| matches!(segment, "" | "." | "..") || segment.contains('\0');
        if path.split('/').any(bad) {
            return Err(PathError::BadSegment { path: path.to_owned() });
        }
        Ok(Self(path.to_owned()))
    }

    /// Reads an operating-system path; separators become `/`.
    pub(crate) fn from_path(path: &Path) -> Result<Self, PathError> {
        let mut segments = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(segment) => segments
                    .push(segment.to_str().ok_or_else(|| PathError::NotUtf8 { path: path.display().to_string() })?),
                Component::Prefix(_) | Component::RootDir => {
                    return Err(PathError::Absolute { path: path.display().to_string() });
                }
                Component::CurDir | Component::ParentDir => {
                    return Err(PathError::BadSegment { path: path.display().to_string() });
                }
            }
        }
        Self::new(&segments.join("/"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub(crate) fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The directory, as segments; empty at the root.
    pub(crate) fn directories(&self) -> Vec<&str> {
        let mut segments: Vec<&str> = self.0.split('/').collect();
        segments.pop();
        segments
    }

    /// What follows the last dot of the file name, without the dot.
    pub(crate) fn extension(&self) -> Option<&str> {
        self.file_name().rsplit_once('.').map(|(_, extension)| extension)
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_cannot_climb_out() {
        for bad in ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "a\0b"] {
            assert!(RelPath::new(bad).is_err(), "{bad:?} must be refused");
        }
        assert_eq!(RelPath::new("a/b.py").unwrap().file_name(), "b.py");
    }

    #[test]
    fn a_path_outside_the_root_is_refused() {
        let root = ProjectRoot::from_canonical(PathBuf::from("/w"));
        for same in ["/w/a/b.py", "/w//a/./b.py"] {
            assert_eq!(root.relativize(Path::new(same)).unwrap().as_str(), "a/b.py");
        }
        assert!(root.relativize(Path::new("/work/a.py")).is_err());
        assert!(root.relativize(Path::new("/x/a.py")).is_err());
    }
}
