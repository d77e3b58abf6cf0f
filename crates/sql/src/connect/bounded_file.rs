//! Files that a user names for a connection: passwords, services, certificates.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// More than any of them needs.
const LONGEST: u64 = 1 << 20;

/// What is in a file, which may be a pipe.
///
/// # Errors
/// It cannot be read, or is longer than any such file.
pub fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)? as u64 {
        ..=LONGEST => Ok(bytes),
        _ => Err(io::Error::other(format!("it is longer than {LONGEST} bytes"))),
    }
}
