//! Files and devices that are never written.

use std::fs;
use std::os::unix::fs::{FileExt, FileTypeExt, symlink};
use std::path::{Path, PathBuf};

use crate::support::{
    LoopDevice, folder, made, mount_ext4, open, plan, reads, refusal, run, slice, updates, work, working,
};
use mindful_conformance::{assert_says, not_run};
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;

/// Every way to write `path` is refused, even with the device named twice; returns the first refusal.
fn never_written(path: &Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let resolved = path.canonicalize().unwrap();
    let typed = [path.to_str().unwrap(), &name, resolved.to_str().unwrap()].join(",");
    let mut refusals = Vec::new();
    for options in [vec![], vec![("destroy_data", typed.as_str())], vec![("destroy_data", &typed), ("io", "psync")]] {
        let target = open(path, &options).unwrap();
        let dataset = target.dataset().unwrap().unwrap();
        refusals.push(refusal(target.prepare(&updates(&dataset, "100"), 1)));
        refusals.push(refusal(target.load(&plan(1, 10), &Silent, &StopFlag::default())));
        let objects = target.cleanup().unwrap();
        assert!(objects.iter().all(|object| object.kept_because.is_some()), "{objects:?}");
    }
    assert!(path.exists());
    refusals.remove(0)
}

/// Also not one that a link leads to, a copy of a marked one, and one that only begins like a marked one.
#[test]
fn a_file_without_the_mark_is_read_and_never_written() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("precious"), (0..2_u32 << 20).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
    symlink(at("precious"), at("link")).unwrap();
    fs::copy(made(folder.path(), 100), at("copy")).unwrap();
    fs::write(at("forged"), [&b"mindful raw file"[..], &vec![1; 2 << 20]].concat()).unwrap();
    for path in ["precious", "link", "copy", "forged"].map(at) {
        let before = fs::read(&path).unwrap();
        assert_says(never_written(&path), &["was not made by mindful"]);
        assert_eq!(work(&path, &[("iodepth", "4")], reads, 250).unwrap().total_ops(), 250);
        assert!(fs::read(&path).unwrap() == before, "{} has changed", path.display());
    }
}

#[test]
fn a_marked_file_is_updated_and_still_checks() {
    let folder = folder();
    let path = made(folder.path(), 300);
    for way in [&[("iodepth", "8")][..], &[("io", "psync")]] {
        let options = [way, &[("verify", "on")]].concat();
        let report = work(&path, &options, |dataset| updates(dataset, "50"), 2_000).unwrap();
        assert_eq!((report.ops[0].ops, report.ops[1].ops), (1_000, 1_000));
    }
    let proof = open(&path, &[]).unwrap().verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.schemas[0].distinct_blocks, 300);
}

#[test]
fn a_file_put_in_the_place_of_the_marked_one_is_not_written() {
    let folder = folder();
    let path = made(folder.path(), 100);
    let (_target, mut session) = working(&path, &[("iodepth", "4")], |dataset| updates(dataset, "100"));
    fs::rename(&path, folder.path().join("away")).unwrap();
    let content = vec![9; 4 << 20];
    fs::write(&path, &content).unwrap();
    assert_eq!(slice(&mut *session, 60_000, 0, Some(200)).unwrap().total_ops(), 200);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn cleanup_removes_marked_files_and_nothing_else() {
    let folder = folder();
    let path = made(folder.path(), 100);
    let target = open(&path, &[]).unwrap();
    assert_eq!(target.inventory().unwrap()[0].kept_because, None);
    assert!(path.exists(), "listing removes nothing");
    target.cleanup().unwrap();
    assert!(!path.exists());
    assert!(target.dataset().unwrap().is_none());
}

#[test]
fn neither_folder_nor_pipe_nor_character_device_is_opened() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    run("mkfifo", &[pipe.to_str().unwrap()]);
    for path in [folder.path(), &pipe, Path::new("/dev/null")] {
        assert_says(refusal(open(path, &[])), &["neither a file nor a block device"]);
    }
}

#[test]
fn the_device_under_the_root_file_system_is_never_written() {
    let folder = folder();
    let alias = folder.path().join("innocent");
    let Some(device) = device_of_root() else { return not_run("no mounted file system lies on a device that is seen") };
    symlink(&device, &alias).unwrap();
    let (whole, short) =
        (device.to_str().unwrap().to_owned(), device.file_name().unwrap().to_str().unwrap().to_owned());
    for path in [&device, &alias] {
        // No session is made here: the preparation itself must refuse.
        let prepared = open(path, &[("destroy_data", &format!("{whole},{short}"))]).and_then(|target| {
            let dataset = target.dataset()?.unwrap();
            target.prepare(&updates(&dataset, "100"), 1)
        });
        let line = refusal(prepared);
        assert!(line.contains("is mounted on") || line.contains("cannot open"), "{line}");
    }
}

/// The block device of a mounted file system of this host.
fn device_of_root() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut devices = mounts.lines().filter_map(|line| line.split(' ').next()).map(PathBuf::from);
    devices.find_map(|path| {
        let resolved = path.canonicalize().ok()?;
        let kind = resolved.metadata().ok()?.file_type();
        kind.is_block_device().then_some(resolved)
    })
}

#[test]
fn a_mounted_device_and_a_link_to_it_are_never_written() {
    let folder = folder();
    let Some(device) = LoopDevice::new(16) else { return };
    let Some(_mount) = mount_ext4(&device) else { return };
    run("sync", &[]);
    let before = device.content();
    let alias = folder.path().join("link");
    symlink(&device.path, &alias).unwrap();
    for path in [&device.path, &alias] {
        let target = open(path, &[("destroy_data", device.name())]).unwrap();
        let dataset = target.dataset().unwrap().unwrap();
        assert_says(refusal(target.prepare(&updates(&dataset, "100"), 1)), &["is mounted on"]);
        never_written(path);
    }
    assert!(device.content() == before, "not a byte changed");
}

#[test]
fn a_partitioned_device_is_never_written() {
    let Some(device) = LoopDevice::new(4) else { return };
    let backing = fs::OpenOptions::new().write(true).open(&device.backing).unwrap();
    backing.write_all_at(&[0x55, 0xaa], 510).unwrap();
    backing.sync_all().unwrap();
    run("blockdev", &["--flushbufs", device.name()]);
    let target = open(&device.path, &[("destroy_data", device.name())]).unwrap();
    let dataset = target.dataset().unwrap().unwrap();
    assert_says(refusal(target.prepare(&updates(&dataset, "100"), 1)), &["is partitioned"]);
}

#[test]
fn a_free_device_is_written_only_when_its_own_name_was_typed() {
    let Some(device) = LoopDevice::new(4) else { return };
    let before = device.content();
    for typed in [None, Some("on"), Some("/dev/loop"), Some("yes")] {
        let options: Vec<_> = typed.into_iter().map(|name| ("destroy_data", name)).collect();
        assert_says(
            refusal(work(&device.path, &options, |dataset| updates(dataset, "100"), 10)),
            &["destroys its data"],
        );
    }
    assert!(device.content() == before, "not a byte changed");
    let options = [("destroy_data", device.name()), ("iodepth", "4")];
    work(&device.path, &options, |dataset| updates(dataset, "100"), 100).unwrap();
    assert!(device.content() != before, "now it was meant");
}
