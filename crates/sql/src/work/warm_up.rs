//! Operations before the first slice, so that the server plans the statements. Their numbers are beyond those of any
//! run, so they draw other keys and do not count.

pub const FIRST_OP: u64 = 1 << 40;
pub const OPS: u64 = 3;

/// An end that is never reached, us since the epoch.
pub const END_US: i64 = 4_000_000_000_000_000;
