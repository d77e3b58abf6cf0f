//! The running work of a target's connections, to end it from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, InterruptHandle};

/// The connections to one file that a target ever had; clones share them.
#[derive(Clone, Default)]
pub(crate) struct UnderWay(Arc<All>);

#[derive(Default)]
struct All {
    connections: Mutex<Vec<InterruptHandle>>,
    given_up: AtomicBool,
}

impl UnderWay {
    /// Adds a connection; false if the file has been aborted.
    pub(crate) fn add(&self, connection: &Connection) -> bool {
        let mut connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.push(connection.get_interrupt_handle());
        !self.0.given_up.load(Ordering::SeqCst)
    }

    /// Ends the current statement of each, and prevents new ones.
    pub(crate) fn abort(&self) {
        let connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.given_up.store(true, Ordering::SeqCst);
        // The handle of a closed connection does nothing.
        connections.iter().for_each(InterruptHandle::interrupt);
    }
}

impl fmt::Debug for UnderWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnderWay(given_up: {})", self.0.given_up.load(Ordering::SeqCst))
    }
}
