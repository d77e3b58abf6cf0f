//! The data folder of an instance: created atomically in its place, and checked before use.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mindful_core::{Error, Result};

use crate::account::Account;
use crate::files::{hand_over, make_private, sync_file_system};
use crate::folder::{Folder, LOG};
use crate::log::Log;
use crate::log_folder::LogFolder;
use crate::program::{Making, Program, ServerKind};
use crate::user_name;

/// Whether the instance's `folder` holds a data folder that was made completely.
pub fn has_data(folder: &Path, kind: &ServerKind) -> Result<bool> {
    let first = folder.join(kind.data).join(kind.first_file);
    first.try_exists().map_err(|error| {
        Error::target(format!("{}: {error}", first.display()), "start mindful as the owner of that folder")
    })
}

/// Makes the data folder if it is missing, or checks that the program and the user fit an existing one. Returns whether
/// it was made.
pub(crate) fn ensure(folder: &Folder, program: &dyn Program, account: &Account) -> Result<bool> {
    let kind = program.kind();
    if folder.data().join(kind.first_file).exists() {
        check(&folder.data(), program, account)?;
        let log = folder.log.as_ref().map_or(Ok(()), |log| check_owner(&log.files(), account, "--log-dir"));
        return log.map(|()| false);
    }
    let new = folder.aside("new");
    let failed = |error: io::Error| Error::target(format!("cannot make {}: {error}", new.display()), "");
    let log = &Log::from_now(&folder.path().join(LOG)).map_err(failed)?;
    make_private(&new, account).map_err(failed)?;
    let log_files = folder.log.as_ref().map(LogFolder::files);
    let make = || program.initialise(&Making { data: &new, log_dir: log_files.as_deref(), account, log, program });
    let work = || {
        folder.log.as_ref().map_or(Ok(()), LogFolder::renew)?;
        if program.needs_user_name() {
            user_name::with_name(account, &folder.aside("users"), make)?;
        } else {
            make()?;
        }
        let synced = [Some(&new), log_files.as_ref()].into_iter().flatten().try_for_each(|made| {
            sync_file_system(made).map_err(|error| {
                Error::target(format!("cannot sync {}: {error}", made.display()), "check that storage")
            })
        });
        let record = |log: &LogFolder| log.record(folder.path()).map_err(failed);
        synced.and_then(|()| folder.log.as_ref().map_or(Ok(()), record))
    };
    work().inspect_err(|_| {
        let _ = fs::remove_dir_all(&new);
        let _ = folder.log.as_ref().map(LogFolder::destroy);
    })?;
    fs::rename(&new, folder.data()).and_then(|()| folder.sync()).map_err(failed)?;
    Ok(true)
}

fn check(data: &Path, program: &dyn Program, account: &Account) -> Result<()> {
    let is_odd = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file());
    if let Some(odd) = program.kind().plain_files.iter().map(|name| data.join(name)).find(|path| is_odd(path)) {
        return Err(Error::target(
            format!("{} is not a plain file", odd.display()),
            "remove it, or pass another --data-dir",
        ));
    }
    program.fits(data)?;
    check_owner(data, account, "--data-dir")
}

/// Refuses the files of another user, unless root may hand them over to the server's.
fn check_owner(files: &Path, account: &Account, option: &str) -> Result<()> {
    let failed = |error: io::Error| Error::target(format!("{}: {error}", files.display()), "");
    let owner = fs::metadata(files).map_err(failed)?.uid();
    if owner != account.uid && account.switched && owner != 0 {
        return hand_over(files, owner, account).map_err(failed);
    }
    if owner != account.uid {
        return Err(Error::plan(
            format!("{} belongs to user number {owner}, the server would run as {}", files.display(), account.name),
            format!("pass its owner with --run-as, or another {option}"),
        ));
    }
    Ok(())
}
