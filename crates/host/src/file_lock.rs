//! Locks of whole files among processes of mindful: a run shares them; a load, a removal or a write holds them
//! exclusively.
//!
//! They are advisory (`flock`), so they end with the process and do not stop a program that does not use them. SQLite's
//! own locks are of the other kind (`fcntl`), which is dropped when any descriptor of the file is closed. So these
//! descriptors stay open as long as the target.

use std::collections::BTreeSet;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use rustix::fs::{major, minor};
use rustix::io::Errno;

use crate::kernel_file::{self, Kernel};

/// Time that others may hold a lock briefly, for example to examine a new device.
const LINGERS: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Number of readings of the list of locks before an error reports no holder.
const LOOKS: u32 = 5;

/// File systems that make a lock of the whole file one of its bytes, which would be in SQLite's and everybody's way: NFS,
/// CIFS, SMB2.
const LOCKS_ARE_OF_BYTES: [u64; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Nothing,
    Share,
    Exclusive,
}

/// The locks of one target, held until it is dropped.
#[derive(Debug, Default)]
pub struct FileLocks(Mutex<Vec<Held>>);

#[derive(Debug)]
struct Held {
    path: PathBuf,
    file: File,
    hold: Hold,
}

/// Files are held exclusively while this exists, and then as before.
#[derive(Debug)]
pub struct Exclusive<'l> {
    locks: &'l FileLocks,
    before: Vec<(PathBuf, Hold)>,
}

impl FileLocks {
    /// Holds a share of the files at `paths`; refuses where others hold one too, unless `beside_others`.
    pub fn share(&self, paths: &[PathBuf], beside_others: bool) -> Result<()> {
        paths.iter().try_for_each(|path| {
            self.with(path, |held| {
                if held.hold == Hold::Nothing && !beside_others {
                    held.take(Hold::Exclusive)?;
                }
                held.take(Hold::Share)
            })
        })
    }

    pub fn hold_alone(&self, paths: &[PathBuf]) -> Result<()> {
        paths.iter().try_for_each(|path| self.with(path, |held| held.take(Hold::Exclusive)))
    }

    pub fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(|held| {
            // Remaining locks end with the target.
            let _ = held.attempt(Hold::Nothing);
        });
    }

    /// Locks the files at `paths` exclusively, until the result is dropped.
    pub fn alone(&self, paths: &[PathBuf]) -> Result<Exclusive<'_>> {
        let mut alone = Exclusive { locks: self, before: Vec::new() };
        for path in paths {
            let before = self.with(path, |held| {
                let before = held.hold;
                held.take(Hold::Exclusive).map(|()| before)
            })?;
            alone.before.push((path.clone(), before));
        }
        Ok(alone)
    }

    fn with<T>(&self, path: &Path, work: impl FnOnce(&mut Held) -> Result<T>) -> Result<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|held| held.path == path).unwrap_or(all.len());
        if at == all.len() {
            all.push(Held::open(path)?);
        }
        work(&mut all[at])
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        for (path, before) in &self.before {
            // A lock on a file that was removed meanwhile is useless.
            let _ = self.locks.with(path, |held| held.attempt(*before));
        }
    }
}

impl Held {
    fn open(path: &Path) -> Result<Self> {
        let file = kernel_file::opened(path).map_err(|error| not_locked(path, &error))?;
        Ok(Self { path: path.to_owned(), file, hold: Hold::Nothing })
    }

    fn take(&mut self, wanted: Hold) -> Result<()> {
        let (begun, before) = (Instant::now(), self.hold);
        loop {
            if !self.leads_here() {
                *self = Self::open(&self.path)?;
            }
            // Only a file that is still at its path when it is locked is the one that others lock.
            if self.attempt(wanted)? && self.leads_here() {
                return Ok(());
            }
            if begun.elapsed() > LINGERS {
                // A failed request for more has released the former lock.
                let _ = self.attempt(before);
                return Err(in_use(&self.path));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn attempt(&mut self, wanted: Hold) -> Result<bool> {
        let tried = match wanted {
            _ if self.hold == wanted || !lockable(&self.file) => Ok(()),
            Hold::Nothing => self.file.unlock().map_err(TryLockError::Error),
            Hold::Share => self.file.try_lock_shared(),
            Hold::Exclusive => self.file.try_lock(),
        };
        match tried {
            Ok(()) => self.hold = wanted,
            Err(TryLockError::WouldBlock) => self.hold = Hold::Nothing,
            // A file system without such locks has no holders.
            Err(TryLockError::Error(error)) if [Errno::OPNOTSUPP, Errno::NOLCK].contains(&errno(&error)) => {
                self.hold = wanted;
            }
            Err(TryLockError::Error(error)) => return Err(not_locked(&self.path, &error)),
        }
        Ok(self.hold == wanted)
    }

    fn leads_here(&self) -> bool {
        let same = |own: Metadata, named: Metadata| (own.dev(), own.ino()) == (named.dev(), named.ino());
        self.file.metadata().is_ok_and(|own| self.path.metadata().is_ok_and(|named| same(own, named)))
    }
}

/// Whether a lock of the whole file is in the way of nothing else.
fn lockable(file: &File) -> bool {
    !rustix::fs::fstatfs(file).is_ok_and(|fs| LOCKS_ARE_OF_BYTES.contains(&(fs.f_type as u64 & 0xffff_ffff)))
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn not_locked(path: &Path, error: &io::Error) -> Error {
    Error::target(format!("cannot lock {} ({error})", path.display()), "check its owner, permissions and file system")
}

/// The error that another mindful uses the file at `path`, with its process where that is known.
pub fn in_use(path: &Path) -> Error {
    let by = others(path).map_or_else(String::new, |pids| format!(" (process {pids})"));
    Error::target(
        format!("another run, load or cleanup of mindful uses {}{by}", path.display()),
        "wait until it ends, or name another file; with --shared on, several runs may read one file",
    )
}

/// The other processes with a lock of the file at `path`, as a list of their numbers; `None` if none is known.
pub fn others(path: &Path) -> Option<String> {
    let named = path.metadata().ok()?;
    let file = format!("{:02x}:{:02x}:{}", major(named.dev()), minor(named.dev()), named.ino());
    // The kernel returns a long list in pieces, and omits a line if another one is removed between two of them.
    (0..LOOKS).find_map(|_| others_in(&kernel_file::value(Kernel::default().proc.join("locks"))?, &file))
}

fn others_in(locks: &str, file: &str) -> Option<String> {
    let own = std::process::id().to_string();
    let pids: BTreeSet<_> = holders(locks, file).filter(|pid| *pid != own).collect();
    (!pids.is_empty()).then(|| Vec::from_iter(pids).join(", "))
}

/// The holder of a lock of the whole `file` from `/proc/locks`, without waiting processes.
fn holders<'t>(locks: &'t str, file: &str) -> impl Iterator<Item = &'t str> {
    locks.lines().filter_map(move |line| match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        // 0 and -1 are processes that are not visible from here.
        [_, "FLOCK", _, _, pid, at, ..] if at == file && !["0", "-1"].contains(&pid) => Some(pid),
        _ => None,
    })
}

/// A finding about other processes that use the files at `paths` too.
pub fn shared(paths: &[PathBuf]) -> Option<Finding> {
    let used = paths.iter().find_map(|path| Some(format!("{} by process {}", path.display(), others(path)?)))?;
    let text = "Another run, load or cleanup of mindful uses the same file: it shares the file's cache and its device, and \
                what the device did for it is counted with this run. Wait until it ends, or load another file; without \
                --shared a run is refused";
    Some(codes::DATASET_SHARED.finding(text, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_file_is_in_the_kernels_list() {
        let locks = "1: FLOCK  ADVISORY  WRITE 708 fe:00:1234 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 709 fe:00:1234 0 EOF\n\
                     2: POSIX  ADVISORY  READ 710 fe:00:1234 128 128\n\
                     3: FLOCK  ADVISORY  READ -1 fe:00:1234 0 EOF\n\
                     4: FLOCK  ADVISORY  READ 711 fe:00:12345 0 EOF\ntorn";
        assert_eq!(holders(locks, "fe:00:1234").collect::<Vec<_>>(), ["708"]);
    }

    #[test]
    fn a_share_becomes_the_whole_and_a_share_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "").unwrap();
        let paths = [path.clone()];
        let (one, two) = (FileLocks::default(), FileLocks::default());
        one.share(&paths, false).unwrap();
        assert!(two.share(&paths, false).is_err());
        two.share(&paths, true).unwrap();
        assert!(one.alone(&paths).is_err(), "another one shares");
        drop(two);
        let alone = one.alone(&paths).unwrap();
        assert!(FileLocks::default().share(&paths, true).is_err());
        drop(alone);
        FileLocks::default().share(&paths, true).unwrap();
        assert!(FileLocks::default().hold_alone(&paths).is_err(), "the share is still held");
    }

    #[test]
    fn a_file_that_is_made_again_is_locked_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let paths = [path.clone()];
        std::fs::write(&path, "").unwrap();
        let (one, two) = (FileLocks::default(), FileLocks::default());
        one.hold_alone(&paths).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        two.hold_alone(&paths).unwrap();
        assert!(one.hold_alone(&paths).is_err(), "the file at the path is another one's");
    }
}
