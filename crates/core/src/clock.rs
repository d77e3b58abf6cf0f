//! Clocks: microseconds since the epoch, as engines and recorders share them.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest sleep without a look at who wants it to end.
const NAP: Duration = Duration::from_millis(50);

/// Microseconds since the Unix epoch: this host's wall clock as it was first read, carried on by the monotonic one.
///
/// Who sets the wall clock changes nothing here: no wait gets longer, and no slice.
pub fn now_us() -> i64 {
    static FIRST: OnceLock<(i64, Instant)> = OnceLock::new();
    let (first_us, read) = FIRST.get_or_init(|| (wall_us(), Instant::now()));
    first_us.saturating_add(i64::try_from(read.elapsed().as_micros()).unwrap_or(i64::MAX))
}

/// Microseconds since the Unix epoch by this host's wall clock, which may be set at any moment.
pub fn wall_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Sleeps until [`now_us`] is `instant_us`; returns at once when it has passed.
pub fn sleep_until_us(instant_us: i64) {
    sleep_unless(instant_us, || false);
}

/// The same, but ends early when `unless` says so; looks every 50 ms. Tells whether it slept to the end.
pub fn sleep_unless(instant_us: i64, unless: impl Fn() -> bool) -> bool {
    loop {
        let left = instant_us.saturating_sub(now_us());
        if left <= 0 {
            return true;
        }
        if unless() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(left.unsigned_abs()).min(NAP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_early_when_told() {
        let began = Instant::now();
        assert!(!sleep_unless(now_us() + 60_000_000, || began.elapsed() > NAP));
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(sleep_unless(now_us() + 1_000, || false));
    }
}
