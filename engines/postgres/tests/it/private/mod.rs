//! The private server, with real PostgreSQL, real processes and real signals.

#![expect(clippy::print_stdout, reason = "a test fails by panicking and prints what it measured")]

mod kill;
mod open;
mod refuse;
mod support;
