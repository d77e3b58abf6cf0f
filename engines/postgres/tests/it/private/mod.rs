//! The private server, with real PostgreSQL, real processes and real signals.

mod kill;
mod open;
mod refuse;
mod support;
