//! The state of a file, in an extended attribute with its length and its last write. To keep that in the file itself
//! would change it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fs, io};

use rustix::fs::XattrFlags;

const ATTRIBUTE: &str = "user.mindful.state";

fn state(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    Ok(format!("{} {}.{:09}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

/// Keeps the present state of the file.
///
/// # Errors
/// The file system has no extended attributes, or the file belongs to another user.
pub fn keep(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::setxattr(path, ATTRIBUTE, state(path)?.as_bytes(), XattrFlags::empty())?)
}

pub fn is_kept(path: &Path) -> bool {
    let mut kept = vec![0; 128];
    let length = rustix::fs::getxattr(path, ATTRIBUTE, &mut kept);
    length.is_ok_and(|length| state(path).is_ok_and(|now| now.as_bytes() == &kept[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_is_in_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "a").unwrap();
        assert!(!is_kept(&path));
        if keep(&path).is_err() {
            return;
        }
        assert!(is_kept(&path));
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "b").unwrap();
        assert!(!is_kept(&path));
    }
}
