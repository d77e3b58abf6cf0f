//! Where tests put what is dear to make.

use std::env;
use std::path::{Path, PathBuf};

use mindful_host::memory::{Meminfo, usable_bytes};
use mindful_host::{Kernel, space};

/// What has to be free in memory: room for several servers.
const ROOM_BYTES: u64 = 6 << 30;

/// The folder for a server whose device is not what a test is about: in memory, if that has room, for a disk takes long over
/// a thousand files; else that for temporary files.
pub fn quick_folder() -> PathBuf {
    let (memory, kernel) = (Path::new("/dev/shm"), Kernel::default());
    let free = space::of(memory).ok().map(|space| space.free_bytes);
    let all = [free, Meminfo::read(&kernel).available_bytes, usable_bytes(&kernel)];
    if all.into_iter().all(|bytes| bytes >= Some(ROOM_BYTES)) { memory.to_owned() } else { env::temp_dir() }
}
