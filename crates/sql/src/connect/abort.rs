//! Requests to end work. An interrupt ends the current work of sessions until the next step is prepared. An abort ends
//! everything permanently, because the server may refuse connections, and each attempt would have to be awaited.

use std::sync::atomic::{AtomicBool, Ordering};

use mindful_core::{Error, Result};

#[derive(Debug, Default)]
pub struct AbortState {
    interrupted: AtomicBool,
    aborted: AtomicBool,
}

impl AbortState {
    pub fn set_interrupted(&self, interrupted: bool) {
        self.interrupted.store(interrupted, Ordering::SeqCst);
    }

    /// True after an abort too.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    pub fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        self.set_interrupted(true);
    }

    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    pub fn refuse_aborted(&self, server: impl FnOnce() -> String) -> Result<()> {
        if self.is_aborted() {
            return Err(Error::interrupted(format!("the request to {} was interrupted", server())));
        }
        Ok(())
    }

    pub fn refuse_interrupted(&self, session: &str) -> Result<()> {
        if self.is_interrupted() { Err(interrupted(session)) } else { Ok(()) }
    }
}

/// The error of work that ended after a request.
pub fn interrupted(place: &str) -> Error {
    Error::interrupted(format!("{place} was interrupted"))
}
