//! Observation of the server: its version and settings, its counters, and the waits of sessions.
//!
//! `describe` runs once a run. `counters` and `waits` are samplers: the observer reads them on separate connections
//! while sessions work. `status` reads SHOW GLOBAL STATUS, for counters and checks.

pub(crate) mod counters;
pub(crate) mod describe;
pub(crate) mod status;
pub(crate) mod waits;
pub(crate) mod watch;
