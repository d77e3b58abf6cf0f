//! File systems in memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use mindful_conformance::not_run;

/// A folder in memory that others may enter.
pub(crate) fn folder_in_memory() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("mindful-").tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A small file system that a test can fill, and that no other process sees.
pub(crate) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    pub(crate) fn mounted(mib: u32) -> Option<Self> {
        let open = fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().permissions(open).tempdir().unwrap();
        let size = format!("size={mib}m,mode=755");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        match mounted {
            Ok(done) if done.status.success() => Some(Self(folder)),
            _ => {
                not_run("it mounts a file system, which takes root");
                None
            }
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("db")
    }

    /// Fills the free space; removing the file frees it.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.0.path().join("fill");
        let mut file = fs::File::options().create(true).append(true).open(&path).unwrap();
        let full = std::io::copy(&mut std::io::repeat(1), &mut file);
        assert!(full.is_err(), "the file system has no end");
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}
