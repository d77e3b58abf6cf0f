//! The server's own counters and waits.

pub mod session_reads;
pub mod wait_sampling;
