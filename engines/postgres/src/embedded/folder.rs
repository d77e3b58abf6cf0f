//! The server's folder: its mark, its lock, and what stands in it.
//!
//! ```text
//! mindful.mark     says that all of this is mindful's own
//! mindful.lock     locked while a mindful uses the folder; holds its process id
//! server.lock      locked while a server and its guard live; holds the postmaster's process id
//! loading          there while a load is going on
//! access.conf      who may connect: the user of mindful alone; users.conf names that user
//! server.log       what initdb and the server said
//! pgdata/          the PostgreSQL data directory, owned by the server's user, closed to others
//! socket/          the server's socket, likewise
//! ```
//!
//! The folder itself belongs to the user of mindful. Where that is root, the server's user may pass but not write, so
//! that root never follows a path which another user could have bent.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use mindful_core::{Error, Result};
use mindful_host::space;

use super::stale;
use mindful_instance::account::Account;
use mindful_instance::files::{bytes_below, make_open, make_private, own_file, read_text, remove_if_there};

const MARK_FILE: &str = "mindful.mark";
const LOADING_FILE: &str = "loading";
const SERVER_LOCK: &str = "server.lock";
const LOCK: &str = "mindful.lock";
const MARK: &str = "mindful: a private PostgreSQL server. Everything here may be removed by `mindful cleanup`.\n";
/// The files of ours; the mark comes last.
const FILES: [&str; 9] = [
    LOADING_FILE,
    "socket.path",
    "access.conf",
    "users.conf",
    "server.log",
    "server.log.old",
    SERVER_LOCK,
    LOCK,
    MARK_FILE,
];
const STICKY: u32 = 0o1000;

/// A folder that is ours, locked as long as this lives.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    account: Account,
    lock: File,
}

impl Folder {
    /// Opens or makes the folder. Refuses one that holds anything not ours, and leaves it untouched.
    pub fn open(path: &Path, account: &Account) -> Result<Self> {
        let root = account.reach(path, "--data-dir")?;
        if root.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            return Err(Error::plan(
                format!("--data-dir {} has a control character in its name", root.display()),
                "choose another name: the server writes it into files of lines",
            ));
        }
        let ours = is_ours(&root)?;
        adopt(&root, account, ours).map_err(|error| refused(&root, &error))?;
        let lock = lock(&root)?;
        Ok(Self { root, account: account.clone(), lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The PostgreSQL data directory.
    pub fn data(&self) -> PathBuf {
        self.root.join("pgdata")
    }

    /// The folder of the socket.
    pub fn socket(&self) -> PathBuf {
        self.root.join("socket")
    }

    /// The server's log.
    pub fn log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// The file that is locked as long as a process of the server lives.
    pub fn server_lock(&self) -> PathBuf {
        self.root.join(SERVER_LOCK)
    }

    /// Says, durably, that a load is going on.
    pub fn mark_loading(&self) -> Result<()> {
        let path = self.root.join(LOADING_FILE);
        let marked = own_file(&path).and_then(|file| file.sync_all()).and_then(|()| self.sync());
        marked.map_err(|error| refused(&self.root, &error))
    }

    /// Says that none is.
    pub fn unmark_loading(&self) -> Result<()> {
        remove_if_there(&self.root.join(LOADING_FILE)).map_err(|error| refused(&self.root, &error))
    }

    /// Whether a load is, or was when mindful died.
    pub fn is_loading(&self) -> bool {
        self.root.join(LOADING_FILE).exists()
    }

    /// A name in the folder that nobody used before, for something to be made or removed.
    pub fn aside(&self, what: &str) -> PathBuf {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        self.root.join(format!("pgdata.{what}.{}.{nanos}", std::process::id()))
    }

    /// Makes a folder closed to everybody but the server's user.
    pub fn make_private(&self, path: &Path) -> io::Result<()> {
        make_private(path, &self.account)
    }

    /// Removes the PostgreSQL data directory: first out of its place, so that half of one is never in use.
    pub fn remove_data(&self) -> Result<()> {
        let gone = self.aside("gone");
        match fs::rename(self.data(), &gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(&self.root, &error)),
            _ => {}
        }
        self.sweep();
        Ok(())
    }

    /// Removes what an earlier mindful was making or removing when it died. A maker that outlived it ends by itself, and
    /// then leaves no shared memory. What cannot be removed now is left for the next time.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with("pgdata.") {
                stale::await_end(&entry.path());
                stale::release_memory(&entry.path(), &self.account);
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// What is in the folder and not ours, by name.
    pub fn foreign_files(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.root).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let names = entries.map_err(|error| refused(&self.root, &error))?.into_iter().map(|entry| entry.file_name());
        let ours = |name: &str| {
            FILES.contains(&name) || ["pgdata", "socket", "lost+found"].contains(&name) || name.starts_with("pgdata.")
        };
        Ok(names.map(|name| name.to_string_lossy().into_owned()).filter(|name| !ours(name)).collect())
    }

    /// Removes all that is ours; the folder itself too if nothing else is in it.
    pub fn destroy(&self) -> Result<()> {
        self.remove_data()?;
        // What is left of it after a failure still carries the mark, which goes last.
        let _ = fs::remove_dir_all(self.socket());
        for name in FILES {
            remove_if_there(&self.root.join(name)).map_err(|error| refused(&self.root, &error))?;
        }
        // A mount point, or a folder in which someone else put something, stays.
        let _ = fs::remove_dir(&self.root);
        Ok(())
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        bytes_below(&self.root)
    }

    /// Says on the disk, and not only in the page cache, what names stand in the folder.
    pub fn sync(&self) -> io::Result<()> {
        File::open(&self.root)?.sync_all()
    }

    /// Bytes free for the server's user on the file system of the folder.
    pub fn free_bytes(&self) -> io::Result<u64> {
        Ok(space::of(&self.root)?.free_bytes)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The number is for the message of a second mindful; the lock itself is what counts.
        let _ = self.lock.set_len(0);
    }
}

/// Whether the folder carries our mark. One that is missing or empty may become ours; any other is refused.
fn is_ours(root: &Path) -> Result<bool> {
    let mut entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refused(root, &error)),
    };
    // A mark is made first and written at once; a torn one is still a mark.
    if read_text(&root.join(MARK_FILE), 4096).is_ok_and(|text| MARK.starts_with(&text)) {
        return is_mine(root).map(|()| true);
    }
    if entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lost+found")) {
        let kind = if root.join("PG_VERSION").exists() { "a PostgreSQL data directory of" } else { "files of" };
        return Err(Error::plan(
            format!("--data-dir {} holds {kind} someone else", root.display()),
            "name a new or an empty folder; nothing was touched",
        ));
    }
    let mode = fs::metadata(root).map_err(|error| refused(root, &error))?.permissions().mode();
    if mode & STICKY != 0 {
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
    let owner = fs::metadata(root).map_err(|error| refused(root, &error))?.uid();
    if owner == me {
        return Ok(());
    }
    Err(Error::plan(
        format!("--data-dir {} was made by user number {owner}", root.display()),
        "start mindful as that user, or name another folder; nothing was touched",
    ))
}

/// Makes the folder ours and lets the server's user pass, who may be another one than the last time.
fn adopt(root: &Path, account: &Account, ours: bool) -> io::Result<()> {
    make_open(root)?;
    let mode = if account.switched {
        chown(root, Some(rustix::process::geteuid().as_raw()), Some(account.gid))?;
        0o710
    } else {
        0o700
    };
    fs::set_permissions(root, Permissions::from_mode(mode))?;
    if ours {
        return Ok(());
    }
    own_file(&root.join(MARK_FILE))?.write_all(MARK.as_bytes())
}

fn lock(root: &Path) -> Result<File> {
    let path = root.join(LOCK);
    let failed = |error: &io::Error| refused(root, error);
    loop {
        let mut file = own_file(&path).map_err(|error| failed(&error))?;
        if file.try_lock().is_err() {
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
    Error::target(
        format!("the server's folder {}: {error}", root.display()),
        "give a --data-dir that you may write, or start mindful as its owner",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_files_of_others_is_refused_and_left_as_it_is() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("letter.txt"), "dear").unwrap();
        let before = fs::metadata(top.path()).unwrap().permissions().mode();
        assert!(is_ours(top.path()).unwrap_err().to_string().contains("nothing was touched"));
        assert_eq!(fs::metadata(top.path()).unwrap().permissions().mode(), before);
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_mark_is_a_mark_and_a_foreign_one_is_not() {
        let top = tempfile::tempdir().unwrap();
        let mark = top.path().join(MARK_FILE);
        fs::write(&mark, &MARK[..9]).unwrap();
        assert!(is_ours(top.path()).unwrap());
        fs::write(&mark, "something else").unwrap();
        assert!(is_ours(top.path()).is_err());
    }

    #[test]
    fn a_fresh_file_system_is_empty() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join("lost+found")).unwrap();
        assert!(!is_ours(top.path()).unwrap());
    }

    #[test]
    fn what_is_not_ours_survives_destruction() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().join("d");
        let me = Account { switched: false, ..Account::choose(None).unwrap() };
        let folder = Folder::open(&root, &me).unwrap();
        fs::create_dir(folder.data()).unwrap();
        fs::write(root.join("letter.txt"), "dear").unwrap();
        assert_eq!(folder.foreign_files().unwrap(), ["letter.txt"]);
        folder.destroy().unwrap();
        let left: Vec<_> = fs::read_dir(&root).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["letter.txt"]);
    }
}
