//! The data folder of an instance: made in its place completely or not at all, and checked before it is used.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mindful_core::{Error, Result};

use crate::account::Account;
use crate::files::{hand_over, make_private, sync_file_system};
use crate::folder::Folder;
use crate::log::Log;
use crate::program::{Making, Program, ServerKind};
use crate::user_name;

/// Whether the instance's `folder` holds a data folder that was made completely.
pub fn has_data(folder: &Path, kind: &ServerKind) -> Result<bool> {
    let first = folder.join(kind.data).join(kind.first_file);
    first.try_exists().map_err(|error| {
        Error::target(format!("{}: {error}", first.display()), "start mindful as the owner of that folder")
    })
}

/// Makes the data folder if there is none, and checks that the program and the user fit one that is there. Tells whether
/// it was made.
pub(crate) fn ensure(folder: &Folder, program: &dyn Program, account: &Account) -> Result<bool> {
    let kind = program.kind();
    if folder.data().join(kind.first_file).exists() {
        return check(&folder.data(), program, account).map(|()| false);
    }
    let new = folder.aside("new");
    let failed = |error: io::Error| Error::target(format!("cannot make {}: {error}", new.display()), "");
    let log = &Log::from_now(&folder.log()).map_err(failed)?;
    make_private(&new, account).map_err(failed)?;
    let make = || program.initialise(&Making { data: &new, account, log, program });
    let work = || {
        if program.needs_user_name() {
            user_name::with_name(account, &folder.aside("users"), make)?;
        } else {
            make()?;
        }
        sync_file_system(&new)
            .map_err(|error| Error::target(format!("cannot sync {}: {error}", new.display()), "check that storage"))
    };
    work().inspect_err(|_| {
        let _ = fs::remove_dir_all(&new);
    })?;
    fs::rename(&new, folder.data()).and_then(|()| folder.sync()).map_err(failed)?;
    Ok(true)
}

fn check(data: &Path, program: &dyn Program, account: &Account) -> Result<()> {
    let failed = |error: io::Error| Error::target(format!("{}: {error}", data.display()), "");
    let is_odd = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file());
    if let Some(odd) = program.kind().plain_files.iter().map(|name| data.join(name)).find(|path| is_odd(path)) {
        return Err(Error::target(
            format!("{} is no plain file", odd.display()),
            "remove it, or give another --data-dir",
        ));
    }
    program.fits(data)?;
    let owner = fs::metadata(data).map_err(failed)?.uid();
    if owner != account.uid && account.switched && owner != 0 {
        return hand_over(data, owner, account).map_err(failed);
    }
    if owner != account.uid {
        return Err(Error::plan(
            format!("{} belongs to user number {owner}, the server would run as {}", data.display(), account.name),
            "give its owner by --run-as, or another --data-dir",
        ));
    }
    Ok(())
}
