//! How a command ended.

use std::process::ExitCode;

use crate::harness::Failure;

/// The exit codes; the only table of them in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    Incomplete,
    Malformed,
    Impossible,
    Refused,
    Bug,
    Interrupted,
}

impl Exit {
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Incomplete => 1,
            Self::Malformed => 2,
            Self::Impossible => 3,
            Self::Refused => 4,
            Self::Bug => 101,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<Failure> for Exit {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Malformed => Self::Malformed,
            Failure::Impossible => Self::Impossible,
            Failure::Refused => Self::Refused,
            Failure::Bug => Self::Bug,
        }
    }
}
