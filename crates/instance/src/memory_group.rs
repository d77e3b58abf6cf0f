//! A control group that limits the page cache of the private server's reads.
//!
//! Page cache is charged to the group that read it first. Therefore cached pages are dropped before the server is put
//! into the group. Then its reads can keep no more than the limit.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mindful_core::{Error, Result};
use rustix::fs::{Advice, fadvise};

use crate::files::open_file;

const VERSIONS: [(&str, &str, &str); 2] =
    [("cgroup v1", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("cgroup v2", "/sys/fs/cgroup", "memory.max")];

/// The group of a running server; removed when this is dropped, after the server has ended.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    path: PathBuf,
    pub means: &'static str,
}

impl MemoryGroup {
    /// Puts `processes` into a group that may use `limit` bytes, the page cache of their reads included.
    pub(crate) fn around(processes: &[u32], limit: u64, folder: &Path, data: &Path) -> Result<Self> {
        Self::below(&VERSIONS, processes, limit, folder, data)
    }

    /// The same in the first of `versions` that has the controller.
    fn below(
        versions: &[(&'static str, &str, &str)],
        processes: &[u32],
        limit: u64,
        folder: &Path,
        data: &Path,
    ) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::target(
                format!("--page-cache-limit: cannot create a memory control group ({error})"),
                "run as root, or use `mindful squeeze --leave SIZE -- mindful run …`",
            )
        };
        let found = versions.iter().find(|(_, root, _)| has_memory(Path::new(root)));
        let (means, root, file) = found.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let group = Self { path: Path::new(root).join(name(folder)), means };
        fs::create_dir_all(&group.path).map_err(failed)?;
        fs::write(group.path.join(file), limit.to_string()).map_err(failed)?;
        for process in processes {
            // A process that has ended by now needs no limit.
            match fs::write(group.path.join("cgroup.procs"), process.to_string()) {
                Err(error) if error.raw_os_error() != Some(rustix::io::Errno::SRCH.raw_os_error()) => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        forget(data).map_err(failed)?;
        Ok(group)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The last process may need a moment to be gone.
        for _ in 0..100 {
            if fs::remove_dir(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Removes the group that a crash left.
pub(crate) fn clear(folder: &Path) {
    for (_, root, _) in VERSIONS {
        // Usually it does not exist.
        let _ = fs::remove_dir(Path::new(root).join(name(folder)));
    }
}

fn has_memory(root: &Path) -> bool {
    let v2 = fs::read_to_string(root.join("cgroup.subtree_control"));
    root.join("memory.limit_in_bytes").exists() || v2.is_ok_and(|all| all.split_whitespace().any(|c| c == "memory"))
}

/// One folder has the same name in every run, so that the next one finds the remains of a crash.
fn name(folder: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("mindful-{:016x}", hasher.finish())
}

/// Drops the files below `folder` from the page cache; nothing of them is dirty after an orderly start.
fn forget(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
        if kind?.is_dir() {
            forget(&path)?;
        } else if let Ok(file) = open_file(&path) {
            let _ = file.sync_data();
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made tree of version 2, without one of version 1; the controllers that its groups have.
    fn means(controllers: &str) -> (tempfile::TempDir, Result<MemoryGroup>) {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.subtree_control"), controllers).unwrap();
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join("block"), [1; 8192]).unwrap();
        let absent = root.path().join("absent").display().to_string();
        let versions = [
            ("cgroup v1", absent.as_str(), "memory.limit_in_bytes"),
            ("cgroup v2", root.path().to_str().unwrap(), "memory.max"),
        ];
        let group = MemoryGroup::below(&versions, &[41], 1 << 30, data.path(), data.path());
        (root, group)
    }

    #[test]
    fn version_2_groups_are_limited_by_memory_max_and_removed() {
        let (_root, group) = means("cpu io memory pids\n");
        let group = group.unwrap();
        assert_eq!(group.means, "cgroup v2");
        for (file, holds) in [("memory.max", "1073741824"), ("cgroup.procs", "41")] {
            assert_eq!(fs::read_to_string(group.path.join(file)).unwrap(), holds);
            // The kernel's own files of a group do not prevent its removal.
            fs::remove_file(group.path.join(file)).unwrap();
        }
        let path = group.path.clone();
        drop(group);
        assert!(!path.exists());
    }

    #[test]
    fn without_the_controller_it_is_refused_with_the_other_means() {
        let (_root, refused) = means("cpu io pids\n");
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("--page-cache-limit") && refused.contains("mindful squeeze"), "{refused}");
    }
}
