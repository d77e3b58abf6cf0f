//! Operations before the first slice, which have the server plan the statements. Their numbers are beyond those of any run,
//! so they draw other keys and count nowhere.

pub const FIRST_OP: u64 = 1 << 40;
pub const OPS: u64 = 3;

/// An end that is never reached, us since the epoch.
pub const END_US: i64 = 4_000_000_000_000_000;
