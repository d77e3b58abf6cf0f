//! Files and folders with the right owner and permissions.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::Path;

use super::account::Account;

const OPEN_TO_ALL: u32 = 0o755;

/// Removes a file, if it is there.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Bytes of all files below a folder; what vanishes on the way counts nothing.
pub fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// Makes a folder closed to everybody but `account`.
pub fn make_private(path: &Path, account: &Account) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    if account.switched {
        chown(path, Some(account.uid), Some(account.gid))?;
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Makes a folder and those above it that are missing, open to all.
pub fn make_open(path: &Path) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        }
        fs::set_permissions(folder, Permissions::from_mode(OPEN_TO_ALL))?;
    }
    Ok(())
}

/// A file of the user of mindful, made if missing.
pub fn own_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}
