//! File systems that a test mounts, and programs that need root.

use std::path::Path;
use std::process::Command;

use crate::not_run;

/// The output of a program that needs root and what it changes; `None` after a notice that the test did not run.
pub fn run_as_root(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    if output.status.success() {
        return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    not_run(&format!("it needs root: {program}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    None
}

/// A file system on a folder of its own, unmounted at the end of the test in any case.
pub struct Mount(tempfile::TempDir);

impl Mount {
    /// Mounts `what`, the arguments of mount before the folder; `None` after a notice that this is not possible here.
    pub fn new(what: &[&str]) -> Option<Self> {
        let folder = crate::place();
        run_as_root("mount", &[what, &[folder.path().to_str()?]].concat())?;
        Some(Self(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A failed test still has files open; the mount ends when they are closed.
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "umount {}", self.path().display());
    }
}
