//! Clocks: microseconds since the epoch, as engines and recorders share them.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
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

/// Time as one thread reads it and waits for it.
pub trait Time {
    /// Microseconds since the Unix epoch.
    fn now_us(&self) -> i64;

    /// Since an instant of its own; only goes forward.
    fn elapsed(&self) -> Duration;

    /// Sleeps until [`Time::now_us`] is `instant_us`, but ends early when `unless` says so. Tells whether it slept to the
    /// end.
    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool;
}

/// The clock of a run: all of its threads read time from it and wait by it.
pub trait Clock: Time + Send + Sync + fmt::Debug {
    /// A bell for what threads wait for.
    fn bell(&self) -> Arc<dyn Bell>;

    /// A place for a thread that is about to be started.
    fn place(&self) -> Box<dyn Place>;

    /// Whether time is simulated: no host and no server but an imagined one goes by it.
    fn simulated(&self) -> bool {
        false
    }
}

/// Wakes those who wait for something that another thread changes.
pub trait Bell: Send + Sync + fmt::Debug {
    /// Waits while `blocked`, at most `at_most`.
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool);

    /// Something changed: all who wait look again. Not to be called with a lock that `blocked` takes.
    fn ring(&self);

    /// The same for one of those who wait.
    fn ring_one(&self);
}

/// A thread among those that go by a clock. Dropping it ends its part.
pub trait Place: Send {
    /// Called once, first, on the thread itself.
    fn begin(&mut self);
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
    fn bell(&self) -> Arc<dyn Bell> {
        Arc::new(HostBell::default())
    }

    fn place(&self) -> Box<dyn Place> {
        Box::new(HostPlace)
    }
}

#[derive(Debug, Default)]
struct HostBell {
    look: Mutex<()>,
    rung: Condvar,
}

impl Bell for HostBell {
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool) {
        let look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.rung.wait_timeout_while(look, at_most, |()| blocked());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn ring(&self) {
        drop(self.look.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_all();
    }

    fn ring_one(&self) {
        drop(self.look.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_one();
    }
}

/// Threads of this host run by themselves.
struct HostPlace;

impl Place for HostPlace {
    fn begin(&mut self) {}
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
