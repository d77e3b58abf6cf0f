//! Tests of the engine for Oracle from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod checks;
mod conformance;
mod connect;
mod fake;
mod support;
mod work;
