//! Properties of the files that must not change during a measurement: what is cut off or punched out of a file is read
//! without storage, and a file that others write is not the one that was loaded.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;

/// Names of what is compared with the first reading, since an earlier step may have written: the length of a file, the space
/// in use by it, and the time of the last write.
const GROWN: [&str; 3] = ["bytes added to", "bytes of storage added to", "ms added to the last write to"];

pub(crate) struct FilesWatch {
    paths: Vec<PathBuf>,
    /// Whether mindful's sessions write to the files.
    updates: bool,
    first: Vec<[i64; 3]>,
}

impl FilesWatch {
    pub(crate) fn new(paths: Vec<PathBuf>, workload: &Workload) -> Self {
        Self { paths, updates: !workload.update_pct.is_none(), first: Vec::new() }
    }
}

impl Watch for FilesWatch {
    fn name(&self) -> &'static str {
        "files"
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        let mut found = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            let file = path.metadata().ok();
            let one = |what: &str, value: Option<String>| {
                Circumstance::new(format!("{what} {}", path.display()), value, Decides::Layout)
            };
            found.push(one("file", file.as_ref().map(|file| format!("{}:{}", file.dev(), file.ino()))));
            let Some(file) = file.filter(|file| !self.updates && !file.file_type().is_block_device()) else { continue };
            let written_ms = file.mtime() * 1_000 + file.mtime_nsec() / 1_000_000;
            let now = [file.len().cast_signed(), file.blocks().cast_signed() * 512, written_ms];
            if self.first.len() <= number {
                self.first.resize(number + 1, now);
            }
            let first = self.first[number];
            found.extend((0..GROWN.len()).map(|at| one(GROWN[at], Some((now[at] - first[at]).to_string()))));
        }
        Ok(found)
    }
}
