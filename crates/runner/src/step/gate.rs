//! The gate: no session begins before all are ready, and then all begin at one instant.
//!
//! A session passes four points: the turnstile, which lets a limited number connect at a time; the rehearsal, after all
//! are connected; the start, with the boundaries of all slices; and the exit, after the last counters are read.
//!
//! A disconnect costs the server CPU that does not belong to the window. Each point has a separate notifier: with a
//! common one, each of thousands of sessions would be woken by each of the others.
//!
//! The first signal wins: a cancelled step cannot start, and a started step cannot be cancelled here.

use std::sync::Arc;

use mindful_core::contract::clock::{Clock, FOREVER, Notifier};
use parking_lot::Mutex;

#[derive(Debug, Clone)]
pub(crate) enum Signal {
    /// The boundaries of all slices by the engine's clock; work begins at the first.
    Go(Arc<Vec<i64>>),
    Abort,
}

#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    /// Sessions wait to rehearse or to begin.
    changed: Arc<dyn Notifier>,
    /// Sessions that have done their work wait to leave.
    leave: Arc<dyn Notifier>,
    /// The step waits until all threads have ended.
    gone: Arc<dyn Notifier>,
    /// Sessions wait to connect: one place wakes one of them.
    free: Arc<dyn Notifier>,
}

#[derive(Debug)]
struct State {
    signal: Option<Signal>,
    may_rehearse: bool,
    may_connect: u32,
    may_leave: bool,
    /// Sessions with threads that have nothing left to do.
    gone: usize,
}

/// A session's thread, which has nothing left to do when this is dropped.
pub(crate) struct Leaving<'a>(pub &'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.state.lock().gone += 1;
        self.0.gone.notify();
    }
}

impl Gate {
    /// A closed gate with a turnstile that lets `at_a_time` sessions connect side by side.
    pub(crate) fn new(at_a_time: u32, clock: &dyn Clock) -> Self {
        let state = State { signal: None, may_rehearse: false, may_connect: at_a_time, may_leave: false, gone: 0 };
        let [changed, leave, gone, free] = std::array::from_fn(|_| clock.new_notifier());
        Self { state: Mutex::new(state), changed, leave, gone, free }
    }

    /// Opens the gate or calls the step off, unless either was done before.
    pub(crate) fn give(&self, signal: Signal) {
        let mut state = self.state.lock();
        if state.signal.is_some() {
            return;
        }
        state.signal = Some(signal);
        drop(state);
        self.changed.notify();
        self.free.notify();
    }

    /// All are connected: lets them rehearse a slice.
    pub(crate) fn rehearse(&self) {
        self.state.lock().may_rehearse = true;
        self.changed.notify();
    }

    /// Waits until all are connected; `false` if the step was cancelled.
    pub(crate) fn wait_for_rehearsal(&self) -> bool {
        let waits = |state: &State| !state.may_rehearse && state.signal.is_none();
        self.changed.wait(FOREVER, &mut || waits(&self.state.lock()));
        !matches!(self.state.lock().signal, Some(Signal::Abort))
    }

    pub(crate) fn wait(&self) -> Signal {
        loop {
            self.changed.wait(FOREVER, &mut || self.state.lock().signal.is_none());
            if let Some(signal) = &self.state.lock().signal {
                return signal.clone();
            }
        }
    }

    /// Lets sessions leave, and waits until the threads of all `sessions` have nothing left to do.
    pub(crate) fn dismiss(&self, sessions: usize) {
        self.state.lock().may_leave = true;
        self.leave.notify();
        self.gone.wait(FOREVER, &mut || self.state.lock().gone < sessions);
    }

    pub(crate) fn wait_to_leave(&self) {
        self.leave.wait(FOREVER, &mut || !self.state.lock().may_leave);
    }

    /// Calls `connect` at this session's turn; `None` if the step was cancelled.
    pub(crate) fn in_turn<T>(&self, connect: impl FnOnce() -> T) -> Option<T> {
        let mut passed = None;
        self.free.wait(FOREVER, &mut || {
            passed = self.pass();
            passed.is_none()
        });
        if passed != Some(true) {
            return None;
        }
        let connected = connect();
        self.state.lock().may_connect += 1;
        self.free.notify_one();
        Some(connected)
    }

    /// Takes a place at the turnstile: `false` if the step was cancelled, `None` without a turnstile.
    fn pass(&self) -> Option<bool> {
        let mut state = self.state.lock();
        if state.signal.is_some() {
            return Some(false);
        }
        state.may_connect = state.may_connect.checked_sub(1)?;
        Some(true)
    }
}
