//! Room on file systems.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mindful_core::plan::units::format_bytes;
use mindful_core::{Error, Result};
use rustix::fs::{SeekFrom, StatVfsMountFlags};

use crate::open_regular;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes an ordinary user may still fill.
    pub free_bytes: u64,
    pub total_bytes: u64,
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

/// Refuses `content` of `needed` bytes in `folder`, or in its nearest existing parent, if they do not fit. `next` is the
/// remedy.
pub fn require(content: &str, folder: &Path, needed: u64, next: &str) -> Result<()> {
    let there = folder.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("."));
    let space = of(there).map_err(|error| {
        Error::target(format!("cannot read the free space of {}: {error}", there.display()), "check its permissions")
    })?;
    if needed <= space.free_bytes {
        return Ok(());
    }
    let (needed, free) = (format_bytes(needed), format_bytes(space.free_bytes));
    Err(Error::target(format!("{content} needs {needed}, {} has {free} free", there.display()), next))
}

/// Runs of data that are examined before the count of holes ends.
const MOST_RUNS: usize = 10_000;

/// Share of the regular `files` that was never written, 0 to 1: the kernel serves reads of it without storage. `None`
/// without such a file, or if it has too many pieces to examine.
pub fn holes_share(files: &[PathBuf]) -> Option<f64> {
    let (mut all, mut written) = (0, 0);
    for path in files {
        let Ok(file) = open_regular(path, true) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        all += metadata.len();
        written += written_bytes(&file, metadata.len())?;
    }
    (all > 0).then(|| all.saturating_sub(written) as f64 / all as f64)
}

fn written_bytes(file: &File, length: u64) -> Option<u64> {
    let (mut at, mut written) = (0, 0);
    for _ in 0..MOST_RUNS {
        let Ok(begin) = rustix::fs::seek(file, SeekFrom::Data(at)) else { return Some(written) };
        let end = rustix::fs::seek(file, SeekFrom::Hole(begin)).unwrap_or(length).min(length);
        written += end.saturating_sub(begin);
        if end >= length {
            return Some(written);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_range_is_a_hole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        assert_eq!(holes_share(std::slice::from_ref(&path)), Some(0.0));
        File::options().write(true).open(&path).unwrap().set_len(4 << 20).unwrap();
        assert_eq!(holes_share(&[path]), Some(0.75));
        assert_eq!(holes_share(&[PathBuf::from("/dev/null"), folder.path().to_owned()]), None);
    }

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
