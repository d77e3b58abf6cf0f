//! Faults on demand: stalls of the whole target, failures of single sessions.

use std::time::Duration;

use mindful_core::contract::slice::session_name;
use mindful_core::plan::units;
use mindful_core::{Error, Result};

use crate::value::two_times;

/// Nothing ends while it lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stall {
    /// At one instant of the run, for so long; us.
    Once { at_us: i64, for_us: i64 },
    /// At the end of each period, for so long; us.
    Every { period_us: i64, for_us: i64 },
}

impl Stall {
    /// `3s+500ms` or `every:5s+200ms`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::plan(format!("`{text}` is not a stall"), "write for example 3s+500ms or every:5s+200ms");
        let (every, when) = text.strip_prefix("every:").map_or((false, text), |rest| (true, rest));
        let (at_us, for_us) = two_times(when, wrong)?;
        match every {
            true if at_us <= for_us => Err(wrong()),
            true => Ok(Self::Every { period_us: at_us, for_us }),
            false => Ok(Self::Once { at_us, for_us }),
        }
    }

    /// Delay of an operation from `begin_us` to `end_us` of the run.
    fn delay_us(self, begin_us: i64, end_us: i64) -> i64 {
        match self {
            Self::Once { at_us, for_us } => overlap_delay(begin_us, end_us, at_us, for_us),
            Self::Every { period_us, for_us } => repeated_delay(begin_us, end_us, period_us, for_us),
        }
    }
}

/// Work that meets a stall waits for its end: for all of it, or for the rest when it began inside.
fn overlap_delay(begin_us: i64, end_us: i64, stall_us: i64, for_us: i64) -> i64 {
    if begin_us < stall_us + for_us && stall_us <= end_us { stall_us + for_us - begin_us.max(stall_us) } else { 0 }
}

/// Delay by a stall of `for_us` at the end of each period: work continues only between the stalls.
fn repeated_delay(begin_us: i64, end_us: i64, period_us: i64, for_us: i64) -> i64 {
    let into = begin_us.rem_euclid(period_us);
    let inside = begin_us >= period_us && into < for_us;
    let rest = if inside { for_us - into } else { 0 };
    let left = end_us - begin_us - (period_us - into - rest);
    let stalls = if left > 0 { 1 + (left - 1) / (period_us - for_us) } else { 0 };
    rest.saturating_add(stalls.saturating_mul(for_us))
}

/// Delay of an operation by all `stalls`, us.
pub(crate) fn stalled_us(stalls: &[Stall], begin_us: i64, end_us: i64) -> i64 {
    stalls.iter().map(|stall| stall.delay_us(begin_us, end_us)).max().unwrap_or(0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InjectedFailure {
    Connect { session: u32 },
    Work { session: u32, at: Duration },
}

impl InjectedFailure {
    /// `connect:3` or `2@1.5s`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if let Some(session) = text.strip_prefix("connect:") {
            let known = u32::try_from(units::parse_count(session)?);
            let session = known.map_err(|_| Error::plan(format!("`{text}` is not a session"), "write its number"))?;
            return Ok(Self::Connect { session });
        }
        let wrong = || Error::plan(format!("`{text}` is not a session at a time"), "write for example 2@1.5s");
        let (session, at) = text.split_once('@').ok_or_else(wrong)?;
        Ok(Self::Work { session: session.trim().parse().map_err(|_| wrong())?, at: units::parse_duration(at)? })
    }

    pub(crate) fn connect(self, session: u32) -> Result<()> {
        match self {
            Self::Connect { session: failing } if failing == session => Err(Error::target(
                format!("{}: the null engine refused it", session_name(session)),
                "omit null_fail to let it connect",
            )),
            _ => Ok(()),
        }
    }

    /// When `session` dies, us after the start of the run.
    pub(crate) fn dies_at_us(self, session: u32) -> Option<i64> {
        match self {
            Self::Work { session: failing, at } if failing == session => Some(at.as_micros() as i64),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_meets_a_stall_ends_after_it() {
        let stall = [Stall::parse("3s+500ms").unwrap()];
        assert_eq!(stalled_us(&stall, 0, 100), 0);
        assert_eq!(stalled_us(&stall, 2_999_950, 3_000_050), 500_000);
        assert_eq!(stalled_us(&stall, 3_400_000, 3_400_100), 100_000);
        assert_eq!(stalled_us(&stall, 3_500_000, 3_500_100), 0);
    }

    #[test]
    fn a_stall_comes_back_every_period() {
        let stall = [Stall::parse("every:5s+200ms").unwrap()];
        assert_eq!(stalled_us(&stall, 100_000, 100_100), 0);
        assert_eq!(stalled_us(&stall, 4_999_900, 5_000_100), 200_000);
        assert_eq!(stalled_us(&stall, 5_150_000, 5_150_100), 50_000);
        assert_eq!(stalled_us(&stall, 10_000_000, 10_000_100), 200_000);
        assert!(Stall::parse("every:1s+2s").is_err());
    }
}
