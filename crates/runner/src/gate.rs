//! The gate: nobody starts before everybody is ready, and then all start at one instant.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::contract::clock::{Clock, FOREVER, Notifier};

/// What the gate tells those who wait.
#[derive(Debug, Clone)]
pub(crate) enum Signal {
    /// The boundaries of all slices on the engine's clock; work begins at the first.
    Go(Arc<Vec<i64>>),
    /// The step will not begin.
    Abort,
}

/// A gate that opens once; beside it, a turnstile that lets a limited number connect at a time. Each bell wakes those alone
/// who wait for what it tells: of thousands, each would otherwise be woken by each.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    /// For those who are to begin.
    changed: Arc<dyn Notifier>,
    /// For those who have done their work and wait to leave.
    leave: Arc<dyn Notifier>,
    /// For who waits until all have gone.
    gone: Arc<dyn Notifier>,
    /// A place at the turnstile is free: one more may pass, not all need look.
    free: Arc<dyn Notifier>,
}

#[derive(Debug)]
struct State {
    signal: Option<Signal>,
    may_rehearse: bool,
    may_connect: u32,
    may_leave: bool,
    /// Sessions whose threads have nothing left to do.
    gone: usize,
}

/// A session's thread, which has nothing left to do when this is dropped.
pub(crate) struct Leaving<'a>(pub &'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.lock().gone += 1;
        self.0.gone.notify();
    }
}

impl Gate {
    /// A closed gate whose turnstile lets `at_a_time` sessions connect side by side.
    pub(crate) fn new(at_a_time: u32, clock: &dyn Clock) -> Self {
        let state = State { signal: None, may_rehearse: false, may_connect: at_a_time, may_leave: false, gone: 0 };
        let [changed, leave, gone, free] = std::array::from_fn(|_| clock.new_notifier());
        Self { state: Mutex::new(state), changed, leave, gone, free }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the gate, or calls the step off; what was given first holds.
    pub(crate) fn give(&self, signal: Signal) {
        let mut state = self.lock();
        if state.signal.is_some() {
            return;
        }
        state.signal = Some(signal);
        drop(state);
        self.changed.notify();
        self.free.notify();
    }

    /// All are here: lets them go through the motions of a slice.
    pub(crate) fn rehearse(&self) {
        self.lock().may_rehearse = true;
        self.changed.notify();
    }

    /// Waits until all are here; `false` when the step was called off.
    pub(crate) fn wait_for_rehearsal(&self) -> bool {
        let waits = |state: &State| !state.may_rehearse && state.signal.is_none();
        self.changed.wait(FOREVER, &mut || waits(&self.lock()));
        !matches!(self.lock().signal, Some(Signal::Abort))
    }

    /// Waits until the gate opens.
    pub(crate) fn wait(&self) -> Signal {
        loop {
            self.changed.wait(FOREVER, &mut || self.lock().signal.is_none());
            if let Some(signal) = &self.lock().signal {
                return signal.clone();
            }
        }
    }

    /// Lets those go who wait to leave, and waits until all `sessions` have nothing left to do.
    pub(crate) fn dismiss(&self, sessions: usize) {
        self.lock().may_leave = true;
        self.leave.notify();
        self.gone.wait(FOREVER, &mut || self.lock().gone < sessions);
    }

    /// Waits until all may leave.
    pub(crate) fn wait_to_leave(&self) {
        self.leave.wait(FOREVER, &mut || !self.lock().may_leave);
    }

    /// Connects when it is this session's turn; `None` when the step was called off meanwhile.
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
        self.lock().may_connect += 1;
        self.free.notify_one();
        Some(connected)
    }

    /// Passes the turnstile; `false` when the step was called off, `None` while there is no place.
    fn pass(&self) -> Option<bool> {
        let mut state = self.lock();
        if state.signal.is_some() {
            return Some(false);
        }
        state.may_connect = state.may_connect.checked_sub(1)?;
        Some(true)
    }
}
