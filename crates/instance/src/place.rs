//! Where mindful keeps programs and instances when nobody says otherwise.

use std::path::{Path, PathBuf};

use mindful_core::{Error, Result};

use crate::account::Account;

/// A folder of the user's data directory, or, as root, a place that the server's user can reach.
pub fn base(account: &Account) -> Result<PathBuf> {
    if account.switched {
        return Ok(PathBuf::from("/var/lib/mindful"));
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = || std::env::var_os("HOME").map(|user| Path::new(&user).join(".local/share"));
    data.or_else(user)
        .map(|folder| folder.join("mindful"))
        .ok_or_else(|| Error::plan("HOME is not set, so there is no place for data", "give --data-dir and --fetch-dir"))
}
