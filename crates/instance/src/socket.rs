//! The place of the server's socket.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mindful_host::Kernel;
use mindful_host::ownership::Trusted;

use crate::account::Account;
use crate::files::{make_private, own_file, read_text};
use crate::folder::Folder;
use crate::program::ServerKind;

/// A socket's path has at most 107 bytes (`sun_path` in unix(7), with its closing zero); other systems have 103.
const LONGEST: usize = 103;

/// A folder for the socket, closed to all but the server's user: in the server's folder, or in the temporary folder
/// when the path would be too long for a socket.
#[derive(Debug)]
pub(crate) struct SocketFolder {
    path: PathBuf,
    kind: &'static ServerKind,
    temporary: bool,
}

impl SocketFolder {
    /// Creates the folder, and removes an earlier one.
    pub(crate) fn make(folder: &Folder, account: &Account) -> io::Result<Self> {
        let kind = folder.kind();
        let note = folder.socket_note();
        if let Ok(left) = read_text(&note, 4096) {
            remove_temporary(Path::new(&left), kind);
        }
        let path = folder.socket();
        if path.join(kind.socket).as_os_str().len() < LONGEST {
            folder.make_private(&path)?;
            return Ok(Self { path, kind, temporary: false });
        }
        let path = temporary_path(&path, account, kind)?;
        let mut file = own_file(&note)?;
        file.set_len(0)?;
        file.write_all(path.as_os_str().as_encoded_bytes())?;
        fs::create_dir(&path)?;
        make_private(&path, account)?;
        Ok(Self { path, kind, temporary: true })
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

/// A new name in the temporary folder, because `long` is too long for a socket: as root, in one where no other user may put
/// something in its place.
fn temporary_path(long: &Path, account: &Account, kind: &ServerKind) -> io::Result<PathBuf> {
    let named = Some(std::env::temp_dir()).filter(|folder| folder.is_absolute());
    let named = named.unwrap_or_else(|| PathBuf::from("/tmp"));
    let refused = |why: &str| {
        io::Error::other(format!(
            "{} is too long for the path of a socket, and {why}: name another temporary folder by TMPDIR, or a shorter \
             --data-dir",
            long.display()
        ))
    };
    let unreadable = |error: io::Error| refused(&format!("{}: {error}", named.display()));
    let folder = named.canonicalize().map_err(unreadable)?;
    let way_in = if account.switched { Trusted::of_process(&Kernel::default()).way_in(&folder) } else { Ok(None) };
    if let Some(why) = way_in.map_err(unreadable)? {
        return Err(refused(&why));
    }
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let path = folder.join(format!("mindful-{}-{nanos}", std::process::id()));
    if path.join(kind.socket).as_os_str().len() < LONGEST {
        return Ok(path);
    }
    Err(refused(&format!("so is {}", folder.display())))
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
