//! A clock that jumps to the next instant that any thread waits for, as soon as all threads wait.
//!
//! So a sweep of an hour takes a second. One thread runs at a time. Only the instants decide which one, in the order in
//! which threads began to wait, so each simulation has the same result. A thread takes part after it has entered its
//! slot; any other kind of wait, such as for a channel, would stop time for all.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::{Clock, Notifier, ThreadSlot, Time};

const BEGIN_US: i64 = 1_600_000_000_000_000;

thread_local! {
    /// The number of this thread on its clock.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// See the [module](self). The creating thread is its first.
#[derive(Debug, Clone)]
pub struct SimulatedClock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    running: Option<usize>,
    /// Instants at which threads continue; threads of one instant continue in the order in which they began to wait.
    queue: BTreeMap<(Duration, u64), usize>,
    queued: u64,
    /// Threads that wait for a notifier.
    waiting: BTreeMap<u64, BTreeSet<usize>>,
    notifiers: u64,
    polls: u64,
    turns: Vec<Arc<Condvar>>,
}

impl Default for SimulatedClock {
    fn default() -> Self {
        NUMBER.set(0);
        let state = State { running: Some(0), turns: vec![Arc::default()], ..State::default() };
        Self(Arc::new(Shared { state: Mutex::new(state) }))
    }
}

impl SimulatedClock {
    /// How often threads that wait for a notifier have checked their condition.
    pub fn polls(&self) -> u64 {
        self.0.lock().polls
    }
}

impl State {
    fn queue(&mut self, at: Duration, thread: usize) {
        self.queued += 1;
        self.queue.insert((at, self.queued), thread);
    }

    fn forget(&mut self, thread: usize) {
        self.queue.retain(|_, queued| *queued != thread);
        self.waiting.retain(|_, threads| {
            threads.remove(&thread);
            !threads.is_empty()
        });
    }

    /// Lets the next thread run; time moves to its instant.
    fn hand_on(&mut self) {
        self.running = self.queue.pop_first().map(|((at, _), thread)| {
            self.now = self.now.max(at);
            thread
        });
        if let Some(turn) = self.running.and_then(|thread| self.turns.get(thread)) {
            turn.notify_one();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others run until `at`, or until `notifier` is notified.
    fn pause(&self, at: Duration, notifier: Option<u64>) {
        let (mut state, thread) = (self.lock(), NUMBER.get());
        state.queue(at, thread);
        if let Some(notifier) = notifier {
            state.waiting.entry(notifier).or_default().insert(thread);
        }
        state.hand_on();
        await_turn(state, thread);
    }

    /// Queues up to `most` of the threads that wait for `notifier`.
    fn wake(&self, notifier: u64, most: usize) {
        let mut state = self.lock();
        let now = state.now;
        let woken: Vec<usize> = state.waiting.get(&notifier).into_iter().flatten().take(most).copied().collect();
        for thread in woken {
            state.forget(thread);
            state.queue(now, thread);
        }
    }
}

fn await_turn(mut state: MutexGuard<'_, State>, thread: usize) {
    let Some(turn) = state.turns.get(thread).map(Arc::clone) else { return };
    while state.running != Some(thread) {
        state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.forget(thread);
}

impl Time for SimulatedClock {
    fn now_us(&self) -> i64 {
        BEGIN_US + self.elapsed().as_micros() as i64
    }

    fn elapsed(&self) -> Duration {
        self.0.lock().now
    }

    fn sleep_unless(&self, instant_us: i64, unless: &dyn Fn() -> bool) -> bool {
        let left = Duration::from_micros((instant_us - self.now_us()).max(0).unsigned_abs());
        if left.is_zero() {
            return true;
        }
        if unless() {
            return false;
        }
        self.0.pause(self.elapsed() + left, None);
        true
    }
}

impl Clock for SimulatedClock {
    fn new_notifier(&self) -> Arc<dyn Notifier> {
        let mut state = self.0.lock();
        state.notifiers += 1;
        Arc::new(SimulatedNotifier { shared: Arc::clone(&self.0), number: state.notifiers })
    }

    fn new_thread_slot(&self) -> Box<dyn ThreadSlot> {
        let mut state = self.0.lock();
        let (number, now) = (state.turns.len(), state.now);
        state.turns.push(Arc::default());
        state.queue(now, number);
        Box::new(SimulatedThreadSlot { shared: Arc::clone(&self.0), number, begun: false })
    }

    fn is_simulated(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct SimulatedNotifier {
    shared: Arc<Shared>,
    number: u64,
}

impl Notifier for SimulatedNotifier {
    fn wait(&self, at_most: Duration, blocked: &mut dyn FnMut() -> bool) {
        let until = self.shared.lock().now.saturating_add(at_most);
        let mut blocked = || {
            self.shared.lock().polls += 1;
            blocked()
        };
        while blocked() && self.shared.lock().now < until {
            self.shared.pause(until, Some(self.number));
        }
    }

    fn notify(&self) {
        self.shared.wake(self.number, usize::MAX);
    }

    fn notify_one(&self) {
        self.shared.wake(self.number, 1);
    }
}

struct SimulatedThreadSlot {
    shared: Arc<Shared>,
    number: usize,
    begun: bool,
}

impl ThreadSlot for SimulatedThreadSlot {
    fn enter(&mut self) {
        NUMBER.set(self.number);
        self.begun = true;
        await_turn(self.shared.lock(), self.number);
    }
}

impl Drop for SimulatedThreadSlot {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.forget(self.number);
        if self.begun {
            state.hand_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleepers of several lengths, and when each woke.
    fn woken() -> Vec<(u64, i64)> {
        let clock = SimulatedClock::default();
        let (seen, notifier) = (Mutex::new(Vec::new()), clock.new_notifier());
        std::thread::scope(|scope| {
            for sleeper in 1..=3_u64 {
                let (clock, seen, notifier, mut slot) = (clock.clone(), &seen, &notifier, clock.new_thread_slot());
                scope.spawn(move || {
                    slot.enter();
                    for _ in 0..2 {
                        clock.sleep_unless(clock.now_us() + 1_000_000 * (4 - sleeper) as i64, &|| false);
                        seen.lock().unwrap().push((sleeper, clock.now_us() - BEGIN_US));
                    }
                    notifier.notify();
                });
            }
            notifier.wait(Duration::from_hours(1), &mut || seen.lock().unwrap().len() < 6);
        });
        assert_eq!(clock.elapsed(), Duration::from_secs(6));
        seen.into_inner().unwrap()
    }

    #[test]
    fn time_jumps_to_the_first_sleeper_in_a_fixed_order() {
        let first = woken();
        let seconds: Vec<_> = first.iter().map(|(sleeper, us)| (*sleeper, us / 1_000_000)).collect();
        assert_eq!(seconds, [(3, 1), (2, 2), (3, 2), (1, 3), (2, 4), (1, 6)]);
        assert!((0..20).all(|_| woken() == first));
    }

    #[test]
    fn a_wait_without_a_notification_ends_in_time() {
        let clock = SimulatedClock::default();
        clock.new_notifier().wait(Duration::from_secs(7), &mut || true);
        assert_eq!(clock.elapsed(), Duration::from_secs(7));
    }
}
