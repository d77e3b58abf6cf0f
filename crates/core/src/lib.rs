//! Plain data and the contracts of mindful. Nothing in this crate touches a disk, a socket or a terminal.
//!
//! - [`contract`]: what an engine promises and what happens while it works
//! - [`plan`]: what a run does, with the settings it is made from
//! - [`workload`]: which blocks are visited, in which order and when
//! - [`dataset`]: what is loaded, and how it is registered and proven
//! - [`record`]: a run as it is stored and read back
//! - [`ranks`]: several processes that share one run
//! - [`result`]: figures and findings

#[macro_use]
mod stored_names;
#[warn(missing_docs)]
pub mod contract;
pub mod dataset;
pub mod plan;
pub mod ranks;
pub mod record;
pub mod result;
pub mod workload;

pub use contract::DatasetStore;
pub use contract::engine::{Capabilities, Engine};
pub use contract::error::{Error, ErrorKind, Result};
pub use contract::session::Session;
pub use contract::target::Target;
