//! Counters and waits of real servers.

mod measured;
mod waits;
