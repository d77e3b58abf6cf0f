//! Facts and resources of this machine: one place for each query to the kernel.
//!
//! This crate does not sample or judge: `observe` samples, `analyze` judges, engines query it before a run.

pub mod access_list;
pub mod binary;
pub mod compressibility;
pub mod control_group;
pub mod cpu;
pub mod device;
pub mod file_lock;
pub mod file_state;
pub mod kernel_file;
mod medium;
pub mod memory;
pub mod mounts;
pub mod named_path;
pub mod ownership;
pub mod priority;
pub mod process;
mod regular_file;
mod scheduler;
mod shared_folder;
pub mod space;
pub mod system_path;
pub mod terminal;
mod watched_group;

pub use kernel_file::Kernel;
pub use medium::Unseen;
pub use regular_file::{open_regular, open_regular_with};
pub use scheduler::session_threads;
pub use shared_folder::SharedFolder;
pub use watched_group::{WatchedCommand, WatchedGroup};
