//! The clocks of this host against each other: a clock that was set, and one that runs too fast or too slow.
//!
//! Time is measured by the wall clock of the server and by the monotonic clock of mindful. The kernel adjusts the speed of
//! both when it slews the wall clock, so that they agree while both are wrong. Only the raw hardware clock keeps its speed.

use std::time::Instant;

use mindful_core::contract::clock::wall_us;
use rustix::time::{ClockId, clock_gettime};

/// Largest deviation of the wall clock from the steady one between two readings that is not a step.
const CLOCK_STEP_US: i64 = 20_000;
/// Share of the time that a clock may gain or lose: NTP slews by at most a tenth of this.
const SLEW: f64 = 0.005;
/// Shortest time over which a slew is known, us.
const LEAST_US: i64 = 2_000_000;
/// Reads both clocks until a pair of readings is close enough.
const MOST_LOOKS: u32 = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    wall_us: i64,
    /// Read just before the wall clock.
    steady: Instant,
    raw_us: i64,
    /// Time from the first to the last at most: a thread may lose its CPU between them.
    apart_us: i64,
}

impl Clocks {
    pub(crate) fn now() -> Self {
        let (mut closest, mut looks) = (Self::look(), 1);
        while closest.apart_us > CLOCK_STEP_US / 20 && looks < MOST_LOOKS {
            looks += 1;
            let another = Self::look();
            if another.apart_us < closest.apart_us {
                closest = another;
            }
        }
        closest
    }

    fn look() -> Self {
        let (before_us, steady) = (raw_us(), Instant::now());
        let wall_us = wall_us();
        let raw_us = raw_us();
        Self { wall_us, steady, raw_us, apart_us: raw_us.saturating_sub(before_us) }
    }

    /// Jump of the wall clock since the last reading, us; slewing by NTP is not a jump.
    pub(crate) fn step_us(&mut self) -> Option<i64> {
        let now = Self::now();
        let steady_us = micros(now.steady, self.steady);
        let step = (now.wall_us - self.wall_us) - steady_us;
        let unsure_us = now.apart_us.saturating_add(self.apart_us);
        *self = now;
        (step.abs() > CLOCK_STEP_US.saturating_add(unsure_us)).then_some(step)
    }

    /// The clock that gained or lost the most until `now`, and the share of the raw clock's time; `None` if NTP
    /// explains it, or if it is not known yet.
    pub(crate) fn slew(&self, now: &Self) -> Option<(&'static str, f64)> {
        let raw_us = now.raw_us.saturating_sub(self.raw_us);
        let unsure_us = now.apart_us.saturating_add(self.apart_us);
        let gained = |us: i64| us.saturating_sub(raw_us) as f64;
        let clocks =
            [("wall", gained(now.wall_us - self.wall_us)), ("monotonic", gained(micros(now.steady, self.steady)))];
        let (name, most) = clocks.into_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let known = raw_us >= LEAST_US && most.abs() > SLEW * raw_us as f64 + unsure_us as f64;
        known.then(|| (name, most / raw_us as f64))
    }
}

fn micros(later: Instant, earlier: Instant) -> i64 {
    i64::try_from((later - earlier).as_micros()).unwrap_or(i64::MAX)
}

/// Since an arbitrary instant, by the clock with an unadjusted rate.
fn raw_us() -> i64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wall_clock_that_was_set_is_a_step_and_drift_is_not() {
        let looked_at = |ahead_us| Clocks { wall_us: wall_us() + ahead_us, ..Clocks::now() };
        assert_eq!(looked_at(0).step_us(), None);
        assert_eq!(looked_at(5_000).step_us(), None);
        let back = looked_at(60_000_000).step_us();
        assert!(back.is_some_and(|step| step < -59_000_000), "{back:?}");
        let ahead = looked_at(-60_000_000).step_us();
        assert!(ahead.is_some_and(|step| step > 59_000_000), "{ahead:?}");
        let lost_its_cpu = Clocks { apart_us: 200_000, ..looked_at(-110_000) };
        assert_eq!({ lost_its_cpu }.step_us(), None);
    }

    #[test]
    fn a_clock_that_runs_a_tenth_too_fast_or_slow_is_found() {
        let first = Clocks::now();
        let after = |raw_us: i64, wall_us: i64, steady_us: u64| Clocks {
            wall_us: first.wall_us + wall_us,
            steady: first.steady + Duration::from_micros(steady_us),
            raw_us: first.raw_us + raw_us,
            ..first
        };
        let both = first.slew(&after(10_000_000, 11_000_000, 11_000_000));
        assert!(both.is_some_and(|(_, share)| (share - 0.1).abs() < 1e-6), "{both:?}");
        let slow = first.slew(&after(10_000_000, 9_000_000, 10_000_000));
        assert!(slow.is_some_and(|(name, share)| name == "wall" && share < -0.09), "{slow:?}");
        assert_eq!(first.slew(&after(10_000_000, 10_004_000, 10_004_000)), None, "NTP slews by so much");
        assert_eq!(first.slew(&after(1_000_000, 1_100_000, 1_100_000)), None, "too short to judge");
    }
}
