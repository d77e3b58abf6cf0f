//! The run folder: what happened in a run, written while it happens and read back at any time.
//!
//! `docs/run-format.md` describes the files.

mod entry;
mod fold;
mod name;
mod reader;
mod store;
mod writer;

pub use entry::Listed;
pub use reader::read_run;
pub use store::{LOG, Store};
pub use writer::RunWriter;
