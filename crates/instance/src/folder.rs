//! An instance's folder: its mark, its lock, and what stands in it.
//!
//! ```text
//! mindful.mark     says that all of this is mindful's own, and of which server
//! mindful.lock     locked while a mindful uses the folder; holds its process id
//! server.lock      locked while a server and its guard live; holds its first process's id and how that ended
//! loading          there while a load is going on
//! server.log       what the server said, and what made its data folder
//! socket/          the server's socket, in a folder of its user, closed to others
//! ```
//!
//! Beside these stand the data folder, likewise of the server's user, and files that a program writes for its server, both
//! named in [`Kind`]. The folder itself belongs to the user of mindful. Where that is root, the server's user may pass but
//! not write, so that root never follows a path which another user could have bent.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mindful_core::plan::rights::Rights;
use mindful_core::{Error, Result};
use mindful_host::ownership::Trusted;
use mindful_host::{Kernel, space};

use crate::account::Account;
use crate::files::{bytes_below, give, make_open, make_private, own_file, read_text, remove_if_there};
use crate::program::{Program, ServerKind};
use crate::stale;

const MARK_FILE: &str = "mindful.mark";
const MARK: &str = "mindful: a private ";
const LOADING_FILE: &str = "loading";
const SERVER_LOCK: &str = "server.lock";
const LOCK: &str = "mindful.lock";
const LOG: &str = "server.log";
const OLD_LOG: &str = "server.log.old";
const SOCKET_NOTE: &str = "socket.path";
const SOCKET: &str = "socket";
/// The files of every instance; the mark comes last.
const FILES: [&str; 7] = [LOADING_FILE, SOCKET_NOTE, LOG, OLD_LOG, SERVER_LOCK, LOCK, MARK_FILE];
/// What a new file system has in it.
const LOST: &str = "lost+found";

/// A folder that is ours, locked as long as this lives.
pub(crate) struct Folder {
    root: PathBuf,
    account: Account,
    program: Arc<dyn Program>,
    lock: File,
}

impl Folder {
    /// Opens or makes the folder. Refuses one that holds anything not ours, and leaves it untouched.
    pub(crate) fn open(path: &Path, account: &Account, program: &Arc<dyn Program>) -> Result<Self> {
        let root = account.reach(path, "--data-dir")?;
        if root.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            return Err(Error::plan(
                format!("--data-dir {} has a control character in its name", root.display()),
                "choose another name: the server writes it into files of lines",
            ));
        }
        let kind = program.kind();
        if let Some(separator) = kind.separator.filter(|separator| root.to_string_lossy().contains(*separator)) {
            return Err(Error::plan(
                format!("--data-dir {} has a `{separator}` in its name", root.display()),
                format!("choose another name: to {} it separates folders", kind.name),
            ));
        }
        check_way(&root, account)?;
        is_ours(&root, kind)?;
        make_open(&root).map_err(|error| refused(&root, &error))?;
        // In a folder for everybody, others may have made what was missing.
        check_way(&root, account)?;
        adopt(&root, account, kind)?;
        let lock = lock(&root)?;
        Ok(Self { root, account: account.clone(), program: Arc::clone(program), lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn kind(&self) -> &'static ServerKind {
        self.program.kind()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join(self.kind().data)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.root.join(SOCKET)
    }

    /// The file that says where the socket stands instead.
    pub(crate) fn socket_note(&self) -> PathBuf {
        self.root.join(SOCKET_NOTE)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join(LOG)
    }

    /// The file that is locked as long as a process of the server lives.
    pub(crate) fn server_lock(&self) -> PathBuf {
        self.root.join(SERVER_LOCK)
    }

    /// Says, durably, that a load is going on.
    pub(crate) fn mark_loading(&self) -> Result<()> {
        let path = self.root.join(LOADING_FILE);
        let marked = own_file(&path).and_then(|file| file.sync_all()).and_then(|()| self.sync());
        marked.map_err(|error| refused(&self.root, &error))
    }

    pub(crate) fn unmark_loading(&self) -> Result<()> {
        remove_if_there(&self.root.join(LOADING_FILE)).map_err(|error| refused(&self.root, &error))
    }

    /// Whether a load is, or was when mindful died.
    pub(crate) fn is_loading(&self) -> bool {
        self.root.join(LOADING_FILE).exists()
    }

    /// A name in the folder that nobody used before, for something to be made or removed.
    pub(crate) fn aside(&self, what: &str) -> PathBuf {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        self.root.join(format!("{}{what}.{}.{nanos}", self.beside_data(), std::process::id()))
    }

    /// How names of what is made or removed begin.
    fn beside_data(&self) -> String {
        format!("{}.", self.kind().data)
    }

    /// Makes a folder closed to everybody but the server's user.
    pub(crate) fn make_private(&self, path: &Path) -> io::Result<()> {
        make_private(path, &self.account)
    }

    /// Removes the data folder: first out of its place, so that half of one is never in use.
    pub(crate) fn remove_data(&self) -> Result<()> {
        let gone = self.aside("gone");
        match fs::rename(self.data(), &gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(&self.root, &error)),
            _ => {}
        }
        self.sweep();
        Ok(())
    }

    /// Removes what an earlier mindful was making or removing when it died. A maker that outlived it ends by itself, and
    /// then leaves nothing outside. What cannot be removed now is left for the next time.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&self.beside_data()) {
                stale::await_end(&entry.path());
                self.program.release(&entry.path(), &self.account);
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    pub(crate) fn foreign_files(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.root).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let names = entries.map_err(|error| refused(&self.root, &error))?.into_iter().map(|entry| entry.file_name());
        let (kind, beside_data) = (self.kind(), self.beside_data());
        let ours = |name: &str| {
            FILES.contains(&name)
                || kind.own_files.contains(&name)
                || [kind.data, SOCKET, LOST].contains(&name)
                || name.starts_with(&beside_data)
        };
        Ok(names.map(|name| name.to_string_lossy().into_owned()).filter(|name| !ours(name)).collect())
    }

    /// Removes all that is ours; the folder itself too if nothing else is in it.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.remove_data()?;
        // What is left of it after a failure still carries the mark, which goes last.
        let _ = fs::remove_dir_all(self.socket());
        for name in self.kind().own_files.iter().chain(&FILES) {
            remove_if_there(&self.root.join(name)).map_err(|error| refused(&self.root, &error))?;
        }
        // A mount point, or a folder in which someone else put something, stays.
        let _ = fs::remove_dir(&self.root);
        Ok(())
    }

    pub(crate) fn bytes(&self) -> u64 {
        bytes_below(&self.root)
    }

    /// Says on the disk, and not only in the page cache, what names stand in the folder.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.root)?.sync_all()
    }

    /// Bytes free for the server's user on the file system of the folder.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        Ok(space::of(&self.root)?.free_bytes)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The number is for the message of a second mindful; the lock itself is what counts.
        let _ = self.lock.set_len(0);
        // Not left to its closing: a child that another thread is just starting has a copy for a moment.
        let _ = self.lock.unlock();
    }
}

fn mark(name: &str) -> String {
    format!("{MARK}{name} server. Everything here may be removed by `mindful cleanup`.\n")
}

/// Whether the folder carries our mark. One that is missing or empty may become ours; any other is refused.
fn is_ours(root: &Path, kind: &ServerKind) -> Result<bool> {
    let mut entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refused(root, &error)),
    };
    let marked = read_text(&root.join(MARK_FILE), 4096);
    // A mark is made first and written at once; a torn one is still a mark.
    if marked.as_ref().is_ok_and(|text| mark(kind.name).starts_with(text)) {
        return is_mine(root).map(|()| true);
    }
    let other = marked.ok().and_then(|text| Some(text.strip_prefix(MARK)?.split_once(" server.")?.0.to_owned()));
    if let Some(other) = other {
        return Err(Error::plan(
            format!("--data-dir {} holds a private {other} server, not {}", root.display(), kind.name),
            "name another folder, or remove that server by `mindful cleanup`; nothing was touched",
        ));
    }
    if entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != LOST)) {
        let data = root.join(kind.first_file).exists();
        let what = if data { format!("a {} data directory of", kind.name) } else { "files of".to_owned() };
        return Err(Error::plan(
            format!("--data-dir {} holds {what} someone else", root.display()),
            "name a new or an empty folder; nothing was touched",
        ));
    }
    let facts = fs::metadata(root).map_err(|error| refused(root, &error))?;
    if Rights::from_metadata(&facts).is_sticky() {
        return Err(Error::plan(
            format!("--data-dir {} is a folder for everybody", root.display()),
            "name a new folder in it",
        ));
    }
    Ok(false)
}

/// A mark that another user made is none: what else stands there could lead mindful anywhere.
fn is_mine(root: &Path) -> Result<()> {
    let me = Account::mine().uid;
    let owner = |path: &Path| fs::symlink_metadata(path).map(|facts| facts.uid());
    let owners = owner(root).and_then(|folder| Ok([folder, owner(&root.join(MARK_FILE))?]));
    let Some(owner) = owners.map_err(|error| refused(root, &error))?.into_iter().find(|owner| *owner != me) else {
        return Ok(());
    };
    Err(Error::plan(
        format!("--data-dir {} was made by user number {owner}", root.display()),
        "start mindful as that user, or name another folder; nothing was touched",
    ))
}

/// As root, mindful gives away and closes what stands in the folder: nobody else may put something in its place meanwhile.
fn check_way(root: &Path, account: &Account) -> Result<()> {
    let Some(above) = root.parent().filter(|_| account.switched) else { return Ok(()) };
    let way_in = Trusted::of_process(&Kernel::default()).way_in(above).map_err(|error| refused(root, &error))?;
    way_in.map_or(Ok(()), |why| {
        Err(Error::plan(
            format!("--data-dir {}: {why}, who could lead root elsewhere", root.display()),
            "name a folder whose parents only root may write, such as one below /var/lib; nothing was touched",
        ))
    })
}

/// Makes the folder ours and lets the server's user pass, who may be another one than the last time.
fn adopt(root: &Path, account: &Account, kind: &ServerKind) -> Result<()> {
    let failed = |error: io::Error| refused(root, &error);
    let owner = (rustix::process::geteuid().as_raw(), account.gid);
    let (owner, mode) = if account.switched { (Some(owner), 0o710) } else { (None, 0o700) };
    give(root, owner, mode).map_err(failed)?;
    // From here on nobody else can add anything; until now whoever had the folder could.
    if is_ours(root, kind)? {
        return Ok(());
    }
    own_file(&root.join(MARK_FILE)).and_then(|mut file| file.write_all(mark(kind.name).as_bytes())).map_err(failed)
}

/// How long a lock may outlive its mindful: what it was about to start when it was killed keeps it until it runs.
const LINGERS: Duration = Duration::from_secs(2);

fn lock(root: &Path) -> Result<File> {
    let path = root.join(LOCK);
    let failed = |error: &io::Error| refused(root, error);
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
                "wait for it to end, or give another --data-dir",
            ));
        }
        // The one we waited behind may have removed the folder's files, this one too.
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

fn refused(root: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, or name another --data-dir"
        }
        _ => {
            "give a --data-dir that you may write (for a plain user XDG_DATA_HOME=DIR moves it with runs and \
             programs), or start mindful as its owner"
        }
    };
    Error::target(format!("the server's folder {}: {error}", root.display()), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: ServerKind = ServerKind {
        name: "Some",
        data: "data",
        first_file: "VERSION",
        plain_files: &[],
        own_files: &[],
        socket: "some.sock",
        pid_files: &[],
        beside_socket: None,
        processes: &[],
        stop: [rustix::process::Signal::TERM; 2],
        crashes: &[],
        has_recovered: "",
        waits_for_room: &[],
        fixed: &[],
        separator: None,
        setting: "a=1",
    };

    #[test]
    fn a_folder_with_files_of_others_is_refused_and_left_as_it_is() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("letter.txt"), "dear").unwrap();
        let before = fs::metadata(top.path()).unwrap().mode();
        assert!(is_ours(top.path(), &KIND).unwrap_err().to_string().contains("nothing was touched"));
        assert_eq!(fs::metadata(top.path()).unwrap().mode(), before);
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_mark_is_a_mark_and_a_foreign_one_is_not() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join(MARK_FILE);
        for length in [0, 9, mark("Some").len()] {
            fs::write(&file, &mark("Some")[..length]).unwrap();
            assert!(is_ours(top.path(), &KIND).unwrap());
        }
        fs::write(&file, mark("Other")).unwrap();
        let refusal = is_ours(top.path(), &KIND).unwrap_err().to_string();
        assert!(refusal.contains("holds a private Other server, not Some"), "{refusal}");
        fs::write(&file, "something else").unwrap();
        assert!(is_ours(top.path(), &KIND).unwrap_err().to_string().contains("someone else"));
    }

    #[test]
    fn a_mark_that_was_put_there_meanwhile_is_none() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root can make files of somebody else");
        }
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join(MARK_FILE);
        fs::write(&file, mark("Some")).unwrap();
        std::os::unix::fs::chown(&file, Some(65_533), None).unwrap();
        let account = Account::choose(None).unwrap();
        let refusal = adopt(top.path(), &account, &KIND).unwrap_err().to_string();
        assert!(refusal.contains("user number 65533"), "{refusal}");
    }

    /// One more user may do all: as Linux stores it, version 2 and then tag, rights and user of each entry.
    fn access_list(user: u32) -> Vec<u8> {
        let entries = [(1_u16, u32::MAX), (2, user), (4, u32::MAX), (16, u32::MAX), (32, u32::MAX)];
        let entry = |(tag, id): (u16, u32)| [&tag.to_le_bytes()[..], &7_u16.to_le_bytes(), &id.to_le_bytes()].concat();
        [2_u32.to_le_bytes().to_vec(), entries.map(entry).concat()].concat()
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
            adopt(&root, &Account::choose(None).unwrap(), &KIND).unwrap();
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
        drop(lock(top.path()).unwrap());
        passing.wait().unwrap();
        let mut staying = held_for("60");
        let refusal = lock(top.path()).unwrap_err().to_string();
        staying.kill().unwrap();
        staying.wait().unwrap();
        assert!(refusal.contains("is using"), "{refusal}");
    }

    #[test]
    fn a_fresh_file_system_is_empty() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(LOST)).unwrap();
        assert!(!is_ours(top.path(), &KIND).unwrap());
    }
}
