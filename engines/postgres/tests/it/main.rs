//! The tests of this crate from outside, in one program, so that one can wait while others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod checks;
mod conformance;
mod connect;
mod dataset;
mod meeting;
mod observe;
mod pgbouncer;
mod private;
mod support;
mod work;
