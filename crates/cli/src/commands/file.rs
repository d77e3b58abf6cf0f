//! Files that verbs write where the user says.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use mindful_core::{Error, Result};

/// Writes `text` to `path`, which must not be there yet unless it may be replaced.
pub fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if replace {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let next = if error.kind() == std::io::ErrorKind::AlreadyExists {
            "give --output FILE, or --yes to replace it"
        } else {
            "give --output FILE in a folder you may write to"
        };
        Error::plan(format!("{} cannot be written: {error}", path.display()), next)
    })
}
