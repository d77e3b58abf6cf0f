//! Files that verbs write where the user says.

use std::io::{ErrorKind, Write};
use std::path::Path;

use mindful_core::{Error, Result};
use mindful_record::file;

/// Writes `what` to `path`, closed to others. It must not be there yet unless it may be replaced; a link, a pipe or a
/// device never is.
pub fn write(path: &Path, what: &[u8], replace: bool) -> Result<()> {
    let written = file::put(path, replace, |mut file| file.write_all(what));
    written.map_err(|error| {
        let next = if error.kind() == ErrorKind::AlreadyExists {
            "give --output FILE, or --yes to replace it"
        } else {
            "give --output FILE in a folder you may write to"
        };
        Error::plan(format!("{} cannot be written: {error}", path.display()), next)
    })
}
