//! Tests of the engine for Oracle from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod conformance;
mod connect;
mod fake;
mod self_proof;
mod support;
mod work;
