//! The tests of this crate from outside, in one program, so that what waits in one lets the others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod ahead;
mod checks;
mod conformance;
mod connect;
mod content;
mod counters;
mod dataset;
mod embedded;
mod errors;
mod failure;
mod hostile;
mod interrupt;
mod limits;
mod load_log;
mod loaded;
mod meeting;
mod pgbouncer;
mod pooler;
mod proof;
mod sharing;
mod support;
mod updates;
mod versions;
mod waits;
mod work;
