//! Counters and waits of real servers.

mod measured;
pub(crate) mod waits;
