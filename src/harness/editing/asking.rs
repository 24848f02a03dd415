//! Asking the author: in rounds from the inside out, again about what was rejected, and no more once nobody answers.

use crate::editor::{Author, EditorError};
use crate::harness::HarnessError;
use crate::harness::clock::{Clock, Stopwatch};
use crate::harness::report::{Outcome, ReportedAttempt};
use crate::harness::rounds;
use crate::harness::scouting::Progress;
use crate::harness::work::{Proposed, Work};
use crate::python;

use super::Run;

impl Run<'_> {
    pub(super) async fn rounds<A: Author>(
        &mut self,
        author: &A,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<(), HarnessError> {
        let open: Vec<usize> = (0..self.work.len()).filter(|&i| self.work.get(i).is_some_and(Work::is_open)).collect();
        progress.step("editing", open.len());
        let levels = if author.composes() {
            vec![open]
        } else {
            let regions: Vec<_> =
                open.iter().filter_map(|&i| self.work.get(i)).map(|w| (&w.site.file, w.site.region)).collect();
            let levels = rounds::levels(&regions);
            levels.iter().map(|level| level.iter().filter_map(|&i| open.get(i).copied()).collect()).collect()
        };
        for level in levels {
            self.level(&level, author, clock, progress).await?;
            // Whoever never said anything is no author.
            if let Some(failure) = self.failure.take_if(|_| !self.answered) {
                return Err(failure.into());
            }
        }
        Ok(())
    }

    /// Settles the sites of one level: asks, judges, and asks again about what was rejected.
    async fn level<A: Author>(
        &mut self,
        level: &[usize],
        author: &A,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<(), HarnessError> {
        let mut pending = level.to_vec();
        let attempts = if author.composes() { 1 } else { self.job.attempts };
        for attempt in 0..attempts {
            let mut watch = Stopwatch::start(clock);
            let mut proposed = Vec::new();
            for &index in &pending {
                if let Some(proposal) = self.ask(index, attempt, author).await {
                    proposed.push((index, proposal));
                }
                if attempt == 0 {
                    progress.tick();
                }
            }
            self.seconds.editor += watch.lap();
            self.judge(&proposed).await?;
            self.seconds.gate += watch.lap();
            pending.retain(|&i| self.work.get(i).is_some_and(Work::is_open));
            if pending.is_empty() || self.gone.is_some() {
                break;
            }
        }
        for index in pending {
            let gone = self.gone.clone();
            if let Some(work) = self.work.get_mut(index) {
                let last = work.attempts.last().and_then(|attempt| attempt.reason.clone());
                work.outcome = Some((Outcome::Skipped, gone.or(last)));
            }
        }
        Ok(())
    }

    /// One question to the author about one site; a proposal when the answer has the right shape.
    async fn ask<A: Author>(&mut self, index: usize, attempt: usize, author: &A) -> Option<Proposed> {
        if self.gone.is_some() {
            return None;
        }
        let operation = self.job.understood.as_ref().map(|understood| understood.operation.clone());
        let Some((mut assignment, standing)) = self.assignment(index, operation) else {
            self.settle(index, Outcome::Left, "its region can't be read");
            return None;
        };
        assignment.attempt = attempt;
        let answer = author.propose(&assignment).await;
        if !author.composes() {
            self.model_calls += 1;
        }
        match answer {
            Ok(answer) => {
                (self.answered, self.timeouts_in_a_row, self.failures_in_a_row) = (true, 0, 0);
                let work = self.work.get_mut(index)?;
                let source = self.sources.get(&work.site.file)?;
                let mut proposed = work.take(answer, author.name(), &assignment, &standing, source)?;
                if proposed.unchecked.is_none() && !python::parses(source.as_str(), false) {
                    proposed.unchecked = Some("the file doesn't parse, with the edit or without".to_owned());
                }
                Some(proposed)
            }
            Err(error) => {
                self.no_answer(index, author.name(), error);
                None
            }
        }
    }

    /// A failed attempt of the server, not of the answer.
    fn no_answer(&mut self, index: usize, author: &str, error: EditorError) {
        let reason = error.to_string();
        self.timeouts_in_a_row = if error.is_timeout() { self.timeouts_in_a_row + 1 } else { 0 };
        self.failures_in_a_row = if error.is_of_server() { self.failures_in_a_row + 1 } else { 0 };
        if error.is_final() || self.timeouts_in_a_row > 1 || self.failures_in_a_row > 2 {
            self.gone = Some(format!("{reason}; nobody was asked any more"));
        }
        self.failure = Some(error);
        if let Some(work) = self.work.get_mut(index) {
            work.reject(ReportedAttempt::new(author), reason);
        }
    }
}
