//! The durable record of runs: what was intended, the bytes before, and what became of it.
//!
//! One `SQLite` file in the state folder. Paths in it are relative to the workspace, so a copied tree keeps its
//! history. Bytes after a run are not kept: the tree has them, and an undo records them before it takes them away.
//! Whoever writes holds a lock that the operating system releases with its owner.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, params};
use serde_json::Value;

use super::error::JournalError;
use crate::text::{RelPath, Revision};

pub(super) const JOURNAL_FILE: &str = "journal.db";
const LOCK_FILE: &str = "lock";
/// Raised whenever an older program would lose or misread something.
const FORMAT: i64 = 1;
const PATIENCE: Duration = Duration::from_secs(5);
/// A lock that was just given back can still be held, for the moment between a child's start and its program's, by
/// a child that another thread is starting.
const LOCK_TRIES: usize = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

const SCHEMA: &str = "
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    command TEXT NOT NULL,
    symbol TEXT,
    started TEXT NOT NULL,
    ended TEXT,
    state TEXT NOT NULL,
    undoes INTEGER REFERENCES run (id),
    report TEXT
);
CREATE TABLE file (
    run INTEGER NOT NULL REFERENCES run (id),
    path TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    pre_image BLOB NOT NULL,
    PRIMARY KEY (run, path)
);
";

/// The number of a run in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RunId(i64);

impl RunId {
    /// Reads what a person typed; `None` unless it is a positive number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&id: &i64| id > 0).map(Self)
    }

    pub(crate) const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    /// Files may have been replaced, and nobody said yet that all were.
    Intended,
    Applied,
    /// It failed or was interrupted, and its files are as before.
    RolledBack,
    /// It was applied, and a later run took it back.
    Undone,
}

impl RunState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Applied => "applied",
            Self::RolledBack => "rolled-back",
            Self::Undone => "undone",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Intended, Self::Applied, Self::RolledBack, Self::Undone].into_iter().find(|state| state.as_str() == text)
    }
}

/// What is known of a run before it begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewRun {
    pub(crate) command: String,
    pub(crate) symbol: Option<String>,
    /// The run that this one takes back.
    pub(crate) undoes: Option<RunId>,
    pub(crate) report: Option<Value>,
}

/// One file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunFile {
    pub(crate) file: RelPath,
    pub(crate) before: Revision,
    pub(crate) after: Revision,
}

/// One run as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunRecord {
    pub(crate) id: RunId,
    pub(crate) command: String,
    pub(crate) symbol: Option<String>,
    /// RFC 3339, UTC.
    pub(crate) started: String,
    pub(crate) ended: Option<String>,
    pub(crate) state: RunState,
    pub(crate) undoes: Option<RunId>,
    /// In order of their paths.
    pub(crate) files: Vec<RunFile>,
    pub(crate) report: Option<Value>,
}

/// A file as the journal is told of it before it is replaced.
pub(super) struct Intent<'a> {
    pub(super) file: &'a RelPath,
    pub(super) before: &'a Revision,
    pub(super) after: &'a Revision,
    pub(super) pre_image: &'a [u8],
}

/// What a journal's file is, where it is usable.
enum Format {
    Known,
    /// No byte, or no table.
    Empty,
}

/// A failure of the database. Bytes that are no database are told from a database that can't be used now.
fn failed(path: &Path, source: rusqlite::Error) -> JournalError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            JournalError::Damaged { path: path.to_owned(), detail: source.to_string() }
        }
        _ => JournalError::Database { path: path.to_owned(), source },
    }
}

/// The journal as something to read; nothing is locked.
pub(crate) struct History {
    connection: Connection,
    path: PathBuf,
}

impl History {
    /// Opens the journal of a state folder that has one.
    pub(crate) fn open(state: &Path) -> Result<Self, JournalError> {
        let path = state.join(JOURNAL_FILE);
        if !path.is_file() {
            return Err(JournalError::Missing { path });
        }
        // Read-write, for a transaction that a crash left behind; SQLite reads a write-protected file all the same.
        let history = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        match history.format()? {
            Format::Known => Ok(history),
            Format::Empty => history.without_runs(),
        }
    }

    /// What a crash left in its first moment, an empty file or one without tables, is a journal that holds nothing
    /// yet. Whoever only reads it is shown an empty one, and the file stays as it is.
    fn without_runs(self) -> Result<Self, JournalError> {
        let connection = Connection::open_in_memory().map_err(|source| failed(&self.path, source))?;
        connection.execute_batch(SCHEMA).map_err(|source| failed(&self.path, source))?;
        Ok(Self { connection, path: self.path })
    }

    /// All runs, the oldest first.
    pub(crate) fn runs(&self) -> Result<Vec<RunRecord>, JournalError> {
        let ids = self.query(|connection| {
            let mut statement = connection.prepare("SELECT id FROM run ORDER BY id")?;
            statement.query_map([], |row| row.get(0).map(RunId))?.collect::<Result<Vec<_>, _>>()
        })?;
        ids.into_iter().map(|id| self.run(id)).collect()
    }

    /// One run.
    pub(crate) fn run(&self, id: RunId) -> Result<RunRecord, JournalError> {
        let sql = "SELECT command, symbol, started, ended, state, undoes, report FROM run WHERE id = ?1";
        let found = self.query(|connection| {
            connection
                .query_row(sql, [id.0], |row| {
                    let state: String = row.get(4)?;
                    let report: Option<String> = row.get(6)?;
                    let record = RunRecord {
                        id,
                        command: row.get(0)?,
                        symbol: row.get(1)?,
                        started: row.get(2)?,
                        ended: row.get(3)?,
                        state: RunState::Intended,
                        undoes: row.get::<_, Option<i64>>(5)?.map(RunId),
                        files: Vec::new(),
                        report: None,
                    };
                    Ok((record, state, report))
                })
                .optional()
        })?;
        let (record, state, report) = found.ok_or(JournalError::NoSuchRun { run: id })?;
        let state = RunState::parse(&state).ok_or_else(|| self.damaged(&format!("run {id} is {state:?}")))?;
        let report = report
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|_| self.damaged(&format!("the report of run {id} is not JSON")))?;
        Ok(RunRecord { state, report, files: self.files(id)?, ..record })
    }

    /// The bytes of a file before a run.
    pub(super) fn pre_image(&self, run: RunId, file: &RunFile) -> Result<Vec<u8>, JournalError> {
        let sql = "SELECT pre_image FROM file WHERE run = ?1 AND path = ?2";
        let bytes: Vec<u8> =
            self.query(|connection| connection.query_row(sql, params![run.0, file.file.as_str()], |row| row.get(0)))?;
        if Revision::of(&bytes) != file.before {
            return Err(self.damaged(&format!("the bytes of {} before run {run} are not what they were", file.file)));
        }
        Ok(bytes)
    }

    /// The run that a crash left unfinished.
    pub(super) fn unfinished(&self) -> Result<Option<RunId>, JournalError> {
        let sql = "SELECT id FROM run WHERE state = ?1 ORDER BY id LIMIT 1";
        let intended = RunState::Intended.as_str();
        self.query(|connection| connection.query_row(sql, [intended], |row| row.get(0).map(RunId)).optional())
    }

    fn files(&self, run: RunId) -> Result<Vec<RunFile>, JournalError> {
        let sql = "SELECT path, before, after FROM file WHERE run = ?1 ORDER BY path";
        let rows: Vec<[String; 3]> = self.query(|connection| {
            let mut statement = connection.prepare(sql)?;
            statement.query_map([run.0], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?.collect()
        })?;
        rows.into_iter()
            .map(|[path, before, after]| {
                let file = RelPath::new(&path).ok();
                match (file, Revision::parse(&before), Revision::parse(&after)) {
                    (Some(file), Some(before), Some(after)) => Ok(RunFile { file, before, after }),
                    _ => Err(self.damaged(&format!("run {run} has an impossible file {path:?}"))),
                }
            })
            .collect()
    }

    fn connect(path: PathBuf, flags: OpenFlags) -> Result<Self, JournalError> {
        let connection = Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|source| failed(&path, source))?;
        let history = Self { connection, path };
        history.query(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "foreign_keys", true)
        })?;
        Ok(history)
    }

    fn format(&self) -> Result<Format, JournalError> {
        let found = self.query(|connection| connection.pragma_query_value(None, "user_version", |row| row.get(0)))?;
        let tables: i64 =
            self.query(|connection| connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)))?;
        match (found, tables) {
            (FORMAT, _) => Ok(Format::Known),
            (0, 0) => Ok(Format::Empty),
            (0, _) => Err(self.damaged("it holds tables that aren't tainie's")),
            (found, _) => Err(JournalError::Newer { path: self.path.clone(), found, known: FORMAT }),
        }
    }

    fn query<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, JournalError> {
        ask(&self.connection).map_err(|source| failed(&self.path, source))
    }

    fn damaged(&self, detail: &str) -> JournalError {
        JournalError::Damaged { path: self.path.clone(), detail: detail.to_owned() }
    }
}

/// The journal as something to write. Nobody else writes in this workspace while it is open.
pub(crate) struct Journal {
    history: History,
    /// Held, not used.
    _lock: File,
}

impl Journal {
    /// Opens the journal of a state folder for writing, and makes both when they aren't there.
    pub(crate) fn open(state: &Path) -> Result<Self, JournalError> {
        make_state_folder(state).map_err(|source| JournalError::Folder { path: state.to_owned(), source })?;
        let lock = lock(state)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let history = History::connect(state.join(JOURNAL_FILE), flags)?;
        let mut journal = Self { history, _lock: lock };
        match journal.history.format()? {
            Format::Known => {}
            Format::Empty => journal.write(|transaction| {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", FORMAT)
            })?,
        }
        // A commit is on the disk, folder entry included, when it returns.
        journal.history.query(|connection| connection.pragma_update(None, "synchronous", "EXTRA"))?;
        Ok(journal)
    }

    /// The same, and nothing is made.
    pub(crate) fn open_existing(state: &Path) -> Result<Self, JournalError> {
        History::open(state)?;
        Self::open(state)
    }

    pub(crate) const fn history(&self) -> &History {
        &self.history
    }

    /// Keeps the report of a run, in place of an earlier one.
    pub(crate) fn keep_report(&mut self, run: RunId, report: &Value) -> Result<(), JournalError> {
        let report = report.to_string();
        let changed = self.write(|transaction| {
            transaction.execute("UPDATE run SET report = ?2 WHERE id = ?1", params![run.0, report])
        })?;
        if changed == 0 { Err(JournalError::NoSuchRun { run }) } else { Ok(()) }
    }

    /// Records a run before its first file is replaced.
    pub(super) fn intend(
        &mut self,
        run: &NewRun,
        started: &str,
        intents: &[Intent<'_>],
    ) -> Result<RunId, JournalError> {
        let sql = "INSERT INTO run (command, symbol, started, state, undoes, report) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let file_sql = "INSERT INTO file (run, path, before, after, pre_image) VALUES (?1, ?2, ?3, ?4, ?5)";
        let report = run.report.as_ref().map(Value::to_string);
        let undoes = run.undoes.map(RunId::get);
        self.write(|transaction| {
            let state = RunState::Intended.as_str();
            transaction.execute(sql, params![run.command, run.symbol, started, state, undoes, report])?;
            let id = transaction.last_insert_rowid();
            for Intent { file, before, after, pre_image } in intents {
                let row = params![id, file.as_str(), before.as_str(), after.as_str(), pre_image];
                transaction.execute(file_sql, row)?;
            }
            Ok(RunId(id))
        })
    }

    /// Records what became of a run. An applied undo changes the state of the runs that it takes back or brings
    /// back: undoing an undo makes the first run applied again, and so on.
    pub(super) fn finish(&mut self, run: RunId, state: RunState, ended: &str) -> Result<(), JournalError> {
        self.write(|transaction| {
            let sql = "UPDATE run SET state = ?2, ended = ?3 WHERE id = ?1";
            transaction.execute(sql, params![run.0, state.as_str(), ended])?;
            let mut of = run.0;
            let mut effect = RunState::Undone;
            while state == RunState::Applied
                && let Some(undone) = undoes(transaction, of)?
            {
                let sql = "UPDATE run SET state = ?2 WHERE id = ?1";
                transaction.execute(sql, params![undone, effect.as_str()])?;
                effect = if effect == RunState::Undone { RunState::Applied } else { RunState::Undone };
                of = undone;
            }
            Ok(())
        })
    }

    fn write<T>(&mut self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, JournalError> {
        let failed = |source| failed(&self.history.path, source);
        let transaction = self.history.connection.transaction().map_err(failed)?;
        let value = change(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(value)
    }
}

fn undoes(transaction: &Transaction<'_>, run: i64) -> rusqlite::Result<Option<i64>> {
    transaction.query_row("SELECT undoes FROM run WHERE id = ?1", [run], |row| row.get(0))
}

/// Makes the folder, with a `.gitignore` that hides it from git. A folder above that is marked read-only is left
/// alone even by a user whom the system wouldn't stop.
#[expect(clippy::disallowed_methods, reason = "the state folder is ours; no project file is written")]
pub(super) fn make_state_folder(state: &Path) -> std::io::Result<()> {
    let above = state.parent().and_then(|folder| folder.metadata().ok());
    if !state.is_dir() && above.is_some_and(|folder| folder.permissions().readonly()) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    std::fs::create_dir_all(state)?;
    let ignore = state.join(".gitignore");
    if ignore.exists() { Ok(()) } else { std::fs::write(ignore, "*\n") }
}

/// Takes the lock, and leaves this process's number in it for whoever comes next.
#[expect(clippy::disallowed_methods, reason = "the state folder is ours; no project file is written")]
fn lock(state: &Path) -> Result<File, JournalError> {
    let path = state.join(LOCK_FILE);
    let failed = |source| JournalError::Folder { path: state.to_owned(), source };
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
    let mut file = options.open(&path).map_err(failed)?;
    let mut tried = file.try_lock();
    for _ in 0..LOCK_TRIES {
        if !matches!(tried, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(LOCK_PAUSE);
        tried = file.try_lock();
    }
    match tried {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            let known = file.read_to_string(&mut process).is_ok() && !process.trim().is_empty();
            return Err(JournalError::Locked { path, process: known.then(|| process.trim().to_owned()) });
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_newer_journal_is_refused_by_readers_and_writers() {
        let state = state();
        drop(Journal::open(state.path()).unwrap());
        let connection = Connection::open(state.path().join(JOURNAL_FILE)).unwrap();
        connection.pragma_update(None, "user_version", FORMAT + 1).unwrap();
        drop(connection);
        let newer = |error: Option<JournalError>| matches!(error, Some(JournalError::Newer { found: 2, known: 1, .. }));
        assert!(newer(Journal::open(state.path()).err()));
        assert!(newer(History::open(state.path()).err()));
    }

    #[test]
    fn a_second_writer_is_refused_while_the_first_is_there_and_readers_are_not() {
        let state = state();
        let first = Journal::open(state.path()).unwrap();
        let error = Journal::open(state.path()).err().unwrap();
        let own = std::process::id().to_string();
        assert!(matches!(&error, JournalError::Locked { process: Some(id), .. } if *id == own), "{error}");
        assert!(History::open(state.path()).unwrap().runs().unwrap().is_empty());
        drop(first);
        assert!(Journal::open(state.path()).is_ok());
    }

    #[test]
    fn the_lock_of_a_killed_process_is_free() {
        let state = state();
        drop(Journal::open(state.path()).unwrap());
        let script = "import fcntl, sys, time\nf = open(sys.argv[1], 'r+')\nfcntl.flock(f, fcntl.LOCK_EX)\n\
                      print('locked', flush=True)\ntime.sleep(60)";
        #[expect(clippy::disallowed_methods, reason = "the test needs another process")]
        let mut other = std::process::Command::new("python3")
            .args(["-c", script])
            .arg(state.path().join(LOCK_FILE))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = [0; 6];
        // The pipe stays open: an unbuffered Python writes the line's end apart, and would die of a closed one.
        let mut stdout = other.stdout.take().unwrap();
        stdout.read_exact(&mut told).unwrap();
        let refused = Journal::open(state.path()).err();
        assert!(matches!(refused, Some(JournalError::Locked { .. })), "{refused:?}, {:?}", other.try_wait());
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(Journal::open(state.path()).is_ok());
    }

    #[test]
    fn the_state_folder_hides_itself_from_git() {
        let state = state();
        drop(Journal::open(&state.path().join("deep/.tainie")).unwrap());
        assert_eq!(std::fs::read(state.path().join("deep/.tainie/.gitignore")).unwrap(), b"*\n");
    }

    #[test]
    fn a_journal_that_is_not_there_is_not_made_by_readers() {
        let state = state();
        assert!(matches!(History::open(state.path()).err(), Some(JournalError::Missing { .. })));
        assert!(matches!(Journal::open_existing(state.path()).err(), Some(JournalError::Missing { .. })));
        assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages its own file")]
    fn a_file_that_is_no_database_is_an_error() {
        let state = state();
        std::fs::write(state.path().join(JOURNAL_FILE), "this is not a database at all, just some text").unwrap();
        assert!(matches!(Journal::open(state.path()).err(), Some(JournalError::Damaged { .. })));
        assert!(matches!(History::open(state.path()).err(), Some(JournalError::Damaged { .. })));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test leaves what a crash leaves")]
    fn what_a_crash_leaves_of_a_new_journal_holds_nothing_yet() {
        let empty = state();
        std::fs::write(empty.path().join(JOURNAL_FILE), "").unwrap();
        let bare = state();
        let connection = Connection::open(bare.path().join(JOURNAL_FILE)).unwrap();
        connection.execute_batch("CREATE TABLE t (x); DROP TABLE t; VACUUM;").unwrap();
        drop(connection);
        assert!(bare.path().join(JOURNAL_FILE).metadata().unwrap().len() > 0);
        for state in [empty, bare] {
            assert_eq!(History::open(state.path()).unwrap().runs().unwrap(), []);
            let mut journal = Journal::open_existing(state.path()).unwrap();
            assert_eq!(journal.history().unfinished().unwrap(), None);
            journal.intend(&NewRun::default(), "2026-12-01T12:30:00Z", &[]).unwrap();
            drop(journal);
            assert_eq!(History::open(state.path()).unwrap().runs().unwrap().len(), 1);
        }
    }

    #[test]
    fn a_database_of_somebody_else_is_left_alone() {
        let state = state();
        let connection = Connection::open(state.path().join(JOURNAL_FILE)).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        drop(connection);
        assert!(matches!(History::open(state.path()).err(), Some(JournalError::Damaged { .. })));
        assert!(matches!(Journal::open(state.path()).err(), Some(JournalError::Damaged { .. })));
    }

    #[test]
    fn a_report_is_kept() {
        let state = state();
        let mut journal = Journal::open(state.path()).unwrap();
        let new = NewRun { command: "edit".to_owned(), ..NewRun::default() };
        let run = journal.intend(&new, "2026-12-01T12:30:00Z", &[]).unwrap();
        journal.keep_report(run, &serde_json::json!({"sites": 3})).unwrap();
        assert_eq!(journal.history().run(run).unwrap().report, Some(serde_json::json!({"sites": 3})));
        let nobody = RunId::parse("99").unwrap();
        let error = journal.keep_report(nobody, &Value::Null).unwrap_err();
        assert!(matches!(error, JournalError::NoSuchRun { .. }), "{error}");
        assert_eq!(RunId::parse("0"), None);
    }
}
