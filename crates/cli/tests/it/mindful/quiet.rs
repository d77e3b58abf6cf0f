//! Turns on this machine: a measuring test has it alone, others run in parallel.

use std::fs::File;
use std::path::Path;

/// Held by a test that measures this machine: runs in parallel would measure each other. Other processes respect it
/// too; the end of a process releases it.
pub(crate) struct Quiet {
    _held: File,
    _turn: Option<File>,
}

impl Quiet {
    /// Waits until no other test runs. No new test begins while it waits: tests that need the machine take turns, and
    /// it is emptied once for all of them.
    ///
    /// For tests of modules that are called `alone`: the gate runs them next to test programs that leave CPU free.
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

    /// Waits until no test measures or waits to; others may run. For tests that load CPUs or the device and do not
    /// check figures that others can change.
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
