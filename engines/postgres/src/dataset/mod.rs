//! The rows that a run reads and updates: their contents, their load, and the proof of their places.
//!
//! - `registry` lists mindful's objects in the database, in the namespace (a schema) itself; `lock` excludes other runs.
//! - `layout` chooses the length of a row, `row` encodes it, `load` sends it by COPY, `space` checks first that it fits.
//! - `verify` reads where each row is, or a sample of blocks; `stored` measures how well
//!   stored blocks compress.

pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod registry;
pub(crate) mod row;
pub(crate) mod space;
pub(crate) mod stored;
pub(crate) mod verify;
