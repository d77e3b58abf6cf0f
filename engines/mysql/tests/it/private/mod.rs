//! The private server, with real servers, real processes and real signals.

mod kill;
mod open;
mod refuse;
