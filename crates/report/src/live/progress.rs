//! Work of known size: its progress, its speed, and the remaining time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mindful_core::plan::units::format_bytes;

use crate::escape;
use crate::figure::format_whole;

#[derive(Debug)]
pub(super) struct Progress {
    /// The activity: `loading`.
    pub what: String,
    began: Instant,
    done_at_begin: u64,
}

impl Progress {
    pub(super) fn start(what: String, done: u64) -> Self {
        Self { what, began: Instant::now(), done_at_begin: done }
    }

    pub(super) fn message(&self, done: u64, of: u64, unit: &str) -> String {
        progress_line(&self.what, self.began.elapsed(), done - self.done_at_begin.min(done), done, of, unit)
    }
}

fn progress_line(what: &str, elapsed: Duration, since: u64, done: u64, of: u64, unit: &str) -> String {
    let amount = |n: u64| if unit == "bytes" { format_bytes(n) } else { format_whole(n) };
    let mut line = format!("{}: {}", escape(what), amount(done));
    if of > 0 {
        let _ = write!(line, " of {} ({} %)", amount(of), u128::from(done.min(of)) * 100 / u128::from(of));
    }
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.5 && since > 0 {
        let rate = since as f64 / seconds;
        let _ = write!(line, ", {}/s", amount(rate as u64));
        if of > done {
            let _ = write!(line, ", {:.0} s left", ((of - done) as f64 / rate).ceil());
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_most_there_is_is_reported() {
        let reported = progress_line("loading", Duration::ZERO, 0, u64::MAX / 2, u64::MAX, "blocks");
        assert!(reported.contains("(49 %)"), "{reported}");
    }

    #[test]
    fn a_load_shows_rate_and_time_left() {
        let reported = progress_line("loading", Duration::from_secs(2), 780 << 20, 780 << 20, 1 << 30, "bytes");
        assert_eq!(reported, "loading: 780 MiB of 1 GiB (76 %), 390 MiB/s, 1 s left");
        assert_eq!(progress_line("fetching", Duration::ZERO, 0, 5, 0, "1"), "fetching: 5");
    }
}
