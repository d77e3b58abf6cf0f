//! Loop devices and file systems of a test, and programs that need root.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::not_run;

/// The output of a program that needs root and what it changes; `None` after a notice that the test did not run.
pub fn run_as_root(program: &str, arguments: &[&str]) -> Option<String> {
    let why = match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => {
            return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Ok(output) => format!("it needs root: {program}: {}", String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => format!("cannot start {program}: {error}"),
    };
    not_run(&why);
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

/// Held by a test with a loop device, so that a freed number does not become another test's device.
static LOOPS: Mutex<()> = Mutex::new(());

/// A loop device over a file of its own, detached at the end of the test in any case. The constructors return `None` after
/// a notice that this is not possible here.
pub struct LoopDevice {
    /// The file.
    pub backing: PathBuf,
    pub path: PathBuf,
    attached: bool,
    _folder: tempfile::TempDir,
    _alone: Option<MutexGuard<'static, ()>>,
}

impl LoopDevice {
    /// One with content.
    pub fn new(mib: u64) -> Option<Self> {
        let alone = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
        Self::over(Some(alone), |file| fs::write(file, vec![0x5a; (mib << 20) as usize]))
    }

    /// An empty one next to those of other tests, which must not remove its device.
    pub fn among_others(mib: u64) -> Option<Self> {
        Self::over(None, |file| File::create(file)?.set_len(mib << 20))
    }

    fn over(alone: Option<MutexGuard<'static, ()>>, make: impl Fn(&Path) -> io::Result<()>) -> Option<Self> {
        // On a device, while `/tmp` may be in memory.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let backing = folder.path().join("device");
        make(&backing).unwrap();
        let path = run_as_root("losetup", &["--find", "--show", backing.to_str()?])?.into();
        Some(Self { backing, path, attached: true, _folder: folder, _alone: alone })
    }

    pub fn content(&self) -> Vec<u8> {
        fs::read(&self.backing).unwrap()
    }

    pub fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    pub fn detach(&mut self) {
        if std::mem::take(&mut self.attached) {
            let detached = Command::new("losetup").args(["--detach", self.name()]).status();
            assert!(detached.is_ok_and(|status| status.success()), "losetup --detach {}", self.name());
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.detach();
    }
}
