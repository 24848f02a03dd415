//! The two fixtures, embedded, so that an installed `tainie demo` works anywhere.
//!
//! The table is written out, not made by a build script: a test compares it with the folders, so a file that is
//! added to a fixture and not to the table is noticed.

/// One file of a fixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixtureFile {
    /// `d4` or `d7`.
    pub(crate) fixture: &'static str,
    /// Relative to the fixture's folder, `/`-separated.
    pub(crate) path: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! fixture_files {
    ($($fixture:literal: $path:literal,)*) => {
        &[$(FixtureFile {
            fixture: $fixture,
            path: $path,
            bytes: include_bytes!(concat!("../../fixtures/", $fixture, "/", $path)),
        },)*]
    };
}

/// Every file of every fixture, sorted by fixture and path.
static FILES: &[FixtureFile] = fixture_files![
    "d4": "oracle/test_d4.py",
    "d4": "task.md",
    "d4": "work/core.py",
    "d4": "work/handlers.py",
    "d4": "work/services.py",
    "d4": "work/utils.py",
    "d4": "work/views.py",
    "d7": "oracle/test_d7.py",
    "d7": "task.md",
    "d7": "work/dashboard.py",
    "d7": "work/export.py",
    "d7": "work/formatter.py",
    "d7": "work/report.py",
    "d7": "work/types.py",
];

/// The names of the fixtures, in the order in which a demo shows them.
pub(crate) const FIXTURES: [&str; 2] = ["d4", "d7"];

/// The files of one fixture, sorted by path; none when there is no such fixture.
pub(crate) fn fixture_files(fixture: &str) -> impl Iterator<Item = &'static FixtureFile> {
    FILES.iter().filter(move |file| file.fixture == fixture)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Paths below `folder`, relative to `root`, without what runs of Python and of tainie leave behind.
    fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !["__pycache__", ".pytest_cache", ".tainie"].iter().any(|left| path.ends_with(left)) {
                    walk(root, &path, found);
                }
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn the_table_holds_every_file_of_every_fixture() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for fixture in FIXTURES {
            let mut found = Vec::new();
            walk(&root.join(fixture), &root.join(fixture), &mut found);
            found.sort();
            let listed: Vec<&str> = fixture_files(fixture).map(|file| file.path).collect();
            assert_eq!(listed, found, "{fixture}");
            for file in fixture_files(fixture) {
                assert!(std::fs::read(root.join(fixture).join(file.path)).unwrap() == file.bytes, "{}", file.path);
            }
        }
        assert!(FILES.iter().all(|file| FIXTURES.contains(&file.fixture)));
    }
}
