//! File systems in memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mindful_conformance::{Mount, own_mounts};

/// A folder in memory that others may enter.
pub(crate) fn folder_in_memory() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("mindful-").tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A small file system that a test can fill.
pub(crate) struct SmallDisk(Mount);

impl SmallDisk {
    /// `None` after a notice that this user cannot mount it.
    pub(crate) fn mounted(mib: u32) -> Option<Self> {
        let options = format!("size={mib}m,mode=755");
        Mount::new(&["-t", "tmpfs", "-o", &options, "tmpfs"]).map(Self)
    }

    /// The same in private mounts, so that no other process sees it.
    pub(crate) fn private(mib: u32) -> Option<Self> {
        own_mounts().then(|| Self::mounted(mib))?
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("db")
    }

    /// Fills the free space; removing the file frees it.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.path().join("fill");
        let mut file = fs::File::options().create(true).append(true).open(&path).unwrap();
        let full = std::io::copy(&mut std::io::repeat(1), &mut file);
        assert!(full.is_err(), "the file system has no end");
        path
    }
}
