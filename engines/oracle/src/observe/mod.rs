//! What the server shows of itself: its version and parameters, its counters, and what sessions wait for.
//!
//! `describe` runs once a run. `counters`, `machine` and `waits` are samplers: the observer reads them on a connection of
//! their own while sessions work. `own` keeps the statistics of our sessions apart from those of everybody else.

pub(crate) mod counters;
pub(crate) mod describe;
pub(crate) mod machine;
pub(crate) mod own;
pub(crate) mod waits;
