//! The run folder: the events of a run, written while it runs and readable at any time.
//!
//! `docs/run-format.md` describes the files.

mod contradictions;
mod exchange;
pub mod file;
mod fold;
mod judged;
mod name;
pub mod pack;
pub mod part;
mod reader;
pub mod redact;
mod self_proofs;
mod store;
mod writer;

pub use exchange::{Arrival, Judge};
pub use name::{LOG, SUMMARY};
pub use reader::{Listed, read_run, read_text};
pub use store::Store;
pub use writer::RunWriter;
