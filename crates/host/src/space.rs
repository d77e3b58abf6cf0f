//! Room on file systems.

use std::io;
use std::path::Path;

use rustix::fs::StatVfsMountFlags;

/// What a file system holds and takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes an ordinary user may still fill.
    pub free_bytes: u64,
    /// All its bytes.
    pub total_bytes: u64,
    /// Whether it takes no writes.
    pub read_only: bool,
}

/// The room on the file system that holds `path`, which exists.
pub fn of(path: &Path) -> io::Result<Space> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(Space {
        free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
        read_only: stat.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_is_part_of_the_whole_and_unknown_of_nothing() {
        let space = of(&std::env::temp_dir()).unwrap();
        assert!(space.free_bytes <= space.total_bytes && space.total_bytes > 0, "{space:?}");
        assert!(of(Path::new("/nonexistent/folder")).is_err());
    }

    #[test]
    fn proc_says_that_it_has_no_room() {
        assert_eq!(of(Path::new("/proc")).unwrap().free_bytes, 0);
    }
}
