//! Counters and waits of real servers.

mod measured;
pub mod waits;
