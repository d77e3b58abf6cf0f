//! Levels that do not count the same: data and log in other places than they seem, and syncs that do not reach a
//! device.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::{not_run, place};

use crate::mindful::report::{Report, retried, while_repeated};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES};

/// Each update has its own commit, and updates are too few to wait for each other.
pub(super) const UPDATES: [&str; 8] =
    ["--update-pct", "100", "--work-unit", "1", "--sessions", "1", "--think-time", "2ms..2ms"];

/// Moves `name` of a private server in `data` to `place`, and links to it.
pub(super) fn moved(data: &Path, name: &str, place: &Path) {
    let folder = data.join("pgdata").join(name);
    let copied = Command::new("cp").arg("-a").args([&folder, &place.join(name)]).status().unwrap();
    assert!(copied.success());
    // Otherwise the kernel writes the copy during the run.
    assert!(Command::new("sync").arg("-f").arg(place).status().unwrap().success());
    fs::remove_dir_all(&folder).unwrap();
    symlink(place.join(name), &folder).unwrap();
}

/// A folder in memory that others may enter.
fn in_memory() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("mindful-lies-").tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

/// An ext4 on a loop device, until this is dropped.
pub(super) struct Loop {
    pub(super) device: String,
    pub(super) folder: PathBuf,
}

fn run(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Loop {
    pub(super) fn over(image: &Path, folder: PathBuf) -> Option<Self> {
        fs::File::create(image).and_then(|file| file.set_len(512 << 20)).ok()?;
        let device = run("losetup", &["--find", "--show", &image.display().to_string()])?;
        let mounted = Self { device, folder };
        fs::create_dir_all(&mounted.folder).ok()?;
        // Otherwise the kernel writes tables of the new file system during the run.
        run("mkfs.ext4", &["-qF", "-E", "lazy_itable_init=0,lazy_journal_init=0", &mounted.device])?;
        run("mount", &[&mounted.device, &mounted.folder.display().to_string()])?;
        Some(mounted)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run("umount", &[&self.folder.display().to_string()]);
        run("losetup", &["--detach", &self.device]);
    }
}

/// A database folder that is a link to a loop device over a file in memory.
#[test]
fn a_link_to_a_loop_device_in_memory_is_no_storage() {
    let mindful = Mindful::beside_others(place()).with_private();
    let memory = in_memory();
    let Some(mounted) = Loop::over(&memory.path().join("image"), mindful.path("elsewhere")) else {
        return not_run("it mounts a file system on a loop device, which takes root");
    };
    moved(&mindful.private_folder(), "base", &mounted.folder);
    let report = mindful.private_run(&["--set", "shared_buffers=1MB", PAUSES[0], PAUSES[1]]);
    report.assert_suspect("data-in-memory");
    let device = mounted.device.trim_start_matches("/dev/");
    assert!(
        report.evidence("data-in-memory").starts_with(&format!("the file of {device} is not on a disk: tmpfs")),
        "{report}"
    );
    assert!(!report.headline().contains("storage iops"), "{report}");
    // Before the folder is unmounted.
    drop(mindful);
}

#[test]
fn a_log_in_memory_is_not_durable() {
    let mindful = Mindful::beside_others(place()).with_private();
    let honest = mindful.private_run(&UPDATES);
    assert!(!honest.has("not-durable"), "{honest}");
    assert!(honest.text.contains("each update, waiting for the WAL"), "{honest}");
    let memory = in_memory();
    moved(&mindful.private_folder(), "pg_wal", memory.path());
    let report = mindful.private_run(&UPDATES);
    report.assert_suspect("not-durable");
    assert!(report.evidence("not-durable").starts_with("tmpfs at /dev/shm"), "{report}");
}

/// A library that lets one of `one_of` syncs pass, or none; the others do nothing.
fn swallowing(mindful: &Mindful, one_of: u32) -> PathBuf {
    let (source, library) = (mindful.path("swallow.c"), mindful.path("swallow.so"));
    let passes = if one_of == 0 { "0".to_owned() } else { format!("count++ % {one_of} == 0") };
    let text = format!(
        "#include <sys/syscall.h>\n#include <unistd.h>\nstatic unsigned count;\n\
         int fsync(int f) {{ return {passes} ? syscall(SYS_fsync, f) : 0; }}\n\
         int fdatasync(int f) {{ return {passes} ? syscall(SYS_fdatasync, f) : 0; }}\n"
    );
    fs::write(&source, text).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(made.success());
    library
}

/// A mindful, and arguments for runs on a private server that preloads such a library.
fn preloading(one_of: u32) -> (Mindful, [String; 4]) {
    let (mindful, server) = UsersServer::beside_others("");
    let program = fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
    drop(server);
    let library = swallowing(&mindful, one_of);
    let bin = mindful.path("bin");
    fs::create_dir(&bin).unwrap();
    for entry in fs::read_dir(program.parent().unwrap()).unwrap().flatten() {
        symlink(entry.path(), bin.join(entry.file_name())).unwrap();
    }
    fs::remove_file(bin.join("postgres")).unwrap();
    let script = format!("#!/bin/sh\nLD_PRELOAD={} exec {} \"$@\"\n", library.display(), program.display());
    fs::write(bin.join("postgres"), script).unwrap();
    fs::set_permissions(bin.join("postgres"), PermissionsExt::from_mode(0o755)).unwrap();
    let [data, bin] = [mindful.path("users"), bin].map(|path| path.display().to_string());
    (mindful, ["--data-dir".to_owned(), data, "--pg-bin".to_owned(), bin])
}

fn run_on(mindful: &Mindful, server: &[String; 4], args: &[&str]) -> Report {
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    mindful.report(&mindful.short_run(&[&server, args].concat()))
}

#[test]
fn a_server_with_swallowed_syncs_is_not_durable() {
    let (mindful, server) = preloading(0);
    let alone = run_on(&mindful, &server, &UPDATES);
    alone.assert_suspect("not-durable");
    // The device also counts the flushes of others.
    let other = fs::File::create(mindful.path("other")).unwrap();
    let flush = || {
        std::os::unix::fs::FileExt::write_all_at(&other, &[7; 512], 0).unwrap();
        other.sync_data().unwrap();
    };
    let beside = while_repeated(flush, || run_on(&mindful, &server, &UPDATES));
    beside.assert_suspect("not-durable");
    for report in [alone, beside] {
        assert!(
            report.evidence("not-durable").contains("flush") && report.headline().contains("not durable"),
            "{report}"
        );
    }
}

#[test]
fn every_second_sync_swallowed_is_not_durable() {
    let (mindful, server) = preloading(2);
    // A device of the log's own: others do not flush it.
    let Some(mounted) = Loop::over(&mindful.path("image"), mindful.path("log")) else {
        return not_run("it mounts a file system on a loop device, which takes root");
    };
    moved(&mindful.path("users"), "pg_wal", &mounted.folder);
    let report = run_on(&mindful, &server, &["--update-pct", "100", "--work-unit", "1", "--sessions", "8"]);
    report.assert_suspect("not-durable");
    // Before the folder is unmounted.
    drop(mindful);
}

#[cfg(feature = "sqlite")]
#[test]
fn an_sqlite_with_swallowed_syncs_is_not_durable() {
    let mindful = Mindful::beside_others(place());
    let target = format!("sqlite:{}", mindful.path("data.db").display());
    let args = [&["--target", &target], &UPDATES[..]].concat();
    let honest = mindful.report(&mindful.short_run(&args));
    assert!(!honest.has("not-durable"), "{honest}");
    let library = swallowing(&mindful, 0);
    let run = || {
        let mut swallowed = mindful.command(&crate::mindful::short_run(&args));
        mindful.report(&swallowed.env("LD_PRELOAD", &library).output().unwrap())
    };
    let report = retried(run, |report| report.has("not-durable"));
    // Flushes of others at the device may hide that there are none of SQLite, and prove nothing.
    assert!(report.has("not-durable") || report.disturbed(), "{report}");
    assert!(!report.headline().contains("durable commits per second"), "{report}");
    let never = mindful.report(&mindful.short_run(&[&args[..], &["--synchronous", "off"]].concat()));
    assert!(never.headline().contains("not durable") && never.text.contains("synchronous = off"), "{never}");
}

/// There are no reads, so only writes show the other job.
#[test]
fn a_writer_next_to_a_run_is_found() {
    let mindful = Mindful::beside_others(place()).with_private();
    let other = mindful.path("other");
    let write = || {
        let out = format!("of={}", other.display());
        run("dd", &["if=/dev/zero", &out, "bs=1M", "count=64", "oflag=direct", "conv=notrunc"]);
    };
    let beside = while_repeated(write, || mindful.private_run(&["--set", "shared_buffers=1MB", PAUSES[0], PAUSES[1]]));
    beside.assert_suspect("foreign-writes");
    assert!(beside.evidence("foreign-writes").contains("MiB/s written at the device"), "{beside}");
}

/// A small file that is synced repeatedly: almost nothing is written.
#[test]
fn a_neighbour_that_flushes_the_device_is_found() {
    let mindful = Mindful::beside_others(place()).with_private();
    let other = fs::File::create(mindful.path("other")).unwrap();
    let flush = || {
        std::os::unix::fs::FileExt::write_all_at(&other, &[7; 512], 0).unwrap();
        other.sync_data().unwrap();
    };
    let beside = while_repeated(flush, || mindful.private_run(&["--set", "shared_buffers=1MB", PAUSES[0], PAUSES[1]]));
    beside.assert_suspect("foreign-writes");
    assert!(beside.evidence("foreign-writes").contains("flushes/s that the run did not ask for"), "{beside}");
}

#[test]
fn another_session_that_computes_in_the_server_is_found() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let alone = server.run(&mindful, &PAUSES);
    assert!(!alone.has("others-active"), "{alone}");
    let computes = "SELECT count(*) FROM generate_series(1, 2000000)";
    let beside = server.run_beside(&mindful, &PAUSES, computes);
    beside.assert_suspect("others-active");
    assert!(beside.evidence("others-active").contains("sessions of others"), "{beside}");
}

/// Another backend reads from storage, uncounted by the database, as much as the page cache serves to the run.
#[test]
fn a_backend_that_reads_storage_does_not_hide_the_page_cache() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=1MB,debug_io_direct=");
    let warm = server.run(&mindful, &PAUSES);
    let theirs = mindful.path("theirs");
    fs::write(&theirs, vec![7; 64 << 20]).unwrap();
    fs::set_permissions(&theirs, PermissionsExt::from_mode(0o644)).unwrap();
    let read = || {
        // Takes the file out of the page cache.
        run("dd", &[&format!("of={}", theirs.display()), "oflag=nocache", "conv=notrunc,fdatasync", "count=0"]);
        server.sql(&format!("SELECT length(pg_read_binary_file('{}'))", theirs.display()));
    };
    let beside = while_repeated(read, || server.run(&mindful, &PAUSES));
    for report in [warm, beside] {
        report.assert_suspect("page-cache");
        assert!(report.figure("page_cache_share") > 0.5, "{report}");
        assert!(!report.headline().contains("storage iops"), "{report}");
    }
}
