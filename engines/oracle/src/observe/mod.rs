//! Observation of the server: its version and parameters, its counters, and the waits of sessions.
//!
//! `describe` runs once a run. `counters`, `machine` and `waits` are samplers: the observer reads them on separate
//! connections while sessions work. `own` separates the statistics of our sessions from all others.

pub(crate) mod counters;
pub(crate) mod describe;
pub(crate) mod machine;
pub(crate) mod own;
pub(crate) mod waits;
