//! The life of a private server, with real files, users and sources.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fetch;
mod life;
mod log_folder;
mod tiny;
