//! Whoever answers an assignment: rules, or a model behind an OpenAI-compatible server.

#[cfg(feature = "openai")]
pub(in crate::editor) mod openai;
pub(in crate::editor) mod rules;

use crate::plan::{Assignment, Reply};

use super::contract::{ReplyFault, Tokens};
use super::{EditorError, Spared};

/// Answers assignments.
pub(crate) trait Author {
    /// What a report calls it, such as `rules` or the model's name.
    fn name(&self) -> &str;

    /// Whether its edits compose with those of regions inside, so that all sites can be answered in one round.
    fn composes(&self) -> bool;

    async fn propose(&self, assignment: &Assignment) -> Result<Attempt, EditorError>;

    /// What the reader of a report should know of how it worked.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One answer and what it took.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attempt {
    /// A fault is a failed attempt; the next one may be better.
    pub(crate) reply: Result<Reply, ReplyFault>,
    /// `None` where no model was asked, or where the server doesn't count.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) seconds: f64,
}

impl Attempt {
    /// An answer that took no model.
    fn without_model(reply: Reply) -> Self {
        Self { reply: Ok(reply), tokens: None, seconds: 0.0 }
    }
}

/// The built-in author: carries out an operation that was read exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    spared: Spared,
}

impl Rules {
    pub(crate) const fn new(spared: Spared) -> Self {
        Self { spared }
    }

    /// The answer, at once.
    pub(crate) fn answer(&self, assignment: &Assignment) -> Reply {
        rules::reply(assignment, &self.spared)
    }
}

impl Author for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn composes(&self) -> bool {
        true
    }

    async fn propose(&self, assignment: &Assignment) -> Result<Attempt, EditorError> {
        Ok(Attempt::without_model(self.answer(assignment)))
    }
}
