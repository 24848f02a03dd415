//! Paths to `file:` URIs and back, percent-coded both ways. `lsp_types::Uri` has no conversion of its own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

use super::error::LspError;

/// The URI of an absolute path.
pub(super) fn from_path(path: &Path) -> Result<Uri, LspError> {
    let no_uri = || LspError::NoUri { path: path.display().to_string() };
    let bytes = path_bytes(path).filter(|_| path.is_absolute()).ok_or_else(no_uri)?;
    let mut uri = String::from("file://");
    if bytes.first() != Some(&b'/') {
        uri.push('/');
    }
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("writing to a string can't fail");
        }
    }
    Uri::from_str(&uri).map_err(|_| no_uri())
}

/// The path that a `file:` URI names; `None` for other schemes, other hosts and broken percent codes.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once("://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !scheme.eq_ignore_ascii_case("file") || !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let bytes = percent_decoded(path)?;
    (!bytes.contains(&0)).then(|| path_from_bytes(bytes)).flatten()
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(decoded)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere paths are not bytes, and this can fail")]
fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(path.as_os_str().as_bytes().to_vec())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere paths are not bytes, and this can fail")]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    let text = path.to_str()?;
    // A canonical path starts with `\\?\`, which no URI can say.
    let text = text.strip_prefix(r"\\?\").unwrap_or(text);
    Some(text.replace('\\', "/").into_bytes())
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/x` is the URI's way to write `C:/x`.
    let drive = text.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    Some(PathBuf::from(drive.unwrap_or(&text)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let uri = from_path(Path::new(path)).unwrap();
        assert_eq!(uri.as_str(), expected);
        assert_eq!(to_path(uri.as_str()), Some(PathBuf::from(path)));
    }

    #[test]
    fn plain_paths() {
        check("/w/a-b_c.d~e/f.py", "file:///w/a-b_c.d~e/f.py");
    }

    #[test]
    fn spaces_hashes_percents_and_question_marks() {
        check("/w/sp ace#%20?.py", "file:///w/sp%20ace%23%2520%3F.py");
    }

    #[test]
    fn other_alphabets() {
        check("/w/é/😀.py", "file:///w/%C3%A9/%F0%9F%98%80.py");
    }

    #[test]
    fn bytes_that_are_not_utf8() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff.py"));
        assert_eq!(to_path(from_path(path).unwrap().as_str()).unwrap(), path);
    }

    #[test]
    fn what_other_programs_leave_uncoded_is_read() {
        let read = to_path;
        assert_eq!(read("file:///w/a[b]|c.py"), Some(PathBuf::from("/w/a[b]|c.py")));
        assert_eq!(read("file:///w/a+b@c.py"), Some(PathBuf::from("/w/a+b@c.py")));
        assert_eq!(read("file://localhost/w/%c3%a9.py"), Some(PathBuf::from("/w/é.py")));
        assert_eq!(read("untitled:Untitled-1"), None);
        assert_eq!(read("file://server/share/x.py"), None);
    }

    #[test]
    fn a_relative_path_has_no_uri() {
        assert!(matches!(from_path(Path::new("a.py")), Err(LspError::NoUri { .. })));
    }
}
