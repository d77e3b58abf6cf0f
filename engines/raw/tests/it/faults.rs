//! Faults are reported in one clear line.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use crate::support::{
    LoopDevice, Mount, WAYS, folder, load, made, mount_ext4, open, open_with, plan, reads, refusal, session, slice,
    work, working,
};
use mindful_conformance::{Notes, assert_says};
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;

#[test]
fn a_file_cut_short_while_it_is_read_is_named_with_its_end() {
    for way in WAYS {
        let folder = folder();
        let path = made(folder.path(), 500);
        let (_target, mut session) = working(&path, way, reads);
        slice(&mut *session, 60_000, 0, Some(100)).unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len((1 << 20) + 100 * 8_192 + 4_096).unwrap();
        let line = refusal(slice(&mut *session, 60_000, 100, Some(1_000)));
        assert!(line.contains("truncated") && line.contains(path.to_str().unwrap()), "{way:?}: {line}");
        assert_says(refusal(open(&path, way)), &["shorter than it was made"]);
    }
}

#[test]
fn a_flipped_bit_is_found_by_verify() {
    let folder = folder();
    let path = made(folder.path(), 50);
    let mut content = fs::read(&path).unwrap();
    content[(1 << 20) + 20 * 8_192 + 5_000] ^= 4;
    // Written in place: the file stays mindful's own.
    std::os::unix::fs::FileExt::write_all_at(&OpenOptions::new().write(true).open(&path).unwrap(), &content, 0)
        .unwrap();
    for way in WAYS {
        work(&path, way, reads, 500).unwrap();
        assert_says(
            refusal(work(&path, &[way, &[("verify", "on")]].concat(), reads, 500)),
            &["wrong data in the sector at byte 1217024"],
        );
    }
    let proof = open(&path, &[]).unwrap().verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.schemas[0].distinct_blocks, 49);
    assert!(proof.failure().is_some());
}

#[test]
fn a_file_system_in_memory_has_no_direct_io_and_says_so() {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a tmpfs on /dev/shm");
    let path = folder.path().join("blocks");
    load(&*open(&path, &[]).unwrap(), 1, 100).unwrap();
    assert_says(refusal(work(&path, &[], reads, 10)), &["no direct I/O", "--direct off"]);
    assert_eq!(work(&path, &[("direct", "off"), ("iodepth", "4")], reads, 100).unwrap().total_ops(), 100);
}

#[test]
fn options_beyond_their_limits_are_refused_at_once() {
    for (options, word) in [
        (&[("iodepth", "5000")][..], "give 0 to 4096"),
        (&[("iodepth", "0")], "reads nothing"),
        (&[("iodepth", "2048"), ("block_size", "1MiB")], "of buffers"),
        (&[("iodepth", "2"), ("io", "psync")], "one I/O in flight"),
        (&[("block_size", "12KiB")], "power of two"),
        (&[("block_size", "256B")], "give 512B to 64MiB"),
        (&[("cpus", "3-1")], "not a list of CPUs"),
        (&[("span", "90%..10%")], "not a span"),
        (&[("combine", "stripe"), ("stripe_size", "4KiB")], "cannot hold an I/O"),
        (&[("io", "mmap")], "choose uring, psync"),
    ] {
        assert_says(refusal(open(Path::new("/nowhere/at/all"), options)), &[word]);
    }
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let folder = folder();
    let path = made(folder.path(), 50);
    assert_says(refusal(work(&path, &[("cpus", "1000")], reads, 10)), &["cannot run on CPUs [1000]"]);
}

#[test]
fn a_load_that_does_not_fit_is_refused_and_makes_nothing() {
    let folder = folder();
    let path = folder.path().join("blocks");
    let line = refusal(load(&*open(&path, &[]).unwrap(), 1, 1 << 36));
    assert!(line.contains("512 TiB") || line.contains("512.00 TiB"), "{line}");
    assert!(line.contains("the load needs") && line.contains(" free"), "{line}");
    assert!(!path.exists());
}

#[test]
fn a_made_file_has_no_holes() {
    use std::os::unix::fs::MetadataExt;
    let folder = folder();
    let path = made(folder.path(), 1_000);
    let metadata = path.metadata().unwrap();
    assert!(metadata.blocks() * 512 >= metadata.len(), "{} blocks for {} bytes", metadata.blocks(), metadata.len());
}

#[test]
fn without_io_uring_blocks_are_read_by_pread_and_it_says_so() {
    let folder = folder();
    let path = made(folder.path(), 200);
    // The filter affects only the thread that sets it.
    let forbidden = std::thread::spawn(move || {
        forbid_io_uring();
        let notes = Arc::new(Notes::default());
        let target = open_with(&[&path], &[("iodepth", "8")], &notes).unwrap();
        let workload = reads(&target.dataset().unwrap().unwrap());
        let mut session = session(&*target, &workload).unwrap();
        assert_eq!(slice(&mut *session, 60_000, 0, Some(100)).unwrap().total_ops(), 100);
        notes.find("no-io-uring").unwrap()
    });
    assert_says(forbidden.join().unwrap(), &["pread", "iodepth", "not permitted"]);
}

/// Lets `io_uring_setup` fail on this thread with EPERM, as a container's seccomp profile does.
#[expect(unsafe_code, reason = "the filter is handed to the kernel by address")]
fn forbid_io_uring() {
    let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live until the call has returned; the kernel keeps a copy.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(set, "{}", std::io::Error::last_os_error());
}

#[test]
fn a_device_that_fails_is_named() {
    for way in [&[("iodepth", "8")][..], &[("io", "psync")]] {
        let Some(device) = LoopDevice::new(8) else { return };
        let (_target, mut session) = working(&device.path, way, reads);
        slice(&mut *session, 60_000, 0, Some(100)).unwrap();
        OpenOptions::new().write(true).open(&device.backing).unwrap().set_len(4 << 20).unwrap();
        let line = refusal(slice(&mut *session, 60_000, 100, Some(1_000)));
        assert!(line.contains("the device failed or is gone") && line.contains(device.name()), "{line}");
    }
}

#[test]
fn a_device_that_is_gone_is_named() {
    let Some(mut device) = LoopDevice::new(8) else { return };
    let path = device.path.clone();
    let target = open(&path, &[("iodepth", "8")]).unwrap();
    device.detach();
    let line = refusal(target.dataset());
    assert!(line.contains(path.to_str().unwrap()), "{line}");
    assert!(line.contains("gone") || line.contains("No such device"), "{line}");
}

#[test]
fn a_file_system_that_fills_up_during_the_load_is_named() {
    let Some(in_memory) = Mount::new(&["-t", "tmpfs", "-o", "size=24m", "tmpfs"]) else { return };
    let Some(device) = LoopDevice::new(40) else { return };
    let Some(on_disk) = mount_ext4(&device) else { return };
    for (mount, direct, others_mib) in [(&in_memory, "off", 16), (&on_disk, "on", 24)] {
        let path = mount.path().join("blocks");
        let target = open(&path, &[("direct", direct)]).unwrap();
        let stop = StopFlag::default();
        stop.request();
        refusal(target.load(&plan(1, 2_000), &Silent, &stop));
        // Another process fills the space between the check and the first block.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(4_096).unwrap();
        fs::write(mount.path().join("other"), vec![1; others_mib << 20]).unwrap();
        assert_says(refusal(load(&*target, 1, 2_000)), &["No space left on device", "free some space"]);
    }
}

#[test]
fn the_kernel_counts_as_many_reads_as_were_made() {
    let Some(device) = LoopDevice::new(64) else { return };
    let name = device.path.file_name().unwrap().to_str().unwrap().to_owned();
    let completed = || -> f64 {
        let table = fs::read_to_string("/proc/diskstats").unwrap();
        let line = table.lines().find(|line| line.split_whitespace().nth(2) == Some(&name)).unwrap();
        line.split_whitespace().nth(3).unwrap().parse().unwrap()
    };
    for way in [&[("iodepth", "8")][..], &[("iodepth", "64")], &[("io", "psync")]] {
        let before = completed();
        let report = work(&device.path, way, reads, 20_000).unwrap();
        let (counted, made) = (completed() - before, report.total_ops() as f64);
        assert!((counted / made - 1.0).abs() < 0.005, "{way:?}: {counted} counted, {made} made");
    }
}
