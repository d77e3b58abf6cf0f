//! Where the kernel tells about itself.

use std::path::PathBuf;

/// The mount points of `proc` and `sysfs`; tests put trees of their own there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }
}
