//! The private server, with real servers, real processes and real signals.

#![expect(clippy::print_stdout, reason = "a test tells its parent and its reader what it did")]

mod kill;
mod open;
mod refuse;
