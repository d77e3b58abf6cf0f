//! An instance's folder, and its content.
//!
//! ```text
//! mindful.mark    marks the folder as mindful's own, with the kind of server
//! mindful.lock    locked while a mindful uses the folder; contains its process id
//! server.lock     locked while a server and its guard run; contains the id and exit status of its first process
//! loading         exists during a load
//! server.log      output of the server, and of the program that created its data folder
//! log.folder      place of the server's log, if it has a separate folder
//! socket/         the server's socket, in a folder of its user, closed to others
//! ```
//!
//! It also contains the data folder, likewise of the server's user, and files that a program writes for its server,
//! both named in [`ServerKind`]. The folder itself belongs to the user of mindful. If that is root, the server's user
//! may enter but not write it. So root never follows a path that another user could have changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mindful_core::contract::BARE_WRITES_FILE;
use mindful_core::{Error, Result};

use crate::account::Account;
use crate::files::{own_file, remove_if_there};
use crate::log_folder::{self, LogFolder, RECORD};
use crate::marked_folder::{MarkedFolder, Role};
use crate::program::{Program, ServerKind};
use crate::stale::{self, SERVER_LOCK};

const LOADING_FILE: &str = "loading";
pub(crate) const LOG: &str = "server.log";
const OLD_LOG: &str = "server.log.old";
/// The file that contains the other place of the socket.
pub(crate) const SOCKET_NOTE: &str = "socket.path";
pub(crate) const SOCKET: &str = "socket";
/// The files of every instance.
const FILES: [&str; 7] = [LOADING_FILE, SOCKET_NOTE, LOG, OLD_LOG, RECORD, BARE_WRITES_FILE, SERVER_LOCK];

/// A folder that is ours, locked while this exists.
pub(crate) struct Folder {
    root: MarkedFolder,
    /// The folder of the server's log, if that is another one.
    pub(crate) log: Option<LogFolder>,
    account: Account,
    program: Arc<dyn Program>,
}

impl Folder {
    /// Opens or creates the folder, and that of the log, if `log` or the folder itself names one. Refuses a folder with
    /// foreign files, and does not change it.
    pub(crate) fn open(path: &Path, log: Option<&Path>, account: &Account, program: &Arc<dyn Program>) -> Result<Self> {
        let kind = program.kind();
        let role = role(kind);
        let root = check(path, account, kind)?;
        log_folder::examine(log, &root, account, kind)?;
        let root = MarkedFolder::open(&root, account, &role)?;
        // Until the lock was ours, another mindful may have made the data.
        let log = log_folder::open(log, root.path(), account, kind)?;
        Ok(Self { root, log, account: account.clone(), program: Arc::clone(program) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn kind(&self) -> &'static ServerKind {
        self.program.kind()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(self.kind().data)
    }

    /// For messages: the folder, and that of the log if it is separate.
    pub(crate) fn describe_place(&self) -> String {
        let log = self.log.as_ref().map_or_else(String::new, |log| format!(", its log in {}", log.path().display()));
        format!("{}{log}", self.path().display())
    }

    /// Records durably that a load has begun.
    pub(crate) fn mark_loading(&self) -> Result<()> {
        let path = self.path().join(LOADING_FILE);
        let marked = own_file(&path).and_then(|file| file.sync_all()).and_then(|()| self.sync());
        marked.map_err(|error| self.root.refused(&error))
    }

    pub(crate) fn unmark_loading(&self) -> Result<()> {
        remove_if_there(&self.path().join(LOADING_FILE)).map_err(|error| self.root.refused(&error))
    }

    /// Whether a load is, or was when mindful died.
    pub(crate) fn is_loading(&self) -> bool {
        self.path().join(LOADING_FILE).exists()
    }

    /// An unused name in the folder, for something to be made or removed.
    pub(crate) fn aside(&self, what: &str) -> PathBuf {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        self.path().join(format!("{}{what}.{}.{nanos}", self.beside_data(), std::process::id()))
    }

    /// Prefix of the names of folders that are being created or removed.
    fn beside_data(&self) -> String {
        format!("{}.", self.kind().data)
    }

    /// Removes the data folder: first out of its place, so that half of one is never in use.
    pub(crate) fn remove_data(&self) -> Result<()> {
        let gone = self.aside("gone");
        match fs::rename(self.data(), &gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.root.refused(&error)),
            _ => {}
        }
        self.sweep();
        Ok(())
    }

    /// Removes what an earlier mindful left half-created or half-removed when it was killed. Its remaining processes
    /// are ended, and leave nothing outside. Files that cannot be removed now are left for the next time.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.path()) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&self.beside_data()) {
                stale::await_end(&entry.path());
                self.program.release(&entry.path(), &self.account);
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Names of foreign files in the folder and in that of the log.
    pub(crate) fn foreign_files(&self) -> Result<Vec<String>> {
        let (kind, beside_data) = (self.kind(), self.beside_data());
        let ours = |name: &str| {
            FILES.contains(&name)
                || kind.own_files.contains(&name)
                || [kind.data, SOCKET].contains(&name)
                || name.starts_with(&beside_data)
        };
        let mut names = self.root.foreign_names(ours)?;
        names.extend(self.log.as_ref().map(LogFolder::foreign_files).transpose()?.unwrap_or_default());
        Ok(names)
    }

    /// Removes all that is ours; the folders themselves too if nothing else is in them.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.remove_data()?;
        self.log.as_ref().map_or(Ok(()), LogFolder::destroy)?;
        let _ = fs::remove_dir_all(self.path().join(SOCKET));
        for name in self.kind().own_files.iter().chain(&FILES) {
            remove_if_there(&self.path().join(name)).map_err(|error| self.root.refused(&error))?;
        }
        self.root.give_up()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.root.bytes() + self.log.as_ref().map_or(0, |log| log.root.bytes())
    }

    /// Writes the names in the folder to the disk, and not only to the page cache.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.root.sync()
    }

    /// Bytes free for the server's log.
    pub(crate) fn free_log_bytes(&self) -> io::Result<u64> {
        self.log.as_ref().map_or(&self.root, |log| &log.root).free_bytes()
    }
}

/// Refuses a folder that holds anything not ours, or that the server could not use; returns its path without links.
pub(crate) fn check(path: &Path, account: &Account, kind: &ServerKind) -> Result<PathBuf> {
    let (root, _) = MarkedFolder::examine(path, account, &role(kind))?;
    if let Some(separator) = kind.separator.filter(|separator| root.to_string_lossy().contains(*separator)) {
        return Err(Error::plan(
            format!("--data-dir {} has a `{separator}` in its name", root.display()),
            format!("choose another name: {} uses it to separate folders", kind.name),
        ));
    }
    Ok(root)
}

fn role(kind: &ServerKind) -> Role {
    Role {
        option: "--data-dir",
        content: format!("a private {} server", kind.name),
        known_by: Some((kind.first_file, format!("a {} data directory", kind.name))),
    }
}
