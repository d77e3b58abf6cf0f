//! The binary that runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// Its SHA-256 in hexadecimal, read once a process; `None` if it cannot be read.
pub fn hash() -> Option<&'static str> {
    static HASH: LazyLock<Option<String>> = LazyLock::new(|| read().ok());
    HASH.as_deref()
}

/// Hashes the file that was started, even if another file has its name by now.
fn read() -> io::Result<String> {
    let (mut file, mut hash) = (File::open("/proc/self/exe")?, Sha256::new());
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize())),
            Ok(length) => hash.update(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
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
