//! Errors of an I/O, in one line.

use mindful_core::{Error, Result};
use rustix::io::Errno;

use crate::content;
use crate::prepared::Prepared;
use crate::space::Place;

/// The error of an I/O of `bytes` that gave `result`: fewer bytes, or a negated error number.
#[cold]
pub(crate) fn io(prepared: &Prepared, place: Place, write: bool, bytes: u64, result: i32) -> Error {
    let path = prepared.paths[place.file as usize].display();
    let (verb, at) = (if write { "write" } else { "read" }, place.offset);
    if result >= 0 {
        return Error::run(
            format!(
                "{path} ends at byte {}: {verb} of {bytes} bytes at {at} moved {result}",
                at + u64::from(result.unsigned_abs())
            ),
            "it was truncated while in use; make it again and run again",
        );
    }
    let errno = Errno::from_raw_os_error(-result);
    let next = match errno {
        Errno::IO | Errno::NODEV | Errno::NXIO => "the device failed or is gone: see the kernel log",
        Errno::NOSPC => "the file system is full: free some space, or pass a smaller --scale",
        Errno::INVAL => "the file system refuses such an I/O: try a larger --block-size, or --direct off",
        Errno::OPNOTSUPP => "the file system does not support this I/O: try --direct off, or --io psync",
        Errno::PERM | Errno::ROFS => "the file or its file system is read only: run with --update-pct 0",
        _ => "see the kernel log",
    };
    Error::run(format!("{verb} of {bytes} bytes at {at} of {path} failed: {errno}"), next)
}

/// The error of a sync after a write to `place`.
#[cold]
pub(crate) fn sync(prepared: &Prepared, place: Place, errno: Errno) -> Error {
    let path = prepared.paths[place.file as usize].display();
    Error::run(format!("fdatasync of {path} failed: {errno}"), "the device failed or is full: see the kernel log")
}

/// Checks that `block`, read from `place`, is the one that belongs there.
pub(crate) fn check(prepared: &Prepared, place: Place, block: &[u8]) -> Result<()> {
    let key = prepared.keys[place.file as usize].unwrap_or_default();
    match content::first_mismatch(block, key, place.offset) {
        None => Ok(()),
        Some(at) => Err(Error::run(
            format!("{} holds wrong data in the sector at byte {at}", prepared.paths[place.file as usize].display()),
            "storage returned data that was not written there: do not trust it",
        )),
    }
}
