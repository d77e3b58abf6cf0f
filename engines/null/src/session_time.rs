//! Time of one session. A simulated session runs ahead of the others within a slice, because its work is not visible
//! before the end of the slice.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::{Clock, Time};

/// An operation takes at least so long in simulated time, which would not advance otherwise.
const LEAST: Duration = Duration::from_micros(1);

#[derive(Clone)]
pub(crate) struct SessionTime {
    clock: Arc<dyn Clock>,
    ahead: Rc<Cell<Duration>>,
}

impl SessionTime {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, ahead: Rc::default() }
    }

    /// Whether waiting is nothing but a sum.
    pub(crate) fn simulated(&self) -> bool {
        self.clock.is_simulated()
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.ahead.set(self.ahead.get() + time.max(LEAST));
    }

    /// Sleeps until `instant_us` of this host's clock without polling: a change of `unless` unparks this thread.
    fn park_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool {
        loop {
            let left = instant_us.saturating_sub(self.clock.now_us());
            if left <= 0 {
                return true;
            }
            if unless() {
                return false;
            }
            std::thread::park_timeout(Duration::from_micros(left.unsigned_abs()));
        }
    }

    /// Waits for the others to come as far.
    pub(crate) fn arrive(&self) {
        let (before, ahead) = (self.clock.elapsed(), self.ahead.get());
        if !ahead.is_zero() {
            self.clock.sleep_unless(self.clock.now_us() + ahead.as_micros() as i64, &|| false);
            self.ahead.set(ahead.saturating_sub(self.clock.elapsed().saturating_sub(before)));
        }
    }
}

impl Time for SessionTime {
    fn now_us(&self) -> i64 {
        self.clock.now_us() + self.ahead.get().as_micros() as i64
    }

    fn elapsed(&self) -> Duration {
        self.clock.elapsed() + self.ahead.get()
    }

    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool {
        if !self.simulated() {
            return self.park_unless(instant_us, unless);
        }
        let left = (instant_us - self.now_us()).max(0);
        self.ahead.set(self.ahead.get() + Duration::from_micros(left.unsigned_abs()));
        true
    }
}
