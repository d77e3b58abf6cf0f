//! Regular files, opened where someone else may have named or placed them.
//!
//! Nothing else is opened: a pipe could be waited for without end, and a device may act as soon as it is opened. A tape
//! rewinds, and a watchdog restarts the host. To open first and to look then was rejected for that reason.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat};

/// Opens `path` for reading; a link in its place only if `follow` is set.
pub fn open_regular(path: &Path, follow: bool) -> io::Result<File> {
    open_regular_with(path, follow, File::options().read(true))
}

/// The same with other `options`.
pub fn open_regular_with(path: &Path, follow: bool, options: &OpenOptions) -> io::Result<File> {
    let follow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty())?;
    refuse_other(FileType::from_raw_mode(fstat(&found)?.st_mode))?;
    options.open(Path::new("/proc/self/fd").join(found.as_raw_fd().to_string()))
}

fn refuse_other(found: FileType) -> io::Result<()> {
    let what = match found {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => "it is a symbolic link",
        _ => "it is not a regular file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn what_is_not_a_regular_file_is_not_even_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [file, pipe, link] = ["file", "pipe", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "text").unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        let over = AtomicBool::new(false);
        // A pipe can be opened so only while it has a reader.
        let has_reader = || rustix::fs::open(&pipe, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).is_ok();
        let seen = || {
            while !over.load(Ordering::SeqCst) {
                if has_reader() {
                    return true;
                }
                thread::yield_now();
            }
            false
        };
        thread::scope(|scope| {
            let seen = scope.spawn(seen);
            for _ in 0..2_000 {
                for (path, follow) in [(&pipe, true), (&pipe, false), (&link, true), (&link, false)] {
                    assert_eq!(open_regular(path, follow).unwrap_err().kind(), io::ErrorKind::InvalidInput);
                }
            }
            over.store(true, Ordering::SeqCst);
            assert!(!seen.join().unwrap(), "the pipe was opened");
        });
        let mut text = String::new();
        open_regular(&file, false).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }
}
