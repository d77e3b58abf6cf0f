//! What ends work: a request, or its time limit.
//!
//! An interrupt ends the current work of sessions until the next step is prepared. An abort ends
//! everything permanently, because the server may refuse connections, and each attempt would have to be awaited. A time
//! limit is for work on a server that serves other clients meanwhile: one that serves no client is abandoned sooner.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Timeouts of a connection that a question may take.
const QUESTION: u32 = 30;
/// Limit for a load, a proof or a removal of tables.
const TABLES: Duration = Duration::from_hours(7 * 24);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Question,
    /// Its time grows with the size of tables.
    Tables,
}

impl Patience {
    /// The limit on a connection with this timeout.
    pub fn limit(self, timeout: Duration) -> Duration {
        match self {
            Self::Question => QUESTION * timeout,
            Self::Tables => TABLES,
        }
    }
}

/// `timeout` is the parameter that extends the limit.
pub fn not_ended(limit: Duration, timeout: &str) -> Error {
    let what = format!("no end of a statement after {} s, although the server answers others", limit.as_secs());
    Error::target(what, format!("see what it waits for on the server, such as a lock; {timeout}=SECONDS waits longer"))
}
