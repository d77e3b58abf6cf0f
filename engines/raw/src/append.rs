//! Writes at the end of a file that grows, as a log does that is not written beforehand.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::ftruncate;

/// The end of a growing file. Appended data is cut off on drop.
#[derive(Debug)]
pub(crate) struct Appended {
    file: OwnedFd,
    begin: u64,
    end: AtomicU64,
}

impl Appended {
    /// Appends to `file` from byte `begin` on; data of an earlier run there is cut off.
    pub(crate) fn begin(file: OwnedFd, begin: u64) -> rustix::io::Result<Self> {
        ftruncate(&file, begin)?;
        Ok(Self { file, begin, end: AtomicU64::new(begin) })
    }

    /// Where the next `bytes` go.
    pub(crate) fn take(&self, bytes: u64) -> u64 {
        self.end.fetch_add(bytes, Ordering::Relaxed)
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        // Remaining data is cut off by the next run.
        let _ = ftruncate(&self.file, self.begin);
    }
}
