//! Places for files of tests, and folders that are expensive to make: made once for all tests of a program, and copied
//! by each.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
const IN_MEMORY: &str = "/dev/shm";

/// The folder for a server in a test that does not depend on its device. It is in memory if that has room, because a
/// disk is slow with a thousand files; otherwise it is the folder for temporary files.
pub fn quick_folder() -> PathBuf {
    let (memory, kernel) = (Path::new(IN_MEMORY), Kernel::default());
    let free = space::of(memory).ok().map(|space| space.free_bytes);
    let all = [free, Meminfo::read(&kernel).available_bytes, usable_bytes(&kernel)];
    if all.into_iter().all(|bytes| bytes >= Some(ROOM_BYTES)) { memory.to_owned() } else { env::temp_dir() }
}

/// Copies the folder that `make` creates to `to`, which must not exist. The original is kept in `place`, and created
/// again for another `program`, which may create a different one.
pub fn copy_of_one(place: &Path, program: &Path, to: &Path, make: impl FnOnce(&Path)) {
    fs::create_dir_all(place).unwrap();
    let one_at_a_time = File::create(place.join("lock")).unwrap();
    one_at_a_time.lock().unwrap();
    let (original, made_by) = (place.join("original"), place.join("made-by"));
    let binary = fs::metadata(program).unwrap();
    let by = format!("{} {} {}", binary.ino(), binary.size(), binary.mtime());
    if fs::read_to_string(&made_by).is_ok_and(|text| text == by) {
        return copy_folder(&original, to);
    }
    let _ = fs::remove_file(&made_by);
    let _ = fs::remove_dir_all(&original);
    let folder = quick_place();
    let folder = folder.path().join("folder");
    make(&folder);
    copy_folder(&folder, &original);
    fs::write(made_by, by).unwrap();
    copy_folder(&original, to);
}

/// Copies a folder with its owners. In memory zeros take no space: that is four fifths of a new InnoDB and more.
pub fn copy_folder(from: &Path, to: &Path) {
    let sparse = if to.starts_with(IN_MEMORY) { "--sparse=always" } else { "--sparse=auto" };
    let copied = Command::new("cp").arg("-a").arg(sparse).arg(from).arg(to).output().unwrap();
    assert!(copied.status.success(), "cp: {}", String::from_utf8_lossy(&copied.stderr));
}

/// Creates a program from a shell script. Another process writes it: a file written by this one cannot be run (text
/// file busy) while another test's child, forked meanwhile, still has it open.
pub fn write_program(path: &Path, script: &str) {
    let mut install = Command::new("install");
    let mut child = install.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{}", path.display());
}
