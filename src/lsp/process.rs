//! The server's process: started here, killed when its owner is dropped, its last words kept.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::text::ProjectRoot;

const KEPT_LINES: usize = 20;
/// A longer line is kept in pieces.
const LINE_LIMIT: u64 = 400;

/// How to start a server.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
}

/// A running server without its input and output, which the client has.
pub(super) struct ServerProcess {
    child: Child,
    last_words: Arc<Mutex<VecDeque<String>>>,
    /// Empties the server's stderr: a full pipe would stop the server.
    drain: JoinSet<()>,
}

impl ServerProcess {
    /// Starts the program with the root as its working directory.
    pub(super) fn start(launch: &Launch, root: &ProjectRoot) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        #[expect(clippy::disallowed_methods, reason = "this file is where language servers are started")]
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .current_dir(root.as_path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().expect("stdin was asked to be a pipe");
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let stderr = child.stderr.take().expect("stderr was asked to be a pipe");
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let mut drain = JoinSet::new();
        drain.spawn(keep_last_lines(stderr, Arc::clone(&last_words)));
        Ok((Self { child, last_words, drain }, stdout, stdin))
    }

    #[cfg(test)]
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The last lines of stderr, and how the server ended if it does within `patience`.
    pub(super) async fn post_mortem(&mut self, patience: Duration) -> (Option<ExitStatus>, Vec<String>) {
        let status = timeout(patience, self.child.wait()).await.ok().and_then(Result::ok);
        if status.is_some() {
            // A grandchild may hold stderr open, so this wait is bounded too.
            drop(timeout(patience, self.drain.join_next()).await);
        }
        let lines = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        (status, lines.iter().cloned().collect())
    }

    /// Waits for the end that the server was asked for, and kills it when it doesn't come.
    pub(super) async fn end(mut self, patience: Duration) {
        if timeout(patience, self.child.wait()).await.is_err() {
            // A process that can't be killed either isn't ours any more; there is nothing left to do about it.
            drop(self.child.kill().await);
        }
    }
}

async fn keep_last_lines(stderr: ChildStderr, kept: Arc<Mutex<VecDeque<String>>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LINE_LIMIT).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if text.is_empty() {
            continue;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(text);
    }
}
