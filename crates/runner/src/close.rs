//! An early end at a border, the same for all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Tells sessions at which border to end; until it is told, they go on to the last.
#[derive(Debug, Clone)]
pub struct Close(Arc<AtomicU32>);

impl Default for Close {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(u32::MAX)))
    }
}

impl Close {
    /// Ends the step at `border`, which must still lie so far ahead that no session has passed it.
    pub fn at(&self, border: u32) {
        self.0.fetch_min(border, Ordering::SeqCst);
    }

    /// Whether no slice begins at `border` any more.
    pub fn reached(&self, border: u32) -> bool {
        border >= self.0.load(Ordering::SeqCst)
    }
}
