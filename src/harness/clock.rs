//! The time of day, handed in so that the rest has none of its own.

use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time.
pub(crate) trait Clock {
    fn now(&self) -> SystemTime;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that others are handed")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Measures how long the parts of a run take.
pub(super) struct Stopwatch<'c> {
    clock: &'c dyn Clock,
    since: SystemTime,
}

impl<'c> Stopwatch<'c> {
    pub(super) fn start(clock: &'c dyn Clock) -> Self {
        Self { clock, since: clock.now() }
    }

    /// Seconds since the start or the last lap; 0 when the clock was set back.
    pub(super) fn lap(&mut self) -> f64 {
        let now = self.clock.now();
        let passed = now.duration_since(self.since).map_or(0.0, |passed| passed.as_secs_f64());
        self.since = now;
        passed
    }
}

/// RFC 3339 in UTC with whole seconds: `2026-12-01T12:30:00Z`. A time before 1970 is shown as 1970.
pub(super) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date of a day since 1970-01-01. Years are counted from March, so that the leap day ends one.
const fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let january_or_february = if month <= 2 { 1 } else { 0 };
    (era * 400 + year_of_era + january_or_february, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn check(seconds: u64, expected: &str) {
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
    }

    #[test]
    fn times_are_written_in_utc() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_796_128_200, "2026-12-01T12:30:00Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
    }
}
