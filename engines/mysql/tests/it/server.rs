//! The private server.

mod open;
