//! The log of an instance in a separate folder, for a separate volume.
//!
//! ```text
//! mindful.mark    marks the folder as mindful's own, with its data folder
//! mindful.lock    locked while a mindful uses the folder; contains its process id
//! log/            the server's log, in a folder of its user, closed to others
//! ```
//!
//! Data and log are one dataset: neither is usable without the other. The data folder therefore names its log's folder
//! in [`RECORD`], and the mark of the log's folder names the data folder. A log is used and removed only if both agree.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mindful_core::contract::BARE_WRITES_FILE;
use mindful_core::{Error, Result};
use mindful_host::space;

use crate::account::Account;
use crate::files::{make_private, own_file, read_file, remove_if_there};
use crate::marked_folder::{MarkedFolder, Role};
use crate::program::ServerKind;

/// The file in the data folder's folder that holds the path of the log's folder.
pub(crate) const RECORD: &str = "log.folder";
const OPTION: &str = "--log-dir";
const FILES: &str = "log";
/// The longest path, bytes.
const LONGEST_PATH: u64 = 4096;

/// A folder for the log of one data folder, locked until this is dropped.
pub(crate) struct LogFolder {
    pub(crate) root: MarkedFolder,
    account: Account,
}

/// The present or future folder of the log of a data folder.
pub(crate) struct LogPlace {
    pub(crate) path: PathBuf,
    /// Whether the data is there already.
    in_use: bool,
}

/// The folder of the log of the data in `root`; `None` if the log is in the data folder. Refuses one that cannot contain that
/// log, and changes nothing.
pub(crate) fn examine(
    given: Option<&Path>,
    root: &Path,
    account: &Account,
    kind: &ServerKind,
) -> Result<Option<LogPlace>> {
    let Some(choice) = choose(given, root, account, kind)? else { return Ok(None) };
    if is_within(&choice.path, root) || is_within(root, &choice.path) {
        return Err(Error::plan(
            format!(
                "--log-dir {} and --data-dir {} are the same folder, or one is inside the other",
                choice.path.display(),
                root.display()
            ),
            "name two separate folders; nothing was changed",
        ));
    }
    let (path, marked) = MarkedFolder::examine(&choice.path, account, &role(root, kind))?;
    if path.to_str().is_none() || root.to_str().is_none() {
        return Err(Error::plan(
            format!("--log-dir {} or its --data-dir has a name that is not UTF-8", path.display()),
            "choose another name: mindful writes both into a mark",
        ));
    }
    if choice.in_use && !(marked && fs::symlink_metadata(path.join(FILES)).is_ok_and(|facts| facts.is_dir())) {
        return Err(Error::target(
            format!("the log of the dataset in {} is not in {}", root.display(), path.display()),
            format!(
                "mount the volume of the log again, or remove {} by hand: without its log the data is lost",
                root.display()
            ),
        ));
    }
    // The contents of a marked folder are removed first.
    if !marked {
        space::require("a new log", &path, kind.least_log_bytes, "free some space there, or name another --log-dir")?;
    }
    Ok(Some(choice))
}

/// Opens or creates the folder for the log of the data in `root`; `None` if the log is in the data folder.
pub(crate) fn open(
    given: Option<&Path>,
    root: &Path,
    account: &Account,
    kind: &ServerKind,
) -> Result<Option<LogFolder>> {
    let open = |path: &Path| -> Result<LogFolder> {
        let root = MarkedFolder::open(path, account, &role(root, kind))?;
        Ok(LogFolder { root, account: account.clone() })
    };
    let Some(LogPlace { path, in_use }) = examine(given, root, account, kind)? else { return Ok(None) };
    let opened = open(&path)?;
    if let Some(left) = recorded(root)?.filter(|left| !in_use && left != opened.path()) {
        // It belongs to a data folder that was never completed. The new folder does not need its removal.
        let _ = open(&left).and_then(|left| left.destroy());
    }
    Ok(Some(opened))
}

fn choose(given: Option<&Path>, root: &Path, account: &Account, kind: &ServerKind) -> Result<Option<LogPlace>> {
    let given = given.map(|path| account.reach(path, OPTION)).transpose()?;
    let recorded = recorded(root)?;
    let in_use = root.join(kind.data).exists();
    if in_use && given.is_some() && given != recorded {
        let place = recorded.map_or_else(|| "the data folder".to_owned(), |path| path.display().to_string());
        return Err(Error::plan(
            format!("the dataset in {} has its log in {place}, and keeps it there", root.display()),
            "omit --log-dir, name another --data-dir, or remove the dataset by `mindful cleanup` first",
        ));
    }
    Ok(given.or(recorded).map(|path| LogPlace { path, in_use }))
}

/// The log's folder as recorded in the data folder.
fn recorded(root: &Path) -> Result<Option<PathBuf>> {
    match read_file(&root.join(RECORD), LONGEST_PATH) {
        Ok(bytes) => Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(bytes))).filter(|path| path.is_absolute())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::target(
            format!("cannot read {}: {error}", root.join(RECORD).display()),
            "make it a plain file of mindful's user",
        )),
    }
}

fn role(root: &Path, kind: &ServerKind) -> Role {
    let content = format!("the log of the private {} server in {}", kind.name, root.display());
    Role { option: OPTION, content, known_by: None }
}

/// Whether `inner` is `outer` or below it, also where a folder is mounted at two places. Either may be missing.
fn is_within(inner: &Path, outer: &Path) -> bool {
    let outer = identity(outer);
    inner.ancestors().any(|folder| identity(folder) == outer)
}

/// The nearest folder on the way to `path` that exists, by device and inode, and the names that are missing from there on.
fn identity(path: &Path) -> (u64, u64, PathBuf) {
    let found = path.ancestors().find_map(|folder| Some((folder, fs::metadata(folder).ok()?)));
    found.map_or((0, 0, path.to_owned()), |(folder, facts)| {
        let missing = path.strip_prefix(folder).map(Path::to_owned).unwrap_or_default();
        (facts.dev(), facts.ino(), missing)
    })
}

impl LogFolder {
    /// The folder that the server writes its log into.
    pub(crate) fn files(&self) -> PathBuf {
        self.root.path().join(FILES)
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// Makes an empty folder for the log of data that is about to be made.
    pub(crate) fn renew(&self) -> Result<()> {
        self.remove_files().and_then(|()| make_private(&self.files(), &self.account)).map_err(|e| self.root.refused(&e))
    }

    /// Records durably in the instance's folder `root` that its log is here.
    pub(crate) fn record(&self, root: &Path) -> io::Result<()> {
        let mut file = own_file(&root.join(RECORD))?;
        file.set_len(0)?;
        file.write_all(self.path().as_os_str().as_bytes())?;
        file.sync_all()?;
        self.root.sync()
    }

    fn remove_files(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.files()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Paths of foreign files in the folder.
    pub(crate) fn foreign_files(&self) -> Result<Vec<String>> {
        let names = self.root.foreign_names(|name| [FILES, BARE_WRITES_FILE].contains(&name))?;
        Ok(names.into_iter().map(|name| self.path().join(name).display().to_string()).collect())
    }

    /// Removes all that is ours; the folder itself too if nothing else is in it.
    pub(crate) fn destroy(&self) -> Result<()> {
        let removed = self.remove_files().and_then(|()| remove_if_there(&self.path().join(BARE_WRITES_FILE)));
        removed.map_err(|error| self.root.refused(&error))?;
        self.root.give_up()
    }
}
