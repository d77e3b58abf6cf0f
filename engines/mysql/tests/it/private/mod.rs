//! The private server, with real servers, real processes and real signals.

#![expect(clippy::print_stdout, reason = "a test reports to its parent and its reader")]

mod kill;
mod open;
mod refuse;
