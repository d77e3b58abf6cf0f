//! Plain data and the contracts of mindful. This crate does no I/O: no disk, no socket, no terminal.
//!
//! - [`contract`]: the contract of engines, and the events of a run
//! - [`plan`]: the plan of a run, with the settings it is made from
//! - [`workload`]: the visited blocks, their order and times
//! - [`dataset`]: the loaded data, its registry and its proof
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
