//! Clocks: the wall clock in microseconds, as engines and recorders share it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since the Unix epoch by this host's wall clock.
pub fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Sleeps until `instant_us` of this host's wall clock; returns at once when it has passed.
pub fn sleep_until_us(instant_us: i64) {
    let left = instant_us - now_us();
    if left > 0 {
        std::thread::sleep(Duration::from_micros(left.unsigned_abs()));
    }
}
