//! Whose a run is: judged by the very files that are read, as others may put something else in their place meanwhile.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, fstat, statat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use crate::name::{IMPORTED, LOG};

const OTHERS_WRITE: u32 = 0o022;
const GROUP_WRITES: u32 = 0o020;
/// Right of a folder in which nobody removes or renames what is of others.
const STICKY: u32 = 0o1000;

/// The folder of a run and its record, both open.
pub struct Record {
    folder: File,
    /// The record.
    pub log: File,
}

impl Record {
    /// Opens the folder and, by `open`, the record in it.
    pub fn open(folder: &Path, open: impl FnOnce(&Path) -> io::Result<File>) -> io::Result<Self> {
        let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits() as i32;
        let opened = File::options().read(true).custom_flags(flags).open(folder)?;
        Ok(Self { folder: opened, log: open(&folder.join(LOG))? })
    }

    /// Whether both were written here by the effective user or root, and by nobody else.
    pub fn is_own(&self) -> bool {
        let closed = |file: &File| file.metadata().is_ok_and(|facts| ours(&facts) && facts.mode() & OTHERS_WRITE == 0);
        if !closed(&self.folder) || !closed(&self.log) {
            return false;
        }
        let here = |name| statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        // It may have been opened in another folder that had this one's name for a moment.
        let stands_here = match (here(LOG), fstat(&self.log)) {
            (Ok(named), Ok(opened)) => (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino),
            _ => false,
        };
        stands_here && here(IMPORTED).is_err_and(|error| error == Errno::NOENT)
    }
}

/// Whether a folder of the store is ours, so that nobody else can give a run another's name. Those of one's own group may
/// write to it where the user made it.
pub fn kept_by_us(facts: &Metadata) -> bool {
    let group_alone = facts.mode() & OTHERS_WRITE == GROUP_WRITES && facts.gid() == getegid().as_raw();
    ours(facts) && (facts.mode() & OTHERS_WRITE == 0 || facts.mode() & STICKY != 0 || group_alone)
}

fn ours(facts: &Metadata) -> bool {
    [0, geteuid().as_raw()].contains(&facts.uid())
}
