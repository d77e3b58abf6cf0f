//! Files that are read whole, up to a limit.

use std::io::{self, BufRead, Read};

use mindful_core::{Error, Result};

/// Most bytes of a file that has to be read whole.
pub const WHOLE: u64 = 256 << 20;

/// All of `input` as text; bytes that are no UTF-8 come as marks in their place.
///
/// # Errors
/// An input that cannot be read, or is longer than [`WHOLE`].
pub fn text(name: &str, input: &mut dyn BufRead) -> Result<String> {
    let mut bytes = Vec::new();
    input.take(WHOLE + 1).read_to_end(&mut bytes).map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 > WHOLE {
        return Err(Error::run(
            format!("{name} is longer than {} MiB", WHOLE >> 20),
            "no report is: split it, or look at what it holds",
        ));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// What cannot be read.
pub fn cannot_read(name: &str, error: &io::Error) -> Error {
    Error::plan(format!("{name} cannot be read: {error}"), "look at its path and its rights, and whether it is whole")
}
