//! The gate: nobody starts before everybody is ready, and then all start at one instant.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the gate tells those who wait.
#[derive(Debug, Clone)]
pub enum Signal {
    /// The borders of all slices on the engine's clock; work begins at the first.
    Go(Arc<Vec<i64>>),
    /// The step will not begin.
    Abort,
}

/// A gate that opens once; beside it, a turnstile that lets a limited number connect at a time.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    /// A place at the turnstile is free: one more may pass, not all need look.
    free: Condvar,
}

#[derive(Debug)]
struct State {
    signal: Option<Signal>,
    may_connect: u32,
    may_leave: bool,
}

impl Gate {
    /// A closed gate whose turnstile lets `at_a_time` sessions connect side by side.
    pub fn new(at_a_time: u32) -> Self {
        Self {
            state: Mutex::new(State { signal: None, may_connect: at_a_time, may_leave: false }),
            changed: Condvar::new(),
            free: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the gate, or calls the step off.
    pub fn give(&self, signal: Signal) {
        self.lock().signal.get_or_insert(signal);
        self.changed.notify_all();
        self.free.notify_all();
    }

    /// Waits until the gate opens.
    pub fn wait(&self) -> Signal {
        let mut state = self.lock();
        loop {
            if let Some(signal) = &state.signal {
                return signal.clone();
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets those go who wait to leave.
    pub fn dismiss(&self) {
        self.lock().may_leave = true;
        self.changed.notify_all();
    }

    /// Waits until all may leave.
    pub fn wait_to_leave(&self) {
        let mut state = self.lock();
        while !state.may_leave {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Connects when it is this session's turn; `None` when the step was called off meanwhile.
    pub fn in_turn<T>(&self, connect: impl FnOnce() -> T) -> Option<T> {
        let mut state = self.lock();
        while state.may_connect == 0 && state.signal.is_none() {
            state = self.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.signal.is_some() {
            return None;
        }
        state.may_connect -= 1;
        drop(state);
        let connected = connect();
        self.lock().may_connect += 1;
        self.free.notify_one();
        Some(connected)
    }
}
