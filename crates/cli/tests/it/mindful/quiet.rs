//! Turns on this machine: who measures it has it alone, others work side by side.

use std::fs::File;
use std::path::Path;

/// Held by who measures this machine: runs side by side would measure each other. Also by tests of another process; a
/// process that ends lets it go.
pub(crate) struct Quiet {
    _held: File,
    _turn: Option<File>,
}

impl Quiet {
    /// Waits until nobody else measures, and nobody works beside. While it waits nobody new begins beside: those who want
    /// to be alone take their turns one after another, and the machine is emptied once for all of them.
    ///
    /// For tests of modules that are called `alone`: the gate runs them beside programs of tests that leave them room.
    pub(crate) fn wait() -> Self {
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
    pub(crate) fn beside() -> Self {
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
