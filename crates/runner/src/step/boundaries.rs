//! The boundaries of slices, the distance that sessions may run ahead of them, and the early end of a step at one
//! boundary for all sessions.
//!
//! Warm-up and window are each cut into equal slices of half a second to a second, so both begin and end exactly on a
//! boundary. Slices of exactly one second with a shorter last one were rejected: rates of slices would have unequal
//! errors.
//!
//! A session needs its next order before its slice is over. With many sessions on few CPUs the client is scheduled
//! late, so sessions may begin some slices before it has read their reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) const SLICE_US: i64 = 1_000_000;

/// Most slices that a session may begin before the client reads its report.
const MOST_AHEAD: usize = 16;

/// The same in a step that may end early, because it ends that many slices later.
const MOST_AHEAD_OF_AN_EARLY_END: usize = 8;

/// Number of sessions for each slice that they may run ahead.
const SESSIONS_AHEAD: usize = 64;

/// Number of slices that each session may run ahead. `ends_early`: the step may end before its last boundary.
pub(crate) fn ahead(sessions: usize, ends_early: bool) -> usize {
    let most = if ends_early { MOST_AHEAD_OF_AN_EARLY_END } else { MOST_AHEAD };
    sessions.div_ceil(SESSIONS_AHEAD).clamp(1, most)
}

/// The boundaries of a step that begins at `start_us`, and the number of warm-up slices. Slices are shorter than half a
/// second only if the warm-up or the window is.
pub(crate) fn timed(start_us: i64, warmup: Duration, window: Duration) -> (Vec<i64>, u32) {
    let mut boundaries = vec![start_us];
    let warm = extend(&mut boundaries, warmup);
    extend(&mut boundaries, window);
    (boundaries, warm)
}

fn extend(boundaries: &mut Vec<i64>, span: Duration) -> u32 {
    let span_us = span.as_micros() as i64;
    let slices = span_us.unsigned_abs().div_ceil(SLICE_US.unsigned_abs()) as i64;
    let begin = boundaries[boundaries.len() - 1];
    // In 128 bits: a long span times its slices is beyond 64.
    let at = |k: i64| (i128::from(span_us) * i128::from(k) / i128::from(slices)) as i64;
    boundaries.extend((1..=slices).map(|k| begin + at(k)));
    slices as u32
}

/// The boundary at which all sessions end; without one, they end at the last.
#[derive(Debug, Clone)]
pub(crate) struct EarlyStop(Arc<AtomicU32>);

impl Default for EarlyStop {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(u32::MAX)))
    }
}

impl EarlyStop {
    /// Ends the step at `boundary`, which must still lie so far ahead that no session has passed it.
    pub(crate) fn at(&self, boundary: u32) {
        self.0.fetch_min(boundary, Ordering::SeqCst);
    }

    /// Whether no slice begins at `boundary` any more.
    pub(crate) fn reached(&self, boundary: u32) -> bool {
        boundary >= self.0.load(Ordering::SeqCst)
    }

    /// The boundary at which all of `boundaries` end as far as is known.
    pub(crate) fn or_last(&self, boundaries: &[i64]) -> usize {
        boundaries.len().saturating_sub(1).min(self.0.load(Ordering::SeqCst) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_lies_on_boundaries_to_the_microsecond() {
        let (boundaries, warm) = timed(1_000, Duration::from_millis(2_500), Duration::from_secs(10));
        assert_eq!(warm, 3);
        assert_eq!(boundaries[3], 2_501_000);
        assert_eq!(boundaries.last(), Some(&12_501_000));
        assert!(boundaries.windows(2).all(|pair| (500_000..=SLICE_US).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn without_warm_up_the_window_begins_at_once() {
        let (boundaries, warm) = timed(0, Duration::ZERO, Duration::from_millis(300));
        assert_eq!((boundaries, warm), (vec![0, 300_000], 0));
    }
}
