//! What the server shows of itself: its version and settings, its counters, and the wait events of sessions.
//!
//! `describe` runs once a run. `counters` and `waits` are samplers: the observer reads them on a connection of their own
//! while sessions work.

pub(crate) mod counters;
pub(crate) mod describe;
pub(crate) mod waits;
pub(crate) mod watch;
