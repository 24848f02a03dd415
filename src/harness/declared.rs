//! Which Pythons a project says that it is for. What an interpreter happens to be installed says nothing of that,
//! and would make the edits depend on the machine.

use std::path::Path;

use crate::text::ProjectRoot;

const FILES: [&str; 7] =
    ["pyproject.toml", "pyrefly.toml", ".pyrefly.toml", "setup.cfg", "mypy.ini", ".mypy.ini", "pyrightconfig.json"];

/// As packaging tools and type checkers call it.
const KEYS: [&str; 6] =
    ["requires-python", "python_requires", "python-version", "python_version", "pythonVersion", "python"];

/// The 3.12 of a project for Python 3.12 and later: the lowest version that the nearest folder from the workspace
/// upwards declares. `None` where none does.
pub(super) fn lowest_minor(workspace: &ProjectRoot) -> Option<u32> {
    workspace.as_path().ancestors().find_map(lowest_in_folder)
}

fn lowest_in_folder(folder: &Path) -> Option<u32> {
    let texts = FILES.iter().filter_map(|file| std::fs::read(folder.join(file)).ok());
    texts.filter_map(|bytes| lowest_in(&String::from_utf8_lossy(&bytes))).min()
}

/// The formats have lines such as `key = "value"` in common, and more isn't needed.
fn lowest_in(text: &str) -> Option<u32> {
    let is_plain = |c: char| !matches!(c, '"' | '\'' | ' ' | '\t' | '\r');
    let lines = text.split('\n').filter_map(|line| line.split_once(['=', ':']));
    let wanted = lines.filter(|(key, _)| KEYS.contains(&key.trim().trim_matches('"')));
    wanted.filter_map(|(_, value)| lowest_of(&value.chars().filter(|&c| is_plain(c)).collect::<String>())).min()
}

/// The lower bound of `>=3.9,<4`; clauses that set none don't count.
fn lowest_of(specifier: &str) -> Option<u32> {
    let bound = |clause: &str| {
        let version = clause.trim_start_matches(['>', '=', '~', '^']);
        let mut parts = version.split('.');
        let major: u32 = parts.next()?.parse().ok()?;
        let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
        let minor = parts.next().and_then(|part| digits(part).parse().ok()).unwrap_or(0);
        Some(if major < 3 { 0 } else { minor })
    };
    specifier.split([',', '#', '|']).filter_map(bound).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_version_that_is_declared_counts() {
        for (text, expected) in [
            ("[project]\nrequires-python = \">=3.9, <4\"\n", Some(9)),
            ("requires-python='>= 3.12'\r\n", Some(12)),
            ("requires-python = \">=3.13\"  # new\n[tool.mypy]\npython_version = \"3.12\"\n", Some(12)),
            ("[options]\npython_requires = >=3.8\n", Some(8)),
            ("python-version = \"3.14.1\"\n", Some(14)),
            ("{\n  \"pythonVersion\": \"3.12\",\n}\n", Some(12)),
            ("[tool.poetry.dependencies]\npython = \"^3.10\"\n", Some(10)),
            ("requires-python = \"~=3.12.0\"\n", Some(12)),
            ("requires-python = \">=3\"\n", Some(0)),
            ("requires-python = \">=2.7\"\n", Some(0)),
            ("requires-python = \"<3.14\"\n", None),
            ("requires-python = \"!=3.12\"\n", None),
            ("python = \"python3.12\"\nversion = \"3.12\"\n", None),
            ("", None),
        ] {
            assert_eq!(lowest_in(text), expected, "{text}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes its own tree")]
    fn the_nearest_folder_that_declares_one_counts() {
        let tree = tempfile::tempdir().unwrap();
        let inner = tree.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |path: &str, text: &str| std::fs::write(tree.path().join(path), text).unwrap();
        write("pyproject.toml", "requires-python = \">=3.9\"\n");
        write("a/pyproject.toml", "[project]\n");
        let root = ProjectRoot::from_canonical(inner.canonicalize().unwrap());
        assert_eq!(lowest_minor(&root), Some(9));
        write("a/pyrefly.toml", "python-version = \"3.13\"\n");
        assert_eq!(lowest_minor(&root), Some(13));
    }
}
