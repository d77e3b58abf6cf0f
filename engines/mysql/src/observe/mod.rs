//! What the server shows of itself: its version and settings, its counters, and what sessions wait for.
//!
//! `describe` runs once a run. `counters` and `waits` are samplers: the observer reads them on a connection of their own
//! while sessions work. `status` reads SHOW GLOBAL STATUS, for counters and checks.

pub(crate) mod counters;
pub(crate) mod describe;
pub(crate) mod status;
pub(crate) mod waits;
pub(crate) mod watch;
