//! Files that verbs write at places named by the user.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use mindful_core::{Error, Result};
use mindful_record::file;

/// Writes `what` to `path`, readable only by the user. An existing file is replaced only with `replace`; links, pipes
/// and devices are never replaced.
pub(crate) fn write(path: &Path, what: &[u8], replace: bool) -> Result<()> {
    write_by(path, replace, |mut file| file.write_all(what))
}

pub(crate) fn write_by(path: &Path, replace: bool, write: impl FnOnce(&File) -> io::Result<()>) -> Result<()> {
    file::put(path, replace, write).map_err(|error| {
        let next = if error.kind() == ErrorKind::AlreadyExists {
            "choose another --output, or pass --yes to replace it"
        } else {
            "choose an --output in a writable folder"
        };
        Error::plan(format!("cannot write {}: {error}", path.display()), next)
    })
}
