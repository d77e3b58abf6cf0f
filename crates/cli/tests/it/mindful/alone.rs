//! The binary with a folder and a store of its own, while nothing else measures.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Held by who measures this machine: runs side by side would measure each other. Also by tests of another process; a
/// process that ends lets it go.
pub struct Quiet(File);

impl Quiet {
    /// Waits until nobody else measures, and nobody works beside.
    pub fn wait() -> Self {
        let quiet = Self::file();
        quiet.0.lock().unwrap();
        quiet
    }

    /// Waits until nobody measures; others may work beside. For what keeps CPUs or the device busy and looks at no figure
    /// that others can move.
    pub fn beside() -> Self {
        let quiet = Self::file();
        quiet.0.lock_shared().unwrap();
        quiet
    }

    fn file() -> Self {
        Self(File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("quiet.lock")).unwrap())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.0.unlock().unwrap();
    }
}

pub struct Alone {
    folder: tempfile::TempDir,
    _quiet: Quiet,
}

impl Alone {
    /// Waits until nobody else measures.
    pub fn new(folder: std::io::Result<tempfile::TempDir>) -> Self {
        Self { _quiet: Quiet::wait(), folder: folder.unwrap() }
    }

    /// For what is no matter of figures: beside others.
    pub fn beside_others(folder: std::io::Result<tempfile::TempDir>) -> Self {
        Self { _quiet: Quiet::beside(), folder: folder.unwrap() }
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
