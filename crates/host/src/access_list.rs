//! POSIX access lists: rights of single users that the mode does not show.
//!
//! Where there is a list, the rights of the group in the mode are the most that the list grants to anyone. A list that lets
//! someone write therefore shows as a group that may write.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::io::Errno;

/// The list of a file or folder, and a folder's default list for new files.
const LISTS: [&std::ffi::CStr; 2] = [c"system.posix_acl_access", c"system.posix_acl_default"];

/// Whether `path` itself has a list.
pub fn is_on(path: &Path) -> io::Result<bool> {
    is_set(rustix::fs::lgetxattr(path, LISTS[0], &mut [0_u8; 0]))
}

/// Removes the lists of an open folder, and checks that they are gone. Set its mode afterwards.
pub fn remove(folder: impl AsFd) -> io::Result<()> {
    for list in LISTS {
        match rustix::fs::fremovexattr(&folder, list) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        if is_set(rustix::fs::fgetxattr(&folder, list, &mut [0_u8; 0]))? {
            return Err(io::Error::other("its access list cannot be removed (setfacl -b)"));
        }
    }
    Ok(())
}

fn is_set(read: Result<usize, Errno>) -> io::Result<bool> {
    match read {
        Ok(_) | Err(Errno::RANGE) => Ok(true),
        // `lgetxattr` of a link.
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
