//! What the tests share.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use mindful_core::event::{Event, Events};
use tempfile::TempDir;

/// Remarks in the order they were made.
#[derive(Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Events for Notes {
    fn emit(&self, event: Event) {
        if let Event::Note { text } = event {
            self.0.lock().unwrap().push(text);
        }
    }
}

impl Notes {
    /// All of them, one a line.
    pub fn all(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

/// A folder that any user can reach.
pub fn place() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap()
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}
