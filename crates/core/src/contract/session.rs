//! A session: one connection that does slices of work.

use crate::contract::error::Result;
use crate::contract::slice::{SliceOrder, SliceReport};

/// How the name of a session's thread begins.
pub const SESSION_THREAD: &str = "session-";

/// One connection, opened and used on its own thread.
pub trait Session {
    /// Works for one slice: waits for its begin, begins no operation at or after its end, reports.
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport>;

    /// Like [`Session::run_slice`], but the session may continue before its report is read. It continues into the
    /// following slices that end at `later_ends_us`, and skips those that are over by then. Call it while it is
    /// [`Session::is_under_way`], or drop it.
    fn run_slice_ahead(&mut self, order: &SliceOrder, _later_ends_us: &[i64]) -> Result<SliceReport> {
        self.run_slice(order)
    }

    /// No counter is read to be exact between these two instants, us since the epoch on the engine's clock. Reported once, before
    /// the first slice; where nothing is reported, counters are exact at the end of each slice.
    fn set_unread_interval(&mut self, _from_us: i64, _to_us: i64) {}

    /// Runs through a slice without work. The time that this takes for all sessions decides how long before their start
    /// they must be informed.
    fn rehearse(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether it continued without an order: then its next report is of the slice in which it continued.
    fn is_under_way(&self) -> bool {
        false
    }
}
