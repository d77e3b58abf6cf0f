//! Paths as the user named them, checked name by name before files are written or removed there.
//!
//! A link on the path must belong to root, to the user of this process, or to the user who became root by sudo.
//! Otherwise anyone who can write a folder on the path could lead root to other files. `canonicalize` follows every
//! link and does not show its owner; `RESOLVE_NO_SYMLINKS` alone refuses the links that administrators create, such as
//! `/var/run`.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat};
use rustix::io::Errno;

use crate::Kernel;
use crate::ownership::Trusted;

const MOST_LINKS: usize = 40;

/// The folder `path`, absolute and without links. The end of it may be missing.
///
/// # Errors
/// A link of another user, `..` below a missing folder, and errors of the kernel.
pub fn folder(path: &Path) -> io::Result<PathBuf> {
    walk(path, true)
}

/// Runs `work` with a path to the file `path`, in a folder that cannot be exchanged meanwhile. A link in place of the
/// file itself is not followed.
///
/// # Errors
/// As [`folder`], a missing folder, and those of `work`.
pub fn in_folder_of<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let real = walk(path, false)?;
    match (real.parent(), real.file_name()) {
        (Some(folder), Some(name)) => held(folder, |folder| work(&folder.join(name))),
        _ => work(&real),
    }
}

fn walk(path: &Path, follow_last: bool) -> io::Result<PathBuf> {
    let trusted = Trusted::of_process(&Kernel::default());
    let (mut real, mut links, mut missing) = (PathBuf::from("/"), 0, false);
    let mut left = reversed(&std::path::absolute(path)?);
    while let Some(name) = left.pop() {
        if name == ".." {
            if missing {
                return Err(io::Error::other("it has `..` below a missing folder"));
            }
            real.pop();
            continue;
        }
        let there = real.join(&name);
        let found = if missing || (left.is_empty() && !follow_last) { Ok(None) } else { link(&there) };
        missing |= matches!(found, Err(Errno::NOENT));
        let Some((owner, target)) = (if missing { None } else { found? }) else {
            real = there;
            continue;
        };
        if !trusted.is_trusted(owner) {
            let why =
                format!("{} is a link of user number {owner}, and that user can change its target", there.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        left.extend(reversed(&target));
    }
    Ok(real)
}

/// The names of a path, the first one last.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Owner and target of the link `path`; `None` for other objects.
fn link(path: &Path) -> Result<Option<(u32, PathBuf)>, Errno> {
    // Both belong to the same link, even if its name is reused meanwhile.
    let it = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let facts = fstat(&it)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    let target = readlinkat(&it, c"", Vec::new())?.into_bytes();
    Ok(Some((facts.st_uid, PathBuf::from(OsString::from_vec(target)))))
}

/// Does `work` with a path of `folder`, which has no links, that leads to the same folder until its end.
fn held<T>(folder: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6, and sandboxes without the call.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(folder, flags, Mode::empty()),
        opened => opened,
    }?;
    work(&Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{lchown, symlink};

    use super::*;

    /// A row of the table: an object below the top, with `T` for the top, and the result for a path there.
    enum Put {
        Folder(&'static str),
        /// Name, target, and whether it belongs to another user.
        Link(&'static str, &'static str, bool),
    }
    use Put::{Folder, Link};

    #[test]
    fn a_link_of_another_user_is_refused_wherever_it_is_on_the_way() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root can make links of others");
        }
        let table: [(&[Put], &str, Option<&str>); 12] = [
            (&[Folder("a/b")], "T/a/b/c", Some("a/b/c")),
            (&[Folder("a/b")], "T/a/./b/../b", Some("a/b")),
            (&[], "T/a/b/c", Some("a/b/c")),
            (&[], "T/a/../b", None),
            (&[Folder("a"), Link("l", "a", false)], "T/l/new", Some("a/new")),
            (&[Folder("a"), Link("l", "T/a", false)], "T/l/../x", Some("x")),
            (&[Folder("a"), Link("l", "a", true)], "T/l/new", None),
            (&[Folder("a"), Link("l", "a", true)], "T/l", None),
            (&[Folder("a"), Link("l", "missing", true)], "T/l", None),
            (&[Folder("a"), Link("l", "m", false), Link("m", "a", true)], "T/l/x", None),
            (&[Folder("a/b"), Link("a/l", "../a/b", true)], "T/a/b/../l/x", None),
            (&[Link("l", "l", false)], "T/l/x", None),
        ];
        for (number, (puts, path, wanted)) in table.iter().enumerate() {
            let top = tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
            let real = |text: &str| PathBuf::from(text.replace('T', top.path().to_str().unwrap()));
            for put in *puts {
                match put {
                    Folder(name) => fs::create_dir_all(top.path().join(name)).unwrap(),
                    Link(name, target, foreign) => {
                        symlink(real(target), top.path().join(name)).unwrap();
                        lchown(top.path().join(name), foreign.then_some(65_533), None).unwrap();
                    }
                }
            }
            let found = folder(&real(path));
            assert_eq!(found.ok(), wanted.map(|name| top.path().join(name)), "row {number}");
        }
    }

    #[test]
    fn a_folder_swapped_for_a_link_gets_no_file() {
        let top = tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
        let (folder, aside, other) = (top.path().join("a"), top.path().join("b"), top.path().join("other"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&other).unwrap();
        in_folder_of(&folder.join("file"), |place| {
            fs::rename(&folder, &aside)?;
            symlink(&other, &folder)?;
            fs::write(place, "text")
        })
        .unwrap();
        assert!(aside.join("file").exists() && !other.join("file").exists());
    }

    #[test]
    fn the_last_name_of_a_file_is_not_followed() {
        let top = tempfile::tempdir().unwrap();
        symlink("elsewhere", top.path().join("link")).unwrap();
        let is_link = in_folder_of(&top.path().join("link"), |place| Ok(fs::symlink_metadata(place)?.is_symlink()));
        assert!(is_link.unwrap());
    }
}
