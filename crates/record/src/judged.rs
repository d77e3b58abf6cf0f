//! The owner of a run, judged by the very files that are read, because others may put something else in their place
//! meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use mindful_core::plan::rights::Rights;
use mindful_host::access_list;
use rustix::fs::{AtFlags, OFlags, fstat, statat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use crate::name::{IMPORTED, LOG};

pub(crate) struct Record {
    folder: File,
    pub log: File,
}

impl Record {
    pub(crate) fn open(folder: &Path, open: impl FnOnce(&Path) -> io::Result<File>) -> io::Result<Self> {
        let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits() as i32;
        let opened = File::options().read(true).custom_flags(flags).open(folder)?;
        Ok(Self { folder: opened, log: open(&folder.join(LOG))? })
    }

    /// Whether both were written here by the effective user or root, and by no other user.
    pub(crate) fn is_own(&self) -> bool {
        let closed = |file: &File| file.metadata().is_ok_and(|facts| is_closed(Rights::from_metadata(&facts)));
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

/// Whether a folder of the store belongs to us, so that no other user can rename runs. Members of the user's group may
/// write to a folder that the user created.
pub(crate) fn kept_by_us(folder: &Path) -> bool {
    let Ok(rights) = fs::metadata(folder).as_ref().map(Rights::from_metadata) else { return false };
    let own_group = !rights.everybody_writes() && rights.group == getegid().as_raw();
    let own_group_alone = || own_group && access_list::is_on(folder).is_ok_and(|listed| !listed);
    is_closed(rights) || is_ours(rights) && (rights.is_sticky() || own_group_alone())
}

fn is_closed(rights: Rights) -> bool {
    is_ours(rights) && !rights.others_write()
}

fn is_ours(rights: Rights) -> bool {
    rights.belongs_to(geteuid().as_raw())
}
