//! One fetch of a pinned artefact: downloaded, compared with its hash, vetted, unpacked by the account that will run it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mindful_core::event::{Events, note};
use mindful_core::{Error, Result};

use crate::account::Account;
use crate::files::{hand_over, make_open, make_private, own_file, sync_file_system};

mod artefact;
mod download;
mod limits;
mod progress;
mod reason;
mod unpack;

pub use artefact::{Artefact, BASE, Contents, Files};
use download::Source;
use limits::LIMITS;

/// Fetches `artefact` from below `base` into `shelf/name`, which is there completely or not at all; returns that folder.
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
        note(
            events,
            format!("{what} is not pinned in mindful: it is checked only against the hash that its source tells"),
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
        fs::set_permissions(&unpacking, Permissions::from_mode(0o755)).map_err(place)?;
        sync_file_system(&unpacking).map_err(place)?;
        fs::rename(&unpacking, &target).map_err(place)
    })();
    clear();
    fetched.map(|()| target)
}

fn refused(artefact: &Artefact, why: &str) -> Error {
    Error::target(format!("the archive of {}: {why}", artefact.what), "nothing of it was kept")
}

/// What others may write would be their programs, not those that were checked.
pub(crate) fn check_owner(shelf: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(shelf).map_err(|error| reason::of_place(shelf, &error))?;
    let mine = meta.uid() == Account::mine().uid || meta.uid() == 0;
    if mine && meta.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(Error::plan(
        format!("{} may be written by others, who could change what is fetched into it", shelf.display()),
        "name a folder of your own by --fetch-dir",
    ))
}
