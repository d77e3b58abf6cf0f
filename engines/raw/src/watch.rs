//! Properties of the files that must not change during a measurement. Blocks that are cut off or punched out of a file are
//! read without storage. A file that others write is no longer the loaded one.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;

/// Names of differences from earlier readings, because a step before may have written: in the length of a file, in its
/// allocated space, and in the time of its last write.
const DIFFERENCES: [&str; 3] = ["bytes added to", "bytes punched out of", "ms added to the last write to"];

pub(crate) struct FilesWatch {
    paths: Vec<PathBuf>,
    /// Whether mindful's sessions write to the files.
    updates: bool,
    /// Of each file since its first reading: the length then, the most bytes allocated so far, and the last write then, ms.
    first: Vec<Option<[i64; 3]>>,
}

impl FilesWatch {
    pub(crate) fn new(paths: Vec<PathBuf>, workload: &Workload) -> Self {
        let first = vec![None; paths.len()];
        Self { paths, updates: !workload.update_pct.is_none(), first }
    }
}

impl Watch for FilesWatch {
    fn name(&self) -> &'static str {
        "files"
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        let mut found = Vec::new();
        for (path, first) in self.paths.iter().zip(&mut self.first) {
            let file = path.metadata().ok();
            let one = |what: &str, value: Option<String>| {
                Circumstance::new(format!("{what} {}", path.display()), value, Decides::Layout)
            };
            found.push(one("file", file.as_ref().map(|file| format!("{}:{}", file.dev(), file.ino()))));
            let Some(file) = file.filter(|file| !self.updates && !file.file_type().is_block_device()) else { continue };
            let written_ms = file.mtime() * 1_000 + file.mtime_nsec() / 1_000_000;
            let length = file.len().cast_signed();
            // Less space for the bytes of the file means a hole. File systems may allocate it some time after a write, or
            // more than that at first.
            let allocated = (file.blocks().cast_signed() * 512).min(length);
            let [first_length, most_allocated, first_written_ms] = first.get_or_insert([length, allocated, written_ms]);
            *most_allocated = allocated.max(*most_allocated);
            let differences = [length - *first_length, *most_allocated - allocated, written_ms - *first_written_ms];
            found.extend(DIFFERENCES.iter().zip(differences).map(|(name, value)| one(name, Some(value.to_string()))));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, FileTimes};
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn a_hole_is_a_change_and_later_allocation_is_not() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let [absent, path] = ["absent", "file"].map(|name| folder.path().join(name));
        let file = File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        let times = FileTimes::new().set_modified(file.metadata().unwrap().modified().unwrap());
        let mut watch = FilesWatch::new(vec![absent.clone(), path.clone()], &Workload::reads_only(1, 100, 1));
        let mut values = |of: &std::path::Path| {
            let found = watch.read().unwrap().into_iter().filter(|one| one.name.ends_with(&of.display().to_string()));
            found.filter_map(|one| one.value).collect::<Vec<_>>()
        };
        let first = values(&path);
        file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        file.set_times(times).unwrap();
        assert_eq!(values(&path), first);
        let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&file, flags, 0, 1 << 19).unwrap();
        file.set_times(times).unwrap();
        assert_ne!(values(&path), first);
        assert!(values(&absent).is_empty());
        fs::write(&absent, "text").unwrap();
        assert_eq!(values(&absent)[1..], ["0"; 3], "it is compared with another file");
    }
}
