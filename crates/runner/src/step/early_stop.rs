//! The early end of a step, at one boundary for all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The boundary at which all sessions end; without one, they end at the last.
#[derive(Debug, Clone)]
pub(crate) struct EarlyStop(Arc<AtomicU32>);

impl Default for EarlyStop {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(u32::MAX)))
    }
}

impl EarlyStop {
    /// Ends the step at `boundary`, which must still lie so far ahead that no session has passed it.
    pub(crate) fn at(&self, boundary: u32) {
        self.0.fetch_min(boundary, Ordering::SeqCst);
    }

    /// Whether no slice begins at `boundary` any more.
    pub(crate) fn reached(&self, boundary: u32) -> bool {
        boundary >= self.0.load(Ordering::SeqCst)
    }

    /// The boundary at which all of `boundaries` end as far as is known.
    pub(crate) fn or_last(&self, boundaries: &[i64]) -> usize {
        boundaries.len().saturating_sub(1).min(self.0.load(Ordering::SeqCst) as usize)
    }
}
