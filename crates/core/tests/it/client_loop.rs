//! The work loop for engines without their own.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::clock::Time;
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, Workload};

const STOOD_US: i64 = 3_000_000;

/// A clock that moves by a microsecond a reading, and once, at reading `stands_at`, by [`STOOD_US`].
#[derive(Debug)]
struct Standing {
    us: AtomicI64,
    looks: AtomicU32,
    stands_at: u32,
}

impl Standing {
    fn moved_by(&self, us: i64) -> i64 {
        self.us.fetch_add(us, Ordering::SeqCst) + us
    }
}

impl Time for &Standing {
    fn now_us(&self) -> i64 {
        let stands = self.looks.fetch_add(1, Ordering::SeqCst) == self.stands_at;
        self.moved_by(if stands { STOOD_US } else { 1 })
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.now_us().unsigned_abs())
    }

    fn sleep_unless(&self, _: i64, _: &dyn Fn() -> bool) -> bool {
        true
    }
}

/// Operations of 100 us.
struct Quick<'a>(&'a Standing);

impl Operator for Quick<'_> {
    fn run_op(&mut self, _: &Op) -> Result<u64> {
        self.0.moved_by(100);
        Ok(1)
    }
}

/// Whichever reading of the clock is late, inside an operation or between two.
#[test]
fn a_session_that_stands_still_is_reported_wherever_it_was() {
    for stands_at in 100..140 {
        let time = &Standing { us: AtomicI64::new(1), looks: AtomicU32::new(0), stands_at };
        let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
        let mut work = ClientLoop::with_time(time, &Workload::reads_only(1, 1_000, 1), placement);
        let order = SliceOrder { index: 0, begin_us: 1, end_us: 10_000_000, first_op: 0, max_ops: Some(200) };
        let report = work.run_slice(&order, &mut Quick(time)).unwrap();
        let long: Vec<u64> = report.long.iter().map(|long| long.us).collect();
        assert!(matches!(long[..], [us] if (3_000_000..3_000_200).contains(&us)), "look {stands_at}: {long:?}");
    }
}
