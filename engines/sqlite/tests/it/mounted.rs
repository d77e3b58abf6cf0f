//! File systems that are full or read-only, reported in one line with the next step. They are mounted, which needs
//! root.

use mindful_conformance::{Fixture, Mount, run_as_root, slice_of};
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::plan::units::Share;
use mindful_core::workload::Workload;
use mindful_core::{ErrorKind, Result};

/// A small file system in memory, with a dataset in a file on it.
fn mounted() -> Option<(Mount, Fixture)> {
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=24m", "tmpfs"])?;
    let path = mount.path().join("mindful.db");
    let fixture = Fixture::new(&mindful_sqlite::ENGINE, format!("sqlite:{}", path.display()));
    drop(fixture.loaded());
    Some((mount, fixture))
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
    let Some((mount, fixture)) = mounted() else { return };
    let fill = mount.path().join("fill");
    assert!(std::fs::write(&fill, vec![1; 32 << 20]).is_err(), "the file system is larger than thought");
    let workload = Workload { update_pct: Share::ALL, update_work_unit: 100, ..fixture.workload() };
    let error = work(&fixture, &workload).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Run, "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    std::fs::remove_file(fill).unwrap();
    assert_eq!(work(&fixture, &Workload { update_work_unit: 1, ..workload }).unwrap(), 400, "and continues afterwards");
}

#[test]
fn a_read_only_file_system_is_reported() {
    let Some((mount, fixture)) = mounted() else { return };
    let remount = |how: &str| run_as_root("mount", &["-o", how, mount.path().to_str().unwrap()]).unwrap();
    remount("remount,ro");
    // Even reading needs the log's index next to the file.
    let writing = Workload { update_pct: Share::ALL, ..fixture.workload() };
    let read = work(&fixture, &fixture.workload()).unwrap_err();
    let updated = work(&fixture, &writing).unwrap_err();
    let cleaned = fixture.open().cleanup().unwrap_err();
    for error in [read, updated, cleaned] {
        assert_eq!(error.kind, ErrorKind::Target, "{error}");
        assert!(error.to_string().contains("may not be written"), "{error}");
    }
    remount("remount,rw");
    assert_eq!(work(&fixture, &writing).unwrap(), 400, "and continues afterwards");
}
