//! Clocks: microseconds since the epoch, as engines and recorders share them.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};

/// Longest sleep between two checks of the stop flag.
const NAP: Duration = Duration::from_millis(50);

/// Microseconds since the Unix epoch: the first reading of this host's wall clock, continued by the monotonic clock.
///
/// A change of the wall clock has no effect here: no wait and no slice gets longer.
pub fn now_us() -> i64 {
    static FIRST: OnceLock<(i64, Instant)> = OnceLock::new();
    let (first_us, read) = FIRST.get_or_init(|| (wall_us(), Instant::now()));
    first_us.saturating_add(i64::try_from(read.elapsed().as_micros()).unwrap_or(i64::MAX))
}

/// Microseconds since the Unix epoch by this host's wall clock, which may be set at any moment.
pub fn wall_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Sleeps until [`now_us`] is `instant_us`, but ends early when `unless` returns true; checks every 50 ms. Returns
/// whether it slept to the end.
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

/// Time as one thread reads it and waits for it.
pub trait Time {
    /// Microseconds since the Unix epoch.
    fn now_us(&self) -> i64;

    /// Time since an arbitrary fixed instant; never decreases.
    fn elapsed(&self) -> Duration;

    /// Sleeps until [`Time::now_us`] is `instant_us`, but ends early when `unless` returns true. Returns whether it
    /// slept to the end.
    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool;
}

/// The clock of a run: all of its threads read time from it and wait by it.
pub trait Clock: Time + Send + Sync + fmt::Debug {
    /// A new notifier on this clock.
    fn new_notifier(&self) -> Arc<dyn Notifier>;

    /// A slot for a thread that is about to be started.
    fn new_thread_slot(&self) -> Box<dyn ThreadSlot>;

    /// Whether time is simulated: only a simulated host and server may use it.
    fn is_simulated(&self) -> bool {
        false
    }
}

/// Wakes threads that wait for something another thread changes.
pub trait Notifier: Send + Sync + fmt::Debug {
    /// Waits while `blocked`, at most `at_most`.
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool);

    /// Wakes all waiting threads, which check again. Do not call it while holding a lock that `blocked` takes.
    fn notify(&self);

    /// Wakes one waiting thread.
    fn notify_one(&self);
}

/// The slot of one thread on a clock; a simulated clock advances only when all its threads wait. Dropping it frees the slot.
pub trait ThreadSlot: Send {
    /// Called once on the thread itself, before anything else.
    fn enter(&mut self);
}

/// Longer than any wait.
pub const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The clock of this host.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostClock;

impl Time for HostClock {
    fn now_us(&self) -> i64 {
        now_us()
    }

    fn elapsed(&self) -> Duration {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    }

    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool {
        sleep_unless(instant_us, unless)
    }
}

impl Clock for HostClock {
    fn new_notifier(&self) -> Arc<dyn Notifier> {
        Arc::new(HostNotifier::default())
    }

    fn new_thread_slot(&self) -> Box<dyn ThreadSlot> {
        Box::new(HostThreadSlot)
    }
}

#[derive(Debug, Default)]
struct HostNotifier {
    look: Mutex<()>,
    notified: Condvar,
}

impl Notifier for HostNotifier {
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool) {
        self.notified.wait_while_for(&mut self.look.lock(), |()| blocked(), at_most);
    }

    fn notify(&self) {
        drop(self.look.lock());
        self.notified.notify_all();
    }

    fn notify_one(&self) {
        drop(self.look.lock());
        self.notified.notify_one();
    }
}

/// The kernel schedules threads of this host.
struct HostThreadSlot;

impl ThreadSlot for HostThreadSlot {
    fn enter(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_early_when_asked() {
        let began = Instant::now();
        assert!(!sleep_unless(now_us() + 60_000_000, || began.elapsed() > NAP));
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(sleep_unless(now_us() + 1_000, || false));
    }
}
