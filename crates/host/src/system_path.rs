//! Programs of the system, and the PATH of mindful's children: only folders in which no other user can put a program.
//!
//! Commands of the user (hooks, `squeeze -- COMMAND`) keep the user's own PATH.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Kernel;
use crate::ownership::Trusted;

const SYSTEM: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub fn system_path() -> OsString {
    // No folder has the separator in its name, as they come from lists with it.
    std::env::join_paths(folders(&std::env::var_os("PATH").unwrap_or_default())).unwrap_or_else(|_| SYSTEM.into())
}

/// The file of the program `name`; `None` if the system has none that belongs to root.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let paths = folders(&std::env::var_os("PATH").unwrap_or_default()).into_iter().map(|folder| folder.join(name));
    paths.filter(|path| path.is_file()).find(|path| is_safe(path))
}

/// The folders of `path` and the usual ones in which only root, and the user of this process, can put a program. Links
/// are resolved.
fn folders(path: &OsStr) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in std::env::split_paths(path).chain(std::env::split_paths(SYSTEM)).filter(|folder| folder.is_absolute())
    {
        let Ok(folder) = folder.canonicalize() else { continue };
        if folder.is_dir() && is_safe(&folder) && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn is_safe(path: &Path) -> bool {
    let way_in = path.canonicalize().and_then(|path| Trusted::of_root_and_user(&Kernel::default()).way_in(&path));
    way_in.is_ok_and(|way_in| way_in.is_none())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn no_folder_that_others_can_write_is_in_the_path() {
        let top = tempfile::tempdir().unwrap();
        let folder = |name: &str, mode: u32| {
            let path = top.path().canonicalize().unwrap().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let (own, open) = (folder("own", 0o755), folder("open", 0o777));
        let link = top.path().join("link");
        symlink(&open, &link).unwrap();
        let path = std::env::join_paths([&open, &link, &own, Path::new("relative")]).unwrap();
        let found = folders(&path);
        assert!(found.contains(&own) && !found.contains(&open) && !found.contains(&link), "{found:?}");
        assert!(found.iter().all(|folder| folder.is_absolute()) && found.iter().any(|folder| folder.ends_with("bin")));
        if rustix::process::geteuid().is_root() {
            chown(&own, Some(65_534), None).unwrap();
            assert!(!folders(&path).contains(&own), "it belongs to another user");
        }
    }
}
