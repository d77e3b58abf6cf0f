//! Tests of the engine for Oracle from outside.

mod conformance;
mod errors;
mod fake;
mod support;
