//! What the server shows of itself.

pub mod wait_sampling;
