//! Counters and wait events of real servers.

mod counters;
mod waits;
