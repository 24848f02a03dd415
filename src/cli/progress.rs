//! Progress on stderr, where a person watches: nothing for a pipe, for `--quiet`, and in the first instants.

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::harness::Progress;

/// A bar on a terminal's stderr.
pub(super) struct Bar {
    bar: RefCell<Option<ProgressBar>>,
    shown: bool,
}

impl Bar {
    pub(super) fn new(quiet: bool) -> Self {
        Self { bar: RefCell::new(None), shown: !quiet && std::io::stderr().is_terminal() }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn step(&self, what: &str, total: usize) {
        if !self.shown {
            return;
        }
        self.finish();
        let length = u64::try_from(total).unwrap_or(0);
        let bar = if length == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(length) };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let style = if length == 0 { "{spinner} {msg} {elapsed}" } else { "{msg} {wide_bar} {pos}/{len} {eta}" };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.bar.borrow_mut() = Some(bar);
    }

    fn tick(&self) {
        if let Some(bar) = self.bar.borrow().as_ref() {
            bar.inc(1);
        }
    }
}
