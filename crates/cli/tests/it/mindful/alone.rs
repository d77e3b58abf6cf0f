//! The binary with a folder and a store of its own, while nothing else measures.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Held by who measures this machine: runs side by side would measure each other. Also by tests of another process; a
/// process that ends lets it go.
pub struct Quiet {
    _held: File,
    _turn: Option<File>,
}

impl Quiet {
    /// Waits until nobody else measures, and nobody works beside. While it waits nobody new begins beside: those who want
    /// to be alone take their turns one after another, and the machine is emptied once for all of them.
    ///
    /// For tests of modules that are called `alone`: the gate runs them beside programs of tests that leave them room.
    pub fn wait() -> Self {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        assert!(test.contains("alone::"), "{test} measures this machine: it belongs in a module `alone`");
        let turn = Self::file("turn");
        turn.lock_shared().unwrap();
        let held = Self::file("quiet");
        held.lock().unwrap();
        Self { _held: held, _turn: Some(turn) }
    }

    /// Waits until nobody measures or waits to; others may work beside. For what keeps CPUs or the device busy and looks
    /// at no figure that others can move.
    pub fn beside() -> Self {
        let turn = Self::file("turn");
        turn.lock().unwrap();
        let held = Self::file("quiet");
        held.lock_shared().unwrap();
        Self { _held: held, _turn: None }
    }

    /// A lock is given back when its file is closed.
    fn file(name: &str) -> File {
        File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.lock"))).unwrap()
    }
}

pub struct Alone {
    folder: tempfile::TempDir,
    _quiet: Quiet,
}

impl Alone {
    /// Waits until nobody else measures.
    pub fn new(folder: tempfile::TempDir) -> Self {
        Self { _quiet: Quiet::wait(), folder }
    }

    /// For what is no matter of figures: beside others.
    pub fn beside_others(folder: tempfile::TempDir) -> Self {
        Self { _quiet: Quiet::beside(), folder }
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
