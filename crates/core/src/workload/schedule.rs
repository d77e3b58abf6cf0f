//! The schedule of an open loop: arrivals that do not wait for anyone.

use crate::workload::Rate;
use crate::workload::draw;

/// Arrivals that a backlog counts one by one; beyond that the mean is good enough.
const COUNTED: u64 = 10_000;

#[derive(Debug, Clone)]
pub struct Schedule {
    stream: i64,
    mean_gap_us: f64,
    even: bool,
    drawn: u64,
    begin_us: i64,
    /// Since the begin, so that a gap of a fraction of a microsecond is not lost in the years since the epoch.
    next_us: f64,
}

impl Schedule {
    /// The schedule of one of `sessions` sessions that share `rate`, from `begin_us` on.
    ///
    /// Poisson: `t_i = t_(i-1) - ln(U) / lambda`; even: `t_0 + i / lambda`, the sessions' beats interleaved.
    pub fn new(rate: Rate, session: u32, sessions: u32, stream: i64, begin_us: i64) -> Self {
        let mean_gap_us = f64::from(sessions) * 1e6 / rate.per_s;
        let mut schedule = Self { stream, mean_gap_us, even: rate.even, drawn: 0, begin_us, next_us: 0.0 };
        if rate.even {
            schedule.next_us = mean_gap_us * f64::from(session) / f64::from(sessions);
        } else {
            schedule.advance();
        }
        schedule
    }

    /// When the next operation is due, us since the epoch.
    pub fn due_us(&self) -> i64 {
        self.begin_us.saturating_add(self.next_us as i64)
    }

    /// The next operation was begun: the one after it is due by the schedule, however late this one was.
    pub fn advance(&mut self) {
        self.next_us += if self.even {
            self.mean_gap_us
        } else {
            -self.mean_gap_us * (1.0 - draw::draw_unit(self.drawn, self.stream)).ln()
        };
        self.drawn += 1;
    }

    /// Number of operations due before `until_us` and not begun yet: exact up to ten thousand, beyond that by the mean.
    pub fn backlog(&self, until_us: i64) -> u64 {
        let mut ahead = self.clone();
        let mut due = 0;
        while ahead.due_us() < until_us {
            if due == COUNTED {
                return due + ((until_us - ahead.due_us()) as f64 / self.mean_gap_us).ceil() as u64;
            }
            ahead.advance();
            due += 1;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_arrivals_keep_their_rate_and_miss_none() {
        let rate = Rate { per_s: 1_000.0, even: false };
        let schedule = Schedule::new(rate, 0, 1, 7, 0);
        let due = schedule.backlog(100_000_000);
        assert!((98_000..102_000).contains(&due), "{due} arrivals in 100 s at 1000/s");
    }

    #[test]
    fn a_backlog_of_millions_is_reported_at_once() {
        for even in [false, true] {
            let schedule = Schedule::new(Rate { per_s: 1e8, even }, 0, 1, 7, 1_800_000_000_000_000);
            let due = schedule.backlog(1_800_000_000_000_000 + 3_600_000_000);
            assert!((due as f64 / 3.6e11 - 1.0).abs() < 0.001, "{due} arrivals in an hour at 1e8/s");
        }
    }

    #[test]
    fn even_arrivals_of_all_sessions_interleave() {
        let rate = Rate { per_s: 1_000.0, even: true };
        let due: Vec<_> = (0..4).map(|s| Schedule::new(rate, s, 4, 0, 0).due_us()).collect();
        assert_eq!(due, [0, 1_000, 2_000, 3_000]);
    }
}
