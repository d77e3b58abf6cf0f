//! Levels that do not count the same: data and log in other places than they seem, and syncs that do not reach a
//! device.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::{place, write_program};

use crate::lies::layers::{EXT4, Mounted, run};
use crate::mindful::report::{retried, while_repeated};
use crate::mindful::small_disk::folder_in_memory;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, short_run};

/// Each update has its own commit, and updates are too few to wait for each other.
pub(super) const UPDATES: &str = "--update-pct 100 --work-unit 1 --sessions 1 --think-time 2ms..2ms";

const SMALL_CACHE: &str = "--set shared_buffers=1MB";

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

/// A database folder that is a link to a loop device over a file in memory.
#[test]
fn a_link_to_a_loop_device_in_memory_is_no_storage() {
    let mindful = Mindful::beside_others(place()).with_private();
    let memory = folder_in_memory();
    let Some(mounted) = Mounted::over(&memory.path().join("image"), mindful.path("elsewhere"), EXT4, false) else {
        return;
    };
    moved(&mindful.private_folder(), "base", &mounted.folder);
    let report = mindful.private_run((SMALL_CACHE, PAUSES));
    report.assert_suspect("data-in-memory");
    let layer = format!("the file of {} is not on a disk: tmpfs", mounted.name());
    assert!(report.evidence("data-in-memory").starts_with(&layer), "{report}");
    assert!(!report.headline().contains("storage iops"), "{report}");
    // Before the folder is unmounted.
    drop(mindful);
}

#[test]
fn a_log_in_memory_is_not_durable() {
    let mindful = Mindful::beside_others(place()).with_private();
    let honest = mindful.private_run(UPDATES);
    assert!(!honest.has("not-durable"), "{honest}");
    assert!(honest.text.contains("each update, waiting for the WAL"), "{honest}");
    let memory = folder_in_memory();
    moved(&mindful.private_folder(), "pg_wal", memory.path());
    let report = mindful.private_run(UPDATES);
    report.assert_suspect("not-durable");
    assert!(report.evidence("not-durable").starts_with("tmpfs at /dev/shm"), "{report}");
}

/// A library that lets one of `one_of` syncs pass, or none; the others do nothing.
fn swallowing(mindful: &Mindful, one_of: u32) -> PathBuf {
    let passes = if one_of == 0 { "0".to_owned() } else { format!("count++ % {one_of} == 0") };
    mindful.library(&format!(
        "#include <sys/syscall.h>\n#include <unistd.h>\nstatic unsigned count;\n\
         int fsync(int f) {{ return {passes} ? syscall(SYS_fsync, f) : 0; }}\n\
         int fdatasync(int f) {{ return {passes} ? syscall(SYS_fdatasync, f) : 0; }}\n"
    ))
}

/// A mindful, and arguments for runs on a private server that preloads such a library.
fn preloading(one_of: u32) -> (Mindful, String) {
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
    write_program(&bin.join("postgres"), &script);
    let server = format!("--data-dir {} --pg-bin {}", mindful.path("users").display(), bin.display());
    (mindful, server)
}

/// Writes a block of a file and syncs it.
fn flushing(mindful: &Mindful) -> impl FnMut() + Send {
    let other = fs::File::create(mindful.path("other")).unwrap();
    move || {
        other.write_all_at(&[7; 512], 0).unwrap();
        other.sync_data().unwrap();
    }
}

#[test]
fn a_server_with_swallowed_syncs_is_not_durable() {
    let (mindful, server) = preloading(0);
    let alone = mindful.short_run((&server, UPDATES));
    alone.assert_suspect("not-durable");
    // The device also counts the flushes of others.
    let beside = while_repeated(flushing(&mindful), || mindful.short_run((&server, UPDATES)));
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
    let Some(mounted) = Mounted::over(&mindful.path("image"), mindful.path("log"), EXT4, false) else { return };
    moved(&mindful.path("users"), "pg_wal", &mounted.folder);
    let report = mindful.short_run((&server, "--update-pct 100 --work-unit 1 --sessions 8"));
    report.assert_suspect("not-durable");
    // Before the folder is unmounted.
    drop(mindful);
}

#[cfg(feature = "sqlite")]
#[test]
fn an_sqlite_with_swallowed_syncs_is_not_durable() {
    let mindful = Mindful::beside_others(place());
    let args = ("--target sqlite:data.db", UPDATES);
    let honest = mindful.short_run(args);
    assert!(!honest.has("not-durable"), "{honest}");
    let library = swallowing(&mindful, 0);
    let run = || {
        let mut swallowed = mindful.command(short_run(args));
        mindful.report(&swallowed.env("LD_PRELOAD", &library).output().unwrap())
    };
    let report = retried(run, |report| report.has("not-durable"));
    // Flushes of others at the device may hide that there are none of SQLite, and prove nothing.
    assert!(report.has("not-durable") || report.disturbed(), "{report}");
    assert!(!report.headline().contains("durable commits per second"), "{report}");
    let never = mindful.short_run((args, "--synchronous off"));
    assert!(never.headline().contains("not durable") && never.text.contains("synchronous = off"), "{never}");
}

/// There are no reads, so only writes show the other job.
#[test]
fn a_writer_next_to_a_run_is_found() {
    let mindful = Mindful::beside_others(place()).with_private();
    let out = mindful.path("other").display().to_string();
    let write = || {
        let _ = run("dd", format!("if=/dev/zero of={out} bs=1M count=64 oflag=direct conv=notrunc"));
    };
    let beside = while_repeated(write, || mindful.private_run((SMALL_CACHE, PAUSES)));
    beside.assert_suspect_of("foreign-writes", "MiB/s written at the device");
}

/// A small file that is synced repeatedly: almost nothing is written.
#[test]
fn a_neighbour_that_flushes_the_device_is_found() {
    let mindful = Mindful::beside_others(place()).with_private();
    let beside = while_repeated(flushing(&mindful), || mindful.private_run((SMALL_CACHE, PAUSES)));
    beside.assert_suspect_of("foreign-writes", "flushes/s that the run did not ask for");
}

#[test]
fn another_session_that_computes_in_the_server_is_found() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let alone = server.run(&mindful, PAUSES);
    assert!(!alone.has("others-active"), "{alone}");
    let beside = server.run_beside(&mindful, PAUSES, "SELECT count(*) FROM generate_series(1, 2000000)");
    beside.assert_suspect_of("others-active", "sessions of others");
}

/// Takes a file out of the page cache.
pub(super) fn forget(file: &Path) {
    run("dd", format!("of={} oflag=nocache conv=notrunc,fdatasync count=0", file.display())).unwrap();
}

/// Another backend reads from storage, uncounted by the database, as much as the page cache serves to the run.
#[test]
fn a_backend_that_reads_storage_does_not_hide_the_page_cache() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=1MB,debug_io_direct=");
    let warm = server.run(&mindful, PAUSES);
    let theirs = mindful.path("theirs");
    fs::write(&theirs, vec![7; 64 << 20]).unwrap();
    fs::set_permissions(&theirs, PermissionsExt::from_mode(0o644)).unwrap();
    let read = || {
        forget(&theirs);
        server.sql(&format!("SELECT length(pg_read_binary_file('{}'))", theirs.display()));
    };
    let beside = while_repeated(read, || server.run(&mindful, PAUSES));
    for report in [warm, beside] {
        report.assert_suspect("page-cache");
        assert!(report.figure("page_cache_share") > 0.5, "{report}");
        assert!(!report.headline().contains("storage iops"), "{report}");
    }
}
