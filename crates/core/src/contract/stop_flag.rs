//! The flag that ends a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::contract::error::{Error, Result};

/// Set once to end everything within about a second.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    requested: AtomicBool,
    /// Number of running pieces of work that may be cut off.
    expendable: AtomicU32,
}

impl StopFlag {
    /// Requests the end of all work.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Fails after a stop request; `why` is the error's text.
    pub fn refuse(&self, why: &str) -> Result<()> {
        if self.is_requested() { Err(Error::interrupted(why)) } else { Ok(()) }
    }

    /// Does `work` that ignores the stop flag and loses nothing if the process ends in the middle of it, such as
    /// opening a target. A signal that comes meanwhile may end the process.
    pub fn run_expendable<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.is_requested() {
            return Err(Error::interrupted("interrupted; nothing is stored"));
        }
        self.0.expendable.fetch_add(1, Ordering::SeqCst);
        let done = work();
        self.0.expendable.fetch_sub(1, Ordering::SeqCst);
        done
    }

    /// Whether running work may be cut off.
    pub fn may_exit_at_once(&self) -> bool {
        self.0.expendable.load(Ordering::SeqCst) > 0
    }
}
