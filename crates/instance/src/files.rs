//! Files and folders with the right owner and permissions.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use mindful_host::{access_list, open_regular};
use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fchmod, fchown, openat, statat};

use crate::account::Account;

const OPEN_TO_ALL: u32 = 0o755;
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::RDONLY).union(OFlags::CLOEXEC);

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Bytes of all files below a folder; files that vanish meanwhile do not count.
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
pub(crate) fn make_private(path: &Path, account: &Account) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    give(path, account.switched.then_some((account.uid, account.gid)), 0o700)
}

/// Sets the mode of the folder and removes its access list; sets `owner` as user and group first, if given. A link is
/// not followed.
pub(crate) fn give(path: &Path, owner: Option<(u32, u32)>, mode: u32) -> io::Result<()> {
    let folder = open_folder(path)?;
    if let Some((user, group)) = owner {
        fchown(&folder, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
    }
    access_list::remove(&folder).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    Ok(fchmod(&folder, Mode::from_raw_mode(mode as _))?)
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let opened = rustix::fs::open(path, FOLDER, Mode::empty());
    opened.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

/// Creates a folder and missing ones above it, open to all.
pub(crate) fn make_open(path: &Path) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        }
        give(folder, None, OPEN_TO_ALL)?;
    }
    Ok(())
}

/// A file of the user of mindful, created if missing. A link is not followed; a pipe or a device is not awaited.
pub fn own_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600);
    plain(path, options.custom_flags(PLAIN).open(path)?)
}

/// The first bytes of a file, which may belong to another user, and at most `most` of them.
pub(crate) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    read_file(path, most).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a plain file to read; refuses anything else, without waiting for it.
pub fn open_file(path: &Path) -> io::Result<File> {
    open_regular(path, false)
}

const PLAIN: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).bits() as i32;

fn plain(path: &Path, file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other(format!("{} is not a plain file", path.display())))
}

/// Gives all files of user `from` below `folder`, and the folder itself, to `to`. No link is followed, even if that
/// user changes the folder meanwhile.
pub(crate) fn hand_over(folder: &Path, from: u32, to: &Account) -> io::Result<()> {
    let top = open_folder(folder)?;
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
            hand_over_below(&openat(folder, name, FOLDER, Mode::empty())?, from, to)?;
        }
        if stat.st_uid == from {
            chownat(folder, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?;
        }
    }
    Ok(())
}

/// Brings all of the file system of `folder` to storage: one call, where a sync of each of a thousand small files would
/// make the file system commit its journal as often.
pub(crate) fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Whether a file's file system takes direct I/O.
pub(crate) fn takes_direct_io(file: &Path) -> bool {
    open_file(file).is_ok()
        && OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(file).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn neither_owner_nor_mode_is_given_through_a_link() {
        let top = tempfile::tempdir().unwrap();
        let (target, link) = (top.path().join("target"), top.path().join("link"));
        fs::create_dir(&target).unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&target, &link).unwrap();
        let before = fs::metadata(&target).unwrap();
        let account = Account::choose(None).unwrap();
        make_private(&link, &account).unwrap_err();
        give(&link, None, 0o710).unwrap_err();
        let after = fs::metadata(&target).unwrap();
        assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
        make_private(&target, &account).unwrap();
        let closed = fs::metadata(&target).unwrap();
        assert_eq!((closed.uid(), closed.gid(), closed.mode() & 0o777), (account.uid, account.gid, 0o700));
    }
}
