//! The place of the server's socket.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mindful_host::ownership::make_temporary_folder;

use crate::account::Account;
use crate::files::{make_private, own_file, read_text};
use crate::folder::{Folder, SOCKET, SOCKET_NOTE};
use crate::program::ServerKind;

/// A socket's path has at most 107 bytes (`sun_path` in unix(7), with its closing zero).
const LONGEST: usize = 107;

/// A folder for the socket, closed to all but the server's user: in the server's folder, or in the temporary folder
/// when the path would be too long for a socket.
pub(crate) struct SocketFolder {
    path: PathBuf,
    kind: &'static ServerKind,
    temporary: bool,
}

impl SocketFolder {
    /// Creates the folder, and removes an earlier one.
    pub(crate) fn make(folder: &Folder, account: &Account) -> io::Result<Self> {
        let kind = folder.kind();
        let note = folder.path().join(SOCKET_NOTE);
        if let Ok(left) = read_text(&note, 4096) {
            remove_temporary(Path::new(&left), kind);
        }
        let path = folder.path().join(SOCKET);
        if path.join(kind.socket).as_os_str().len() < LONGEST {
            make_private(&path, account)?;
            return Ok(Self { path, kind, temporary: false });
        }
        let refused = |why: String| {
            io::Error::other(format!(
                "{} is too long for the path of a socket, and {why}: name another temporary folder by TMPDIR, or a \
                 shorter --data-dir",
                path.display()
            ))
        };
        let temporary = make_temporary_folder().map_err(|error| refused(error.to_string()))?;
        let made = Self { path: temporary, kind, temporary: true };
        if made.path.join(kind.socket).as_os_str().len() >= LONGEST {
            return Err(refused(format!("so is {}", made.path.display())));
        }
        let mut file = own_file(&note)?;
        file.set_len(0)?;
        file.write_all(made.path.as_os_str().as_encoded_bytes())?;
        make_private(&made.path, account)?;
        Ok(made)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFolder {
    fn drop(&mut self) {
        if self.temporary {
            remove_temporary(&self.path, self.kind);
        }
    }
}

/// Removes files that a server leaves behind, and the folder if it is empty then.
fn remove_temporary(path: &Path, kind: &ServerKind) {
    let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mindful-"));
    if named && path.is_absolute() {
        for name in [kind.socket].into_iter().chain(kind.beside_socket) {
            let _ = fs::remove_file(path.join(name));
        }
        let _ = fs::remove_dir(path);
    }
}
