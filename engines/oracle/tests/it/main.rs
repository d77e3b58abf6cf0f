//! Tests of the engine for Oracle from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod conformance;
mod errors;
mod fake;
mod grammar;
mod model;
mod self_proof;
mod shapes;
mod stops;
mod support;
mod wire;
