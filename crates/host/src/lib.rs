//! What this machine is and has: one place for each thing that is asked of the kernel.
//!
//! Nothing here samples or judges: `observe` samples, `analyze` judges, engines ask what they need before a run.

pub mod control_group;
pub mod device;
mod kernel;
pub mod kernel_file;
pub mod memory;
pub mod mounts;

pub use kernel::Kernel;
