//! The binary with a folder and a store of its own, while no other test of the file is at work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs side by side would measure each other: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

pub struct Alone {
    folder: tempfile::TempDir,
    _lock: MutexGuard<'static, ()>,
}

impl Alone {
    /// Waits until the test before has ended.
    pub fn new(folder: std::io::Result<tempfile::TempDir>) -> Self {
        let lock = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { folder: folder.unwrap(), _lock: lock }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.folder().join("store")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args).current_dir(self.folder()).env("MINDFUL_STORE", self.store()).stdin(Stdio::null());
        command
    }
}
