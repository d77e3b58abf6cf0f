//! Files and folders with the right owner and permissions.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fchown, openat, statat};

use crate::account::Account;

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

/// A file of the user of mindful, made if missing. What stands there instead, be it a link, a pipe or a device, is
/// neither followed nor waited for.
pub fn own_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600);
    plain(path, options.custom_flags(PLAIN).open(path)?)
}

/// The first bytes of a file, which may belong to another user, and at most `most` of them.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same as text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    read_file(path, most).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a plain file to read; refuses anything else, without waiting for it.
pub fn open_file(path: &Path) -> io::Result<File> {
    plain(path, OpenOptions::new().read(true).custom_flags(PLAIN).open(path)?)
}

const PLAIN: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).bits() as i32;

fn plain(path: &Path, file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other(format!("{} is no plain file", path.display())))
}

/// Gives all below `folder` that belongs to user `from`, and the folder itself, to `to`. No link is followed, whatever
/// that user does meanwhile.
pub fn hand_over(folder: &Path, from: u32, to: &Account) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let top = rustix::fs::open(folder, flags, Mode::empty())?;
    hand_over_below(&top, from, to)?;
    Ok(fchown(&top, Some(Uid::from_raw(to.uid)), Some(Gid::from_raw(to.gid)))?)
}

fn hand_over_below(folder: &impl AsFd, from: u32, to: &Account) -> io::Result<()> {
    let owner = (Some(Uid::from_raw(to.uid)), Some(Gid::from_raw(to.gid)));
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
            hand_over_below(&openat(folder, name, flags, Mode::empty())?, from, to)?;
        }
        if stat.st_uid == from {
            chownat(folder, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?;
        }
    }
    Ok(())
}

/// Brings all of the file system of `folder` to storage: one call, where a sync of each of a thousand small files would
/// make the file system commit its journal as often.
#[cfg(target_os = "linux")]
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Elsewhere there is no call for one file system.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Whether a file's file system takes direct I/O.
#[cfg(target_os = "linux")]
pub fn takes_direct_io(file: &Path) -> bool {
    open_file(file).is_ok()
        && OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(file).is_ok()
}

/// Elsewhere servers ask for uncached I/O in ways that every file system takes.
#[cfg(not(target_os = "linux"))]
pub fn takes_direct_io(_: &Path) -> bool {
    true
}
