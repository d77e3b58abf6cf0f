//! The life of a private database server, for any database. The crate fetches its programs, chooses its user, creates,
//! locks, repairs and removes its folder, and starts and stops it. No process of the server outlives mindful.
//! Differences between databases are in a [`program::Program`] of the engine.

pub mod account;
pub mod capacity;
mod data;
pub mod fetch;
pub mod files;
mod folder;
mod instance;
pub mod listening;
pub mod log;
mod log_folder;
mod marked_folder;
mod memory_group;
pub mod options;
mod patience;
pub mod program;
pub mod search;
mod server;
pub mod shared_memory;
mod socket;
mod stale;
mod user_name;

pub use data::has_data;
pub use instance::{Instance, Order};
pub use options::Options;
