//! What is reported or refused before anything runs.

mod connection_limit;
mod failure;
mod server;
