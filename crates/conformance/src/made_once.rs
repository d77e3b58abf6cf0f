//! Folders that are expensive to make: made once for all tests of a program, and copied by each.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::places::IN_MEMORY;

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
    let folder = crate::quick_place();
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
