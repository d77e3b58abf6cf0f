//! The cost of waking: with any number of sessions, each is woken only for its own events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mindful_core::contract::clock::{Clock, Notifier, ThreadSlot, Time};
use mindful_null::SimulatedClock;

use crate::simulation::Simulation;

/// A clock that counts how often waiting threads poll.
#[derive(Debug)]
struct Looks(SimulatedClock, Arc<AtomicU64>);

#[derive(Debug)]
struct CountedBell(Arc<dyn Notifier>, Arc<AtomicU64>);

impl Time for Looks {
    fn now_us(&self) -> i64 {
        self.0.now_us()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool {
        self.0.sleep_unless(instant_us, unless)
    }
}

impl Clock for Looks {
    fn new_notifier(&self) -> Arc<dyn Notifier> {
        Arc::new(CountedBell(self.0.new_notifier(), Arc::clone(&self.1)))
    }

    fn new_thread_slot(&self) -> Box<dyn ThreadSlot> {
        self.0.new_thread_slot()
    }

    fn is_simulated(&self) -> bool {
        true
    }
}

impl Notifier for CountedBell {
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool) {
        self.0.wait(at_most, &mut || {
            self.1.fetch_add(1, Ordering::Relaxed);
            blocked()
        });
    }

    fn notify(&self) {
        self.0.notify();
    }

    fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// Polls of each of so many sessions in a run that is stopped in the middle.
fn looks_of_each(sessions: u64) -> f64 {
    let simulation = Simulation::new();
    let looks = Arc::new(AtomicU64::new(0));
    let clock = Looks(simulation.clock.clone(), Arc::clone(&looks));
    simulation.stop_at(Duration::from_millis(3_500));
    let count = sessions.to_string();
    let given = [("sessions", &*count), ("duration", "10s"), ("null_latency", "50ms"), ("null_spread", "0.5")];
    let ended = simulation.run_by(&given, Arc::new(clock));
    assert!(ended.interrupted && ended.error.is_none());
    looks.load(Ordering::Relaxed) as f64 / sessions as f64
}

#[test]
fn ending_wakes_each_session_as_often_among_many_as_among_few() {
    let (few, many) = (looks_of_each(32), looks_of_each(256));
    assert!(many < few * 2.0, "{few:.1} polls of each of 32 sessions, {many:.1} for each of 256");
}
