//! An early end at a boundary, the same for all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Tells sessions at which boundary to end; until it is reported, they go on to the last.
#[derive(Debug, Clone)]
pub struct EarlyStop(Arc<AtomicU32>);

impl Default for EarlyStop {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(u32::MAX)))
    }
}

impl EarlyStop {
    /// Ends the step at `border`, which must still lie so far ahead that no session has passed it.
    pub fn at(&self, boundary: u32) {
        self.0.fetch_min(boundary, Ordering::SeqCst);
    }

    /// Whether no slice begins at `border` any more.
    pub fn reached(&self, boundary: u32) -> bool {
        boundary >= self.0.load(Ordering::SeqCst)
    }
}
