//! The database file: its ownership, and connections to it.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mindful_core::{Error, Result};
use mindful_host::{file_state, kernel_file, named_path};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, InterruptHandle, OpenFlags};

use crate::error::explain;
use crate::judge;
use crate::options::DEFAULT_PAGE_BYTES;
use crate::registry::APPLICATION_ID;

/// Files that SQLite keeps next to a database file, by suffix.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Features of a file that could run code within our statements, or redirect them to foreign tables: our files use none
/// of them.
const OFF: [DbConfig; 4] = [
    DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
    DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
    DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
];

const HEADER: usize = 100;

/// A database file that is ours or still to be made. Clones share its connections.
#[derive(Clone)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    page_bytes: u64,
    /// All connections to it so far. The handle of a closed one has no effect.
    connections: Arc<Mutex<Vec<InterruptHandle>>>,
    aborted: Arc<AtomicBool>,
}

impl DatabaseFile {
    /// The file of `url`, as `sqlite:PATH`; refuses a foreign one. Only reads.
    pub(crate) fn from_url(url: &str, page_bytes: Option<u64>) -> Result<Self> {
        let named = parse(url)?;
        let path = named_path::folder(&named).map_err(|error| {
            Error::target(format!("{}: {error}", named.display()), "name the file itself, without that link")
        })?;
        let page_bytes = match (read_page_bytes(&path)?, page_bytes) {
            (None, asked) => asked.unwrap_or(DEFAULT_PAGE_BYTES),
            (Some(found), Some(asked)) if asked != found => {
                return Err(Error::plan(
                    format!("{} has pages of {found} bytes, not {asked}", path.display()),
                    "omit --sqlite-page, or `mindful cleanup` first",
                ));
            }
            (Some(found), _) => found,
        };
        Ok(Self { path, page_bytes, connections: Arc::default(), aborted: Arc::default() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Whether the file has not changed since its state was kept, and its log is empty.
    pub(crate) fn is_in_kept_state(&self) -> bool {
        let log = PathBuf::from(format!("{}-wal", self.path.display()));
        file_state::is_kept(&self.path) && !log.metadata().is_ok_and(|log| log.len() > 0)
    }

    /// A connection to the file; `None` if nothing exists yet, an error if it is foreign.
    pub(crate) fn connect(&self) -> Result<Option<Connection>> {
        // The file is read only through SQLite: closing a separate file handle would drop the locks of this process's
        // sessions.
        if !self.path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            return Ok(None);
        }
        let connection = self.open(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let (pages, mark) = one("PRAGMA page_count")
            .and_then(|pages| one("PRAGMA application_id").map(|mark| (pages, mark)))
            .map_err(|error| explain(&self.path, &error))?;
        match (pages, mark) {
            (0, _) => Ok(None),
            (_, mark) if mark == i64::from(APPLICATION_ID) => self.judged(connection).map(Some),
            _ => Err(foreign(&self.path, NOT_OURS)),
        }
    }

    /// Refuses a file in which a table of ours is no longer as it was made.
    fn judged(&self, connection: Connection) -> Result<Connection> {
        match judge::fault(&connection).map_err(|error| explain(&self.path, &error))? {
            None => Ok(connection),
            Some(fault) => Err(Error::target(
                format!("{}: {fault}", self.path.display()),
                "left untouched; find out why, remove the file if nothing in it is needed, or name another",
            )),
        }
    }

    /// Ends the current statements of its connections, from another thread.
    pub(crate) fn interrupt(&self) {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().for_each(InterruptHandle::interrupt);
    }

    /// The same, and later connections are refused.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        self.interrupt();
    }

    pub(crate) fn create(&self) -> Result<Connection> {
        self.open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    pub(crate) fn touch(&self) -> Result<()> {
        if self.path.exists() {
            return Ok(());
        }
        // SQLite creates the file itself, with the right parameters.
        let touched = self.create()?.query_row("PRAGMA schema_version", [], |_| Ok(()));
        touched.map_err(|error| explain(&self.path, &error))
    }

    /// Removes the file created by [`DatabaseFile::touch`], if it is still empty.
    pub(crate) fn remove_if_empty(&self) {
        if self.path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn open(&self, flags: OpenFlags) -> Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let explained = |error: rusqlite::Error| explain(&self.path, &error);
        let connection = Connection::open_with_flags(&self.path, flags).map_err(explained)?;
        for ability in OFF {
            connection.set_db_config(ability, false).map_err(explained)?;
        }
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.push(connection.get_interrupt_handle());
        if self.aborted.load(Ordering::SeqCst) {
            return Err(Error::interrupted(format!("work on {} was aborted", self.path.display())));
        }
        Ok(connection)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        let beside = COMPANIONS.map(|suffix| {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        });
        for path in beside.into_iter().chain([self.path.clone()]) {
            if let Err(error) = std::fs::remove_file(&path)
                && error.kind() != ErrorKind::NotFound
            {
                let what = format!("cannot remove {} ({error})", path.display());
                return Err(Error::target(what, "make its folder writable"));
            }
        }
        Ok(())
    }
}

pub(crate) fn parse(url: &str) -> Result<PathBuf> {
    let bad = |what: &str| Error::plan(format!("`{url}` {what}"), "write sqlite:PATH, such as sqlite:/data/mindful.db");
    let rest = url.strip_prefix("sqlite:").ok_or_else(|| bad("is no SQLite target"))?;
    let path = rest.strip_prefix("//").filter(|rest| rest.starts_with('/')).unwrap_or(rest);
    if path.is_empty() || path == ":memory:" || path.starts_with("//") || path.contains('\0') {
        return Err(bad("names no file"));
    }
    std::path::absolute(path).map_err(|error| bad(&format!("names no file ({error})")))
}

fn foreign(path: &Path, what: &str) -> Error {
    Error::target(format!("{} is {what}", path.display()), "name another file; this one was not changed")
}

const NOT_OURS: &str = "a SQLite file that mindful did not make";

/// Page length of our file at `path`; `None` if nothing exists, an error if it is foreign.
fn read_page_bytes(path: &Path) -> Result<Option<u64>> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        Error::target(format!("cannot read {shown} ({error})"), "name a file that this user may read and write")
    };
    let mut file = match kernel_file::opened(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Error::target(format!("{shown} is not a file"), "name a file in it"));
    }
    let mut header = Vec::with_capacity(HEADER);
    Read::by_ref(&mut file).take(HEADER as u64).read_to_end(&mut header).map_err(unreadable)?;
    if header.is_empty() {
        return Ok(None);
    }
    if header.len() < HEADER || !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign(path, "not a SQLite file"));
    }
    if header[68..72] != APPLICATION_ID.to_be_bytes() {
        return Err(foreign(path, NOT_OURS));
    }
    // 1 means 65536, which does not fit.
    Ok(Some(match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_refused_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (text, other) = (folder.path().join("notes.txt"), folder.path().join("other.db"));
        std::fs::write(&text, "SQLite format 3? no, notes").unwrap();
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE blocks_1 (k)").unwrap();
        for path in [&text, &other, &folder.path().to_path_buf()] {
            let before = std::fs::read(path).ok();
            let error = DatabaseFile::from_url(&format!("sqlite:{}", path.display()), None).err().unwrap().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert_eq!(std::fs::read(path).ok(), before);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no other file was created");
    }

    #[test]
    fn a_pipe_in_place_of_the_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = DatabaseFile::from_url(&format!("sqlite:{}", pipe.display()), None).err().unwrap().to_string();
        assert!(error.contains("is not a file"), "{error}");
    }

    #[test]
    fn whatever_a_connection_is_at_ends_when_it_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("long.db").display());
        let file = DatabaseFile::from_url(&url, None).unwrap();
        let connection = file.create().unwrap();
        let given_up = file.clone();
        let ended = std::thread::spawn(move || {
            let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
            let error = connection.query_row(endless, [], |_| Ok(())).unwrap_err();
            explain(Path::new("long.db"), &error).kind
        });
        // As one that waits for a stop does: a statement may begin a moment after the first time.
        while !ended.is_finished() {
            given_up.abort();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(ended.join().unwrap(), mindful_core::ErrorKind::Interrupted);
        assert!(file.create().is_err(), "nothing begins again");
    }

    #[test]
    fn a_url_names_a_file() {
        for url in ["sqlite:", "sqlite::memory:", "sqlite://host/x.db", "sqlit:/x"] {
            assert!(parse(url).is_err(), "{url}");
        }
        assert_eq!(parse("sqlite:/a/b c?.db").unwrap(), Path::new("/a/b c?.db"));
        assert_eq!(parse("sqlite:///a/b.db").unwrap(), Path::new("/a/b.db"));
    }
}
