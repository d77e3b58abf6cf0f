//! The engine's clock compared with this host's.
//!
//! Slices are timed by the engine's clock, and counters of the host by this host's. Their offset is read before a step,
//! from the quickest of five queries. The answer belongs to the middle of its round trip, so it is exact to half of it.
//! It is read again afterwards, and after each inconsistency. If it moved by more than clocks drift, a clock was set,
//! and rates around that moment are wrong.

use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::clock::{self, Clock};
use mindful_core::contract::target::Target;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::step::boundaries::SLICE_US;

/// Two readings may differ by this much although no clock was set, us.
const STEP_US: f64 = 20_000.0;
/// Two clocks that nothing synchronizes drift apart by at most this share of the time.
const DRIFT: f64 = 1e-3;

/// Engine clock minus host clock at one moment.
pub struct ClockOffset {
    pub us: i64,
    /// Round trip of the question: the offset is exact to half of it.
    trip: Duration,
    /// Time of the reading, by the clock's own time.
    read_at: Duration,
}

impl ClockOffset {
    pub(crate) fn of(target: &dyn Target, clock: &dyn Clock) -> Result<Self> {
        Self::read(&|| target.clock_us(), clock)
    }

    pub fn read(ask: &dyn Fn() -> Result<i64>, clock: &dyn Clock) -> Result<Self> {
        let mut best: Option<Self> = None;
        for _ in 0..5 {
            let (read_at, asked_us) = (clock.elapsed(), clock.now_us());
            let engine_us = ask()?;
            let trip = clock.elapsed().saturating_sub(read_at);
            if best.as_ref().is_none_or(|best| trip < best.trip) {
                let half_us = i64::try_from(trip.as_micros() / 2).unwrap_or(i64::MAX);
                best = Some(Self { us: engine_us.saturating_sub(asked_us).saturating_sub(half_us), trip, read_at });
            }
        }
        Ok(best.unwrap_or(Self { us: 0, trip: Duration::ZERO, read_at: clock.elapsed() }))
    }

    pub fn within_us(&self) -> i64 {
        i64::try_from(self.trip.as_micros() / 2).unwrap_or(i64::MAX)
    }

    /// Lead of this clock over another one, us. Two clocks count as one if `precision_us`, the precision of the other,
    /// cannot distinguish them: an uncertain reading must not separate processes that use it.
    pub fn apart_from(&self, other: &Self, precision_us: i64) -> i64 {
        let apart_us = self.us.saturating_sub(other.us);
        let unsure_us = self.within_us().saturating_add(other.within_us()).saturating_add(precision_us);
        if apart_us.abs() <= unsure_us { 0 } else { apart_us }
    }

    /// A finding if one of the clocks was set since then; `None` also if the target no longer answers.
    pub(crate) fn compared_with_now(&self, target: &dyn Target, clock: &dyn Clock) -> Option<Finding> {
        let now = Self::of(target, clock).ok()?;
        let between = now.read_at.saturating_sub(self.read_at);
        let moved_us = now.us.saturating_sub(self.us) as f64;
        let unsure_us = (now.trip + self.trip).as_micros() as f64 / 2.0;
        (moved_us.abs() > STEP_US + DRIFT * between.as_micros() as f64 + unsure_us).then(|| {
            let text = "The clock of the target or of this host was set during the run, so rates around that moment \
                        are wrong. Let both clocks settle (chronyc tracking) and repeat the run.";
            let evidence = format!(
                "the target's clock moved {:.1} ms relative to this host's in {:.1} s",
                moved_us / 1e3,
                between.as_secs_f64()
            );
            codes::CLOCK_STEP.finding(text, evidence)
        })
    }
}

/// This host's wall clock compared with its monotonic clock.
pub(crate) struct WallClock {
    ahead_us: i64,
}

impl WallClock {
    pub(crate) fn now() -> Self {
        Self { ahead_us: clock::wall_us() - clock::now_us() }
    }

    /// Whether it was set by more than a slice since the last call.
    pub(crate) fn was_set(&mut self) -> bool {
        let before = std::mem::replace(self, Self::now());
        (self.ahead_us - before.ahead_us).abs() > SLICE_US
    }
}
