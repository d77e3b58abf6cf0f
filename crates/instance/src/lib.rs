//! The life of a private database server, of any database: its programs are fetched, its user is chosen, its folder is
//! made, locked, repaired and removed. What differs between databases is said by the engine.

pub mod account;
pub mod fetch;
pub mod files;
pub mod log;
pub mod memory_group;
pub mod shared_memory;
