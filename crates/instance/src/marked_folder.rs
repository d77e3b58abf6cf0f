//! A folder of mindful's on a path that no other user can change: marked, closed to others, and locked while a mindful
//! uses it. Its content depends on its role: a private server, or the log of one.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mindful_core::contract::MARK_FILE;
use mindful_core::plan::rights::Rights;
use mindful_core::{Error, Result};
use mindful_host::ownership::Trusted;
use mindful_host::{Kernel, space};

use crate::account::Account;
use crate::files::{bytes_below, give, make_open, own_file, read_text, remove_if_there};

const MARK: [&str; 2] = ["mindful: ", ". Everything here may be removed by `mindful cleanup`.\n"];
const LOCK: &str = "mindful.lock";
/// Contents of a new file system.
const LOST: &str = "lost+found";
/// The longest mark, bytes: a path may be in it.
const LONGEST_MARK: u64 = 8192;

#[derive(Debug, Clone)]
pub(crate) struct Role {
    /// The option that names the folder: `--data-dir`.
    pub option: &'static str,
    /// Its contents: `a private PostgreSQL server`.
    pub content: String,
    /// A file that identifies such a folder of another owner, and the name of that.
    pub known_by: Option<(&'static str, String)>,
}

impl Role {
    fn refuse(&self, root: &Path, why: &str, next: &str) -> Error {
        Error::plan(format!("{} {} {why}", self.option, root.display()), next)
    }
}

/// A folder that is ours, locked until this is dropped.
pub(crate) struct MarkedFolder {
    path: PathBuf,
    option: &'static str,
    lock: File,
}

impl MarkedFolder {
    /// Where the folder `path` is, and whether it carries our mark. Refuses one that may not become ours, and changes
    /// nothing.
    pub(crate) fn examine(path: &Path, account: &Account, role: &Role) -> Result<(PathBuf, bool)> {
        let root = account.reach(path, role.option)?;
        if root.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            let next = "choose another name: the server writes it into files with one entry a line";
            return Err(role.refuse(&root, "has a control character in its name", next));
        }
        check_way(&root, account, role)?;
        let marked = is_ours(&root, role)?;
        Ok((root, marked))
    }

    pub(crate) fn open(path: &Path, account: &Account, role: &Role) -> Result<Self> {
        let (root, _) = Self::examine(path, account, role)?;
        make_open(&root).map_err(|error| refused(&root, role.option, &error))?;
        // In a folder open to all, others may have created the missing part.
        check_way(&root, account, role)?;
        adopt(&root, account, role)?;
        let lock = lock(&root, role.option)?;
        Ok(Self { path: root, option: role.option, lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The error of an operation in it, with the remedy.
    pub(crate) fn refused(&self, error: &io::Error) -> Error {
        refused(&self.path, self.option, error)
    }

    /// The names in the folder that are neither common to all marked folders nor `ours`.
    pub(crate) fn foreign_names(&self, ours: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let names = entries.map_err(|error| self.refused(&error))?.into_iter();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| ![MARK_FILE, LOCK, LOST].contains(&name.as_str()) && !ours(name)).collect())
    }

    /// Releases the folder, and removes it unless it contains other files.
    pub(crate) fn give_up(&self) -> Result<()> {
        // The mark is removed last, so that the rest after a failure is still marked.
        for name in [LOCK, MARK_FILE] {
            remove_if_there(&self.path.join(name)).map_err(|error| self.refused(&error))?;
        }
        // A mount point, or a folder in which someone else put something, stays.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    pub(crate) fn bytes(&self) -> u64 {
        bytes_below(&self.path)
    }

    /// Writes the names in the folder to the disk, and not only to the page cache.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    /// Bytes free for the server's user on the file system of the folder.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        Ok(space::of(&self.path)?.free_bytes)
    }
}

impl Drop for MarkedFolder {
    fn drop(&mut self) {
        // The number is for the message of a second mindful; only the lock has an effect.
        let _ = self.lock.set_len(0);
        // Not left to its closing: a child that another thread is just starting has a copy for a moment.
        let _ = self.lock.unlock();
    }
}

fn mark(content: &str) -> String {
    format!("{}{content}{}", MARK[0], MARK[1])
}

/// Whether the folder carries our mark. One that is missing or empty may become ours; any other is refused.
fn is_ours(root: &Path, role: &Role) -> Result<bool> {
    let mut entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refused(root, role.option, &error)),
    };
    let marked = read_text(&root.join(MARK_FILE), LONGEST_MARK);
    // A mark is made first and written at once; a torn one is still a mark.
    if marked.as_ref().is_ok_and(|text| mark(&role.content).starts_with(text)) {
        return is_mine(root, role).map(|()| true);
    }
    let other = marked.ok().and_then(|text| Some(text.strip_prefix(MARK[0])?.strip_suffix(MARK[1])?.to_owned()));
    if let Some(other) = other {
        let next = "name another folder, or remove that server by `mindful cleanup`; nothing was changed";
        return Err(role.refuse(root, &format!("holds {other}, not {}", role.content), next));
    }
    if entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != LOST)) {
        let known = role.known_by.as_ref().filter(|(file, _)| root.join(file).exists());
        let what = known.map_or("files", |(_, what)| what);
        let next = "name a new or an empty folder; nothing was changed";
        return Err(role.refuse(root, &format!("holds {what} of someone else"), next));
    }
    let facts = fs::metadata(root).map_err(|error| refused(root, role.option, &error))?;
    if Rights::from_metadata(&facts).is_sticky() {
        return Err(role.refuse(root, "is a folder that all users share", "name a new folder in it"));
    }
    Ok(false)
}

/// A mark that another user made does not count: other files there could lead mindful anywhere.
fn is_mine(root: &Path, role: &Role) -> Result<()> {
    let me = Account::mine().uid;
    for path in [root, &root.join(MARK_FILE)] {
        let owner = fs::symlink_metadata(path).map_err(|error| refused(root, role.option, &error))?.uid();
        if owner != me {
            let next = "start mindful as that user, or name another folder; nothing was changed";
            return Err(role.refuse(root, &format!("was made by user number {owner}"), next));
        }
    }
    Ok(())
}

/// As root, mindful changes owners and closes the folder: meanwhile other users cannot replace its files.
fn check_way(root: &Path, account: &Account, role: &Role) -> Result<()> {
    let Some(above) = root.parent().filter(|_| account.switched) else { return Ok(()) };
    let way_in =
        Trusted::of_process(&Kernel::default()).way_in(above).map_err(|error| refused(root, role.option, &error))?;
    way_in.map_or(Ok(()), |why| {
        Err(Error::plan(
            format!("{} {}: {why}, and that user could redirect root", role.option, root.display()),
            "name a folder with parents that only root may write, such as one below /var/lib; nothing was changed",
        ))
    })
}

/// Makes the folder ours and lets the server's user pass, which may differ from the last one.
fn adopt(root: &Path, account: &Account, role: &Role) -> Result<()> {
    let failed = |error: io::Error| refused(root, role.option, &error);
    let owner = (rustix::process::geteuid().as_raw(), account.gid);
    let (owner, mode) = if account.switched { (Some(owner), 0o710) } else { (None, 0o700) };
    give(root, owner, mode).map_err(failed)?;
    // From here on no other user can add anything; until now the folder's former owner could.
    if is_ours(root, role)? {
        return Ok(());
    }
    own_file(&root.join(MARK_FILE)).and_then(|mut file| file.write_all(mark(&role.content).as_bytes())).map_err(failed)
}

/// Time that a lock may outlive its mindful: a child that was being started when it was killed keeps the lock until it
/// runs.
const LINGERS: Duration = Duration::from_secs(2);

fn lock(root: &Path, option: &str) -> Result<File> {
    let path = root.join(LOCK);
    let failed = |error: &io::Error| refused(root, option, error);
    let begun = Instant::now();
    loop {
        let mut file = own_file(&path).map_err(|error| failed(&error))?;
        if file.try_lock().is_err() {
            if begun.elapsed() < LINGERS {
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            let mut owner = String::new();
            let _ = file.read_to_string(&mut owner);
            let owner = if owner.is_empty() { "another mindful".to_owned() } else { format!("mindful {owner}") };
            return Err(Error::target(
                format!("{owner} is using {}", root.display()),
                format!("wait for it to end, or pass another {option}"),
            ));
        }
        // The process that held the lock may have removed the folder's files, this one too.
        let same = |meta: fs::Metadata| file.metadata().is_ok_and(|mine| mine.ino() == meta.ino());
        if !fs::metadata(&path).is_ok_and(same) {
            continue;
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "(process {})", std::process::id()));
        return written.map(|()| file).map_err(|error| failed(&error));
    }
}

fn refused(root: &Path, option: &str, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("free some space there, or name another {option}")
        }
        _ => format!(
            "pass a {option} that you may write (for a plain user XDG_DATA_HOME=DIR moves it with runs and programs), \
             or start mindful as its owner"
        ),
    };
    Error::target(format!("the server's folder {}: {error}", root.display()), next)
}

#[cfg(test)]
mod tests {
    use mindful_conformance::access_list;

    use super::*;
    use crate::files::make_private;

    fn role() -> Role {
        Role { option: "--data-dir", content: "a private Some server".to_owned(), known_by: None }
    }

    #[test]
    fn a_folder_with_files_of_others_is_refused_and_left_as_it_is() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("letter.txt"), "dear").unwrap();
        let before = fs::metadata(top.path()).unwrap().mode();
        assert!(is_ours(top.path(), &role()).unwrap_err().to_string().contains("nothing was changed"));
        assert_eq!(fs::metadata(top.path()).unwrap().mode(), before);
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_mark_is_a_mark_and_a_foreign_one_is_not() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join(MARK_FILE);
        for length in [0, 9, mark(&role().content).len()] {
            fs::write(&file, &mark(&role().content)[..length]).unwrap();
            assert!(is_ours(top.path(), &role()).unwrap());
        }
        fs::write(&file, mark("a private Other server")).unwrap();
        let refusal = is_ours(top.path(), &role()).unwrap_err().to_string();
        assert!(refusal.contains("holds a private Other server, not a private Some server"), "{refusal}");
        fs::write(&file, "something else").unwrap();
        assert!(is_ours(top.path(), &role()).unwrap_err().to_string().contains("someone else"));
    }

    #[test]
    fn a_mark_that_was_put_there_meanwhile_does_not_count() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root can make files of somebody else");
        }
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join(MARK_FILE);
        fs::write(&file, mark(&role().content)).unwrap();
        std::os::unix::fs::chown(&file, Some(65_533), None).unwrap();
        let account = Account::choose(None).unwrap();
        let refusal = adopt(top.path(), &account, &role()).unwrap_err().to_string();
        assert!(refusal.contains("user number 65533"), "{refusal}");
    }

    #[test]
    fn a_folder_of_another_user_keeps_no_access_list() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root takes over a folder of somebody else");
        }
        let top = tempfile::tempdir().unwrap();
        let lists = [c"system.posix_acl_access", c"system.posix_acl_default"];
        for owner in [Some(65_533), None] {
            let root = top.path().join(format!("{owner:?}"));
            fs::create_dir(&root).unwrap();
            for list in lists {
                let flags = rustix::fs::XattrFlags::empty();
                rustix::fs::setxattr(&root, list, &access_list(65_533), flags).unwrap();
            }
            std::os::unix::fs::chown(&root, owner, None).unwrap();
            adopt(&root, &Account::choose(None).unwrap(), &role()).unwrap();
            make_private(&root.join("data"), &Account::choose(None).unwrap()).unwrap();
            for folder in [root.clone(), root.join("data")] {
                for list in lists {
                    let read = rustix::fs::getxattr(&folder, list, &mut [0_u8; 256]);
                    assert_eq!(read, Err(rustix::io::Errno::NODATA), "{}", folder.display());
                }
            }
            assert_eq!(fs::metadata(&root).unwrap().mode() & 0o7777, 0o710);
        }
    }

    #[test]
    fn a_lock_in_passing_is_waited_for_and_one_that_stays_is_not() {
        let top = tempfile::tempdir().unwrap();
        let held_for = |seconds: &str| {
            let path = top.path().join(LOCK);
            let holder = std::process::Command::new("flock").arg("-F").arg(&path).args(["sleep", seconds]).spawn();
            while File::create(&path).unwrap().try_lock().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            holder.unwrap()
        };
        let mut passing = held_for("0.3");
        drop(lock(top.path(), "--data-dir").unwrap());
        passing.wait().unwrap();
        let mut staying = held_for("60");
        let refusal = lock(top.path(), "--data-dir").unwrap_err().to_string();
        staying.kill().unwrap();
        staying.wait().unwrap();
        assert!(refusal.contains("is using"), "{refusal}");
    }

    #[test]
    fn a_fresh_file_system_is_empty() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(LOST)).unwrap();
        assert!(!is_ours(top.path(), &role()).unwrap());
    }
}
