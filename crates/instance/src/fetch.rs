//! One fetch of a pinned artefact: downloaded, compared with its hash, vetted, unpacked by the account that will run it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mindful_core::contract::event::{Events, emit_note};
use mindful_core::{Error, Result};
use mindful_host::Kernel;
use mindful_host::ownership::Trusted;

use crate::account::Account;
use crate::files::{give, hand_over, make_open, make_private, own_file, sync_file_system};

mod artefact;
mod download;
mod reason;
mod unpack;

use artefact::LIMITS;
pub use artefact::{Artefact, BASE, Contents, Files};
use download::Source;

/// Fetches `artefact` from below `base` into `shelf/name`, atomically; returns that folder.
///
/// As root it is unpacked with the rights of `account` and belongs to root afterwards, so that the server cannot change
/// its own programs.
pub fn fetch(
    artefact: &Artefact,
    base: &str,
    shelf: &Path,
    name: &str,
    account: &Account,
    events: &dyn Events,
) -> Result<PathBuf> {
    let place = |error: std::io::Error| reason::of_place(shelf, &error);
    let source = Source::open(base)?;
    check_owner(shelf)?;
    make_open(shelf).map_err(place)?;
    check_owner(shelf)?;
    let lock = own_file(&shelf.join("fetch.lock")).map_err(place)?;
    lock.lock().map_err(place)?;
    let target = shelf.join(name);
    if target.exists() {
        return Ok(target);
    }
    if artefact.sha256.is_none() {
        let what = &artefact.what;
        emit_note(
            events,
            format!("{what} is not pinned in mindful: it is checked only against the hash that its source publishes"),
        );
    }
    let [packed, unpacking] = ["fetch.partial", "unpacking"].map(|name| shelf.join(name));
    let clear = || {
        let _ = fs::remove_file(&packed);
        let _ = fs::remove_dir_all(&unpacking);
    };
    clear();
    let fetched = (|| {
        let mut file = own_file(&packed).map_err(place)?;
        source.download(artefact, &LIMITS, &mut file, events)?;
        make_private(&unpacking, account).map_err(place)?;
        let unpacked = account.act(|| unpack::unpack(file, &artefact.contents, &unpacking, &LIMITS))?;
        unpacked.map_err(|why| refused(artefact, &why))?;
        if account.switched {
            hand_over(&unpacking, account.uid, &Account::mine()).map_err(place)?;
        }
        give(&unpacking, None, 0o755).map_err(place)?;
        sync_file_system(&unpacking).map_err(place)?;
        fs::rename(&unpacking, &target).map_err(place)
    })();
    clear();
    fetched.map(|()| target)
}

fn refused(artefact: &Artefact, why: &str) -> Error {
    Error::target(format!("the archive of {}: {why}", artefact.what), "it was not kept")
}

/// If others can write the folder, its programs may differ from the verified ones.
pub(crate) fn check_owner(shelf: &Path) -> Result<()> {
    let why = others_may_change(shelf).map_err(|error| reason::of_place(shelf, &error))?;
    why.map_or(Ok(()), |why| {
        Err(Error::plan(
            format!("{why}, and that user may change what is fetched into {}", shelf.display()),
            "name a folder of your own with --fetch-dir",
        ))
    })
}

/// Why others may change the program or the folder of programs at `path`, which has no links. A missing path cannot be
/// changed. For root this covers all folders above it too. A plain user is expected to trust these owners: a volume of
/// a container is often open to all.
pub(crate) fn others_may_change(path: &Path) -> io::Result<Option<String>> {
    let trusted = Trusted::of_process(&Kernel::default());
    let itself = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        facts => trusted.why_open(path, &facts?)?.map(|why| format!("{} {why}", path.display())),
    };
    match path.parent() {
        Some(above) if itself.is_none() && rustix::process::geteuid().is_root() => trusted.way_in(above),
        _ => Ok(itself),
    }
}
