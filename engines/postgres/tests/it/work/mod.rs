//! The work of sessions on real servers of every version: exact blocks, updates, reads, errors.

mod access;
mod ahead;
mod errors;
mod fill;
mod session;
mod updates;
