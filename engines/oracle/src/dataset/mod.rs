//! The rows that a run reads and updates: in which order they are written, how they are loaded, and the proof that they are
//! in place.
//!
//! - `registry` keeps what mindful owns in the account's schema; `lock` keeps others off it.
//! - `layout` is the order of keys, in arithmetic that Oracle's SQL has; `load` runs one CREATE TABLE AS SELECT a table.
//! - `verify` reads where each row is.

pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod registry;
pub(crate) mod verify;
