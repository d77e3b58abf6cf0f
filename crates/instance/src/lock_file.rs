//! The file that the server of an instance keeps locked, as its guard writes it.

use std::path::Path;

use crate::files::read_text;

/// The first process of the server that keeps, or last kept, `lock`.
pub(crate) fn pid(lock: &Path) -> Option<u32> {
    read_text(lock, 64).ok()?.lines().next()?.trim().parse().ok()
}

/// Exit status of that process, if its guard recorded it.
pub(crate) fn status(lock: &Path) -> Option<i32> {
    read_text(lock, 64).ok()?.lines().nth(1)?.strip_prefix("ended ")?.trim().parse().ok()
}
