//! A private server with the dataset of a short run, made once for all tests of this binary: making it takes a CPU for
//! seconds, a copy does not.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies it to `folder`, which is not there yet.
pub fn copy_to(folder: &Path) {
    copy(&template("embedded"), folder);
}

/// The same of a MariaDB.
#[cfg(feature = "mysql")]
pub fn mariadb_to(folder: &Path) {
    copy(&template("mariadb:"), folder);
}

/// It is made anew for another binary, which may load otherwise.
fn template(target: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("private-{}", target.trim_end_matches(':')));
    fs::create_dir_all(&place).unwrap();
    let one_at_a_time = File::create(place.join("lock")).unwrap();
    one_at_a_time.lock().unwrap();
    let binary = fs::metadata(env!("CARGO_BIN_EXE_mindful")).unwrap();
    let (made, made_by) = (place.join("made"), place.join("made-by"));
    let by = format!("{} {} {}", binary.ino(), binary.size(), binary.mtime());
    if fs::read_to_string(&made_by).is_ok_and(|text| text == by) {
        return made;
    }
    let _ = fs::remove_file(&made_by);
    let _ = fs::remove_dir_all(&made);
    let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
    let data = folder.path().join("data");
    let mut load = Command::new(env!("CARGO_BIN_EXE_mindful"));
    load.args(["load", "--target", target, "--schemas", "2", "--scale", "16MiB", "--data-dir"]).arg(&data);
    let loaded = load.current_dir(folder.path()).env("MINDFUL_STORE", folder.path()).output().unwrap();
    assert!(loaded.status.success(), "{loaded:?}");
    copy(&data, &made);
    fs::write(made_by, by).unwrap();
    made
}

/// Copies a folder with its owners.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).output().unwrap();
    assert!(copied.status.success(), "cp: {}", String::from_utf8_lossy(&copied.stderr));
}
