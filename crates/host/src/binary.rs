//! The binary that runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// Its SHA-256 in hexadecimal, read once a process; `None` if it cannot be read.
pub fn hash() -> Option<&'static str> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    HASH.get_or_init(read).as_deref()
}

fn read() -> Option<String> {
    // The file that was started, even where another one has its name by now.
    let mut file = File::open("/proc/self/exe").ok()?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => hash.update(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    fn the_hash_is_that_of_the_file_that_runs() {
        let own = std::env::current_exe().unwrap();
        let printed = Command::new("sha256sum").arg(own).output().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert_eq!(printed.split(' ').next(), super::hash());
    }
}
