//! File systems that are full or read-only, reported in one line with the next step. They are mounted, which needs
//! root.

use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::{Fixture, not_run, slice_of};
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::plan::units::Share;
use mindful_core::workload::Workload;
use mindful_core::{ErrorKind, Result};

/// A small file system in memory, unmounted when dropped.
struct Mount {
    folder: tempfile::TempDir,
}

impl Mount {
    /// `None` if nothing can be mounted: that needs root, and a container may forbid it even then.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mount = Command::new("mount");
        let tried = mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(folder.path()).output();
        let why = match tried {
            Ok(output) if output.status.success() => return Some(Self { folder }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned(),
            Err(error) => error.to_string(),
        };
        not_run(&format!("it needs root to mount a file system: {why}"));
        None
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fixture(&self) -> Fixture {
        Fixture::new(&mindful_sqlite::ENGINE, format!("sqlite:{}", self.file("mindful.db").display()))
    }

    fn fill(&self) {
        let written = std::fs::write(self.file("fill"), vec![1; 32 << 20]);
        assert!(written.is_err(), "the file system is larger than thought");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &[], self.folder.path());
    }
}

fn run(program: &str, arguments: &[&str], last: &Path) {
    let status = Command::new(program).args(arguments).arg(last).status().expect("a program to run");
    assert!(status.success(), "{program} {arguments:?} {}: {status}", last.display());
}

fn work(fixture: &Fixture, workload: &Workload) -> Result<u64> {
    let target = fixture.open();
    target.prepare(workload, 1)?;
    let mut session = target.session(workload, Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 })?;
    let order = SliceOrder { max_ops: Some(400), ..slice_of(&*target, 60_000_000) };
    Ok(session.run_slice(&order)?.total_ops())
}

#[test]
fn a_full_file_system_is_reported() {
    let Some(mount) = Mount::new() else { return };
    let fixture = mount.fixture();
    drop(fixture.loaded());
    mount.fill();
    let workload = Workload { update_pct: Share::ALL, update_work_unit: 100, ..fixture.workload() };
    let error = work(&fixture, &workload).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Run, "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    std::fs::remove_file(mount.file("fill")).unwrap();
    assert_eq!(work(&fixture, &Workload { update_work_unit: 1, ..workload }).unwrap(), 400, "and continues afterwards");
}

#[test]
fn a_read_only_file_system_is_reported() {
    let Some(mount) = Mount::new() else { return };
    let fixture = mount.fixture();
    drop(fixture.loaded());
    run("mount", &["-o", "remount,ro"], mount.folder.path());
    // Even reading needs the log's index next to the file.
    let writing = Workload { update_pct: Share::ALL, ..fixture.workload() };
    let read = work(&fixture, &fixture.workload()).unwrap_err();
    let updated = work(&fixture, &writing).unwrap_err();
    let cleaned = fixture.open().cleanup().unwrap_err();
    for error in [read, updated, cleaned] {
        assert_eq!(error.kind, ErrorKind::Target, "{error}");
        assert!(error.to_string().contains("may not be written"), "{error}");
    }
    run("mount", &["-o", "remount,rw"], mount.folder.path());
    assert_eq!(work(&fixture, &writing).unwrap(), 400, "and continues afterwards");
}
