//! Opens files in places where another user may have put something: only regular files, without waiting. New files are
//! closed to others. Writes follow no link of another user.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use mindful_core::plan::to_utf8;
use mindful_host::named_path::{self, in_folder_of};
use mindful_host::{open_regular, open_regular_with};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Opens a regular file for reading; a pipe or device is refused.
pub fn open(path: &Path) -> io::Result<File> {
    open_regular(path, true)
}

/// The same, where a symbolic link is refused too.
pub fn open_itself(path: &Path) -> io::Result<File> {
    open_regular(path, false)
}

/// Opens a regular file for reading and appending; no link is followed.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    in_folder_of(path, |path| open_regular_with(path, false, File::options().read(true).append(true)))
}

/// Makes a file of ours where the name does not exist, not even as a link.
pub fn create_new(path: &Path) -> io::Result<File> {
    in_folder_of(path, new_file)
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Creates a file of ours. An existing file or link of that name is removed; the target of the link stays.
pub fn create(path: &Path) -> io::Result<File> {
    in_folder_of(path, new_in_place)
}

fn new_in_place(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => new_file(path),
    }
}

/// Replaces `path` with a file of this content, atomically.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    in_folder_of(path, |path| replace_by(path, |mut file| file.write_all(content)))
}

fn replace_by(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let next = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = new_in_place(&next).and_then(|file| {
        write(&file)?;
        file.sync_all()?;
        fs::rename(&next, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&next);
    })
}

/// Creates the file `path` by `write`, atomically and closed to others. It must not exist unless it may be replaced; a
/// link, a pipe or a device is never replaced.
pub fn put(path: &Path, may_replace: bool, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    in_folder_of(path, |path| match fs::symlink_metadata(path) {
        Ok(meta) if may_replace && meta.is_file() => replace_by(path, write),
        Ok(_) if may_replace => Err(io::Error::new(io::ErrorKind::InvalidInput, "what is there is not a regular file")),
        _ => {
            let file = new_file(path)?;
            write(&file).inspect_err(|_| {
                let _ = fs::remove_file(path);
            })
        }
    })
}

/// Creates the folder `path` and missing ones above it, closed to others.
pub fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(named_path::folder(path)?)
}

/// Makes the folder `path`, closed to others.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    in_folder_of(path, |path| DirBuilder::new().mode(FOLDER_MODE).create(path))
}

/// The text of `file`, at most `most` bytes of it.
pub fn text(file: File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    if file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes")));
    }
    String::from_utf8(to_utf8(bytes))
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 or UTF-16 text"))
}
