//! The rows that a run reads and updates: their contents, their load, and the proof of their places.
//!
//! - `registry` lists mindful's objects in the server, in the namespace (a database) itself; `lock` excludes other runs.
//! - `layout` chooses rows so that InnoDB puts one visited row into each page; `load` sends them; `storage` distinguishes
//!   InnoDB from other storage engines.
//! - `verify` proves the layout: from the tablespace files (`ibd`), or, if these cannot be read, from the
//!   pages the server requests (`block_yield`).

pub(crate) mod block_yield;
pub(crate) mod ibd;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod registry;
pub(crate) mod storage;
pub(crate) mod verify;
