//! What the server shows of itself.

pub mod session_reads;
pub mod wait_sampling;
