//! Places for files that are expensive to make.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mindful_host::memory::{Meminfo, usable_bytes};
use mindful_host::{Kernel, space};
use tempfile::TempDir;

/// Memory that must be free: enough for several servers.
const ROOM_BYTES: u64 = 6 << 30;

/// A private folder of a test that any user can reach, because a server may run as another user.
pub fn place() -> TempDir {
    place_in(&env::temp_dir())
}

/// The same for a server in a test that does not depend on its device.
pub fn quick_place() -> TempDir {
    place_in(&quick_folder())
}

fn place_in(folder: &Path) -> TempDir {
    let mut place = tempfile::Builder::new();
    place.prefix("mindful-test-").permissions(Permissions::from_mode(0o755)).tempdir_in(folder).unwrap()
}

pub fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}

/// Writes the files, each below `root` with its text, and makes their folders.
pub fn write_files(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(&path, text)).unwrap();
    }
}

/// An access list by which one more user may do all, as the kernel stores it: version 2, then tag, rights and user of
/// each entry.
pub fn access_list(user: u32) -> Vec<u8> {
    let entries = [(1_u16, u32::MAX), (2, user), (4, u32::MAX), (16, u32::MAX), (32, u32::MAX)];
    let entry = |(tag, id): (u16, u32)| [&tag.to_le_bytes()[..], &7_u16.to_le_bytes(), &id.to_le_bytes()].concat();
    [2_u32.to_le_bytes().to_vec(), entries.map(entry).concat()].concat()
}

/// The file system in memory that every Linux has.
pub(crate) const IN_MEMORY: &str = "/dev/shm";

/// The folder for a server in a test that does not depend on its device. It is in memory if that has room, because a
/// disk is slow with a thousand files; otherwise it is the folder for temporary files.
pub fn quick_folder() -> PathBuf {
    let (memory, kernel) = (Path::new(IN_MEMORY), Kernel::default());
    let free = space::of(memory).ok().map(|space| space.free_bytes);
    let all = [free, Meminfo::read(&kernel).available_bytes, usable_bytes(&kernel)];
    if all.into_iter().all(|bytes| bytes >= Some(ROOM_BYTES)) { memory.to_owned() } else { env::temp_dir() }
}
