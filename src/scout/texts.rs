//! The bytes of files: each file is read once, so that every look at it sees the same, and a check whether it is still
//! as it was costs no second reading.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use crate::text::{RelPath, Revision};

/// What is kept of the files that were read; the rest is read again. 500,000 lines of Python are 20 MiB.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// The coarsest clock of a file system that is in use, which is FAT's.
const SAME_TIME: Duration = Duration::from_secs(2);
pub(super) const NOT_A_FILE: &str = "a pipe, a socket or a device, which nobody can search";

/// What was read.
#[derive(Default)]
pub(super) struct Texts {
    kept: BTreeMap<RelPath, (Rc<Vec<u8>>, Option<Stamp>)>,
    bytes: usize,
}

impl Texts {
    /// The bytes of the file at `path`, as they were when it was first read.
    pub(super) fn read(&mut self, file: &RelPath, path: &Path) -> io::Result<Rc<Vec<u8>>> {
        if let Some((bytes, _)) = self.kept.get(file) {
            return Ok(Rc::clone(bytes));
        }
        let (bytes, stamp) = read_up_to(path, u64::MAX)?;
        let bytes = Rc::new(bytes);
        if self.bytes + bytes.len() <= MAX_KEPT_BYTES {
            self.bytes += bytes.len();
            self.kept.insert(file.clone(), (Rc::clone(&bytes), stamp));
        }
        Ok(bytes)
    }

    /// Whether the file at `path` still has the bytes with this revision; read again only where it may have others.
    pub(super) fn is_still(&self, file: &RelPath, path: &Path, revision: &Revision) -> bool {
        let stamp = self.kept.get(file).and_then(|(_, stamp)| stamp.as_ref()).filter(|stamp| stamp.is_sure);
        let now = || path.metadata().ok().as_ref().and_then(Stamp::of);
        stamp.is_some_and(|stamp| now().as_ref() == Some(stamp))
            || read(path).is_ok_and(|bytes| Revision::of(&bytes) == *revision)
    }
}

/// What changes with a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    len: u64,
    changed: SystemTime,
    number: u64,
    /// Whether no later change can have the same time.
    is_sure: bool,
}

impl Stamp {
    /// `None` where the system doesn't tell.
    fn of(data: &Metadata) -> Option<Self> {
        let (changed, number) = changed(data)?;
        let is_sure = changed.elapsed().is_ok_and(|since| since > SAME_TIME);
        Some(Self { len: data.len(), changed, number, is_sure })
    }
}

/// The change of the file's entry, which nobody can set, with its number.
#[cfg(unix)]
fn changed(data: &Metadata) -> Option<(SystemTime, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let since = Duration::new(data.ctime().try_into().ok()?, data.ctime_nsec().try_into().ok()?);
    Some((SystemTime::UNIX_EPOCH + since, data.ino()))
}

#[cfg(not(unix))]
fn changed(data: &Metadata) -> Option<(SystemTime, u64)> {
    Some((data.modified().ok()?, 0))
}

/// The bytes of a file. A pipe would be waited for, and a device may never end.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    Ok(read_up_to(path, u64::MAX)?.0)
}

/// The same for a file that isn't larger.
pub(super) fn read_small(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    Ok(read_up_to(path, max_bytes)?.0)
}

fn read_up_to(path: &Path, max_bytes: u64) -> io::Result<(Vec<u8>, Option<Stamp>)> {
    let file = open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other(NOT_A_FILE));
    }
    if data.len() > max_bytes {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    // As long as it was: what is added meanwhile changes the stamp.
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default());
    file.take(data.len()).read_to_end(&mut bytes)?;
    Ok((bytes, Stamp::of(&data)))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let at_once = rustix::fs::OFlags::NONBLOCK.bits();
    OpenOptions::new().read(true).custom_flags(at_once.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_and_again_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("m.py"), RelPath::new("m.py").unwrap());
        std::fs::write(&path, "a = 1\n").unwrap();
        let mut texts = Texts::default();
        assert_eq!(*texts.read(&file, &path).unwrap(), b"a = 1\n");
        // Of the same length, and maybe at the same time by the system's clock.
        std::fs::write(&path, "a = 2\n").unwrap();
        assert_eq!(*texts.read(&file, &path).unwrap(), b"a = 1\n");
        assert!(!texts.is_still(&file, &path, &Revision::of(b"a = 1\n")));
        assert!(texts.is_still(&file, &path, &Revision::of(b"a = 2\n")));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_neither_waited_for_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.py");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            assert_eq!(read(path).unwrap_err().to_string(), NOT_A_FILE);
        }
    }
}
