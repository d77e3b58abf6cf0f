//! Where the server's socket stands.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::server::PORT;
use mindful_instance::account::Account;
use mindful_instance::files::{make_private, own_file, read_text};

/// A socket's path has at most 107 bytes (`sun_path` in unix(7), with its closing zero); other systems have 103.
const LONGEST: usize = 103;

/// A folder for the socket, closed to all but the server's user: in the server's folder, or in the temporary folder
/// when the path would be too long for a socket.
#[derive(Debug)]
pub struct SocketFolder {
    path: PathBuf,
    temporary: bool,
}

impl SocketFolder {
    /// Makes the folder, and removes what an earlier one left.
    pub fn make(folder: &Folder, account: &Account) -> io::Result<Self> {
        let note = folder.path().join("socket.path");
        if let Ok(left) = read_text(&note, 4096) {
            remove_temporary(Path::new(&left));
        }
        let path = folder.socket();
        if path.as_os_str().len() + socket_name().len() < LONGEST {
            folder.make_private(&path)?;
            return Ok(Self { path, temporary: false });
        }
        let path = temporary_path();
        let mut file = own_file(&note)?;
        file.set_len(0)?;
        file.write_all(path.as_os_str().as_encoded_bytes())?;
        fs::create_dir(&path)?;
        make_private(&path, account)?;
        Ok(Self { path, temporary: true })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFolder {
    fn drop(&mut self) {
        if self.temporary {
            remove_temporary(&self.path);
        }
    }
}

fn socket_name() -> String {
    format!("/.s.PGSQL.{PORT}")
}

fn temporary_path() -> PathBuf {
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    std::env::temp_dir().join(format!("mindful-{}-{nanos}", std::process::id()))
}

/// Removes the two files a server leaves, and the folder if that was all.
fn remove_temporary(path: &Path) {
    let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mindful-"));
    if named && path.is_absolute() {
        for name in [socket_name(), format!("{}.lock", socket_name())] {
            let _ = fs::remove_file(path.join(name.trim_start_matches('/')));
        }
        let _ = fs::remove_dir(path);
    }
}
