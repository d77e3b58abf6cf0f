//! The password of the account: from the environment, from a file that no other user can read, or from the user at the
//! terminal.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mindful_core::plan::to_utf8;
use mindful_core::{Error, Result};
use mindful_host::terminal;
use mindful_sql::connect::environment::Environment;

pub(crate) const PASSWORD: &str = "ORACLE_PASSWORD";
const WALLET_PASSWORD: &str = "ORACLE_WALLET_PASSWORD";

pub(crate) fn password(user: &str, file: Option<&Path>) -> Result<String> {
    if let Some(file) = file {
        return of_file(file);
    }
    if let Some(password) = variable(PASSWORD)? {
        return Ok(password);
    }
    let typed = terminal::secret(&format!("Password of {user}: "));
    match typed.map_err(|error| Error::plan(format!("no password was read ({error})"), format!("set {PASSWORD}")))? {
        Some(password) => Ok(password),
        None => Err(Error::plan(
            format!("no password for account {user}"),
            format!("set {PASSWORD}, or pass --password-file FILE (mode 0600)"),
        )),
    }
}

pub(crate) fn of_wallet() -> Result<Option<String>> {
    variable(WALLET_PASSWORD)
}

fn variable(name: &str) -> Result<Option<String>> {
    Environment::of_process(&["ORACLE_"]).text(name)
}

/// Largest part of a password file that is read, bytes.
const LONGEST: u64 = 64 << 10;

/// The first line of a file that only the caller's user can read.
fn of_file(file: &Path) -> Result<String> {
    let unreadable = |error: io::Error| {
        Error::plan(format!("password file {}: {error}", file.display()), "name a file that can be read")
    };
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if metadata.mode() & 0o077 != 0 {
        return Err(Error::plan(
            format!("password file {} may be read by others (mode {:o})", file.display(), metadata.mode() & 0o777),
            format!("chmod 600 {}", file.display()),
        ));
    }
    let mut bytes = Vec::new();
    File::open(file).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)).map_err(unreadable)?;
    let text = String::from_utf8(to_utf8(bytes)).map_err(|error| unreadable(io::Error::other(error)))?;
    match text.lines().next() {
        Some(password) if !password.is_empty() => Ok(password.to_owned()),
        _ => Err(Error::plan(format!("password file {} is empty", file.display()), "write the password into it")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        fs::write(&file, "s3cret\nnot this\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = of_file(&file).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("s3cret"), "{error}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(of_file(&file).unwrap(), "s3cret");
        fs::write(&file, "").unwrap();
        assert!(of_file(&file).unwrap_err().to_string().contains("is empty"));
        assert!(of_file(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_password_file_without_an_end_is_not_read_to_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // More bytes would be an error: the file is not a text.
        let mut text = vec![b' '; LONGEST as usize];
        text.splice(..7, *b"s3cret\n");
        text.extend([0xff; 100]);
        fs::write(file.path(), text).unwrap();
        assert_eq!(of_file(file.path()).unwrap(), "s3cret");
    }
}
