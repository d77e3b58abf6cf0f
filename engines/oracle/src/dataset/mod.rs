//! The rows that a run reads and updates: the order in which they are written, their load, and the proof of their
//! places.
//!
//! - `registry` lists mindful's objects in the account's schema; `lock` excludes other runs.
//! - `layout` is the order of keys, in arithmetic that Oracle's SQL has; `load` runs one CREATE TABLE AS SELECT a table.
//! - `verify` reads where each row is.

pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod registry;
pub(crate) mod verify;
