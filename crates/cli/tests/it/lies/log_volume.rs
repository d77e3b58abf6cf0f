//! A log on a volume of its own, on which nothing else writes: each sync that reaches it is counted there.

use std::path::Path;

use mindful_conformance::{not_run, place, with_tracefs};

use super::layers::{EXT4, Mounted};
use super::levels::{UPDATES, moved};
use crate::lies::control_group::ControlGroup;
#[cfg(feature = "mysql")]
use crate::mariadb::server::UsersMariaDb;
#[cfg(feature = "mysql")]
use crate::mindful::private::SMALL_LOG;
use crate::mindful::private::copy_to;
use crate::mindful::report::{Report, retried};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, unwrapped};

const UPDATES_ALONE: &str = "--update-pct 100 --work-unit 1 --duration 4s";

/// A volume below `mindful`.
fn volume(mindful: &Mindful) -> Option<Mounted> {
    Mounted::over(&mindful.path("volume.image"), mindful.path("volume"), EXT4, false)
}

fn of_log(report: &Report, name: &str) -> f64 {
    report.run["steps"][0]["log"][name].as_f64().unwrap_or_else(|| panic!("{name} is not known: {report}"))
}

/// Flushes that reached the volume, by commits.
fn flushed(report: &Report) -> f64 {
    of_log(report, "device_flushes_per_s") / report.figure("commits_per_s")
}

fn is_called_durable(report: &Report) -> bool {
    report.headline().contains("durable commits per second")
}

/// Write requests a second that a volume takes at most: fewer than one session makes on a full host.
const WRITES: u32 = 40;

/// What `run` does with one session and with 32 on a server that is held to [`WRITES`] at the volume of its `log`.
fn assert_volume_limits(volume: &Mounted, log: &str, run: impl Fn(&str) -> Report) {
    // On a full host, a server may be too slow to reach the limit.
    let held = |report: &Report| report.run["steps"][0]["limited_by"] == "log volume";
    let [one, many] = ["1", "32"].map(|sessions| retried(|| run(sessions), held));
    let device = volume.name();
    for report in [&one, &many] {
        assert_eq!(report.run["steps"][0]["limited_by"], "log volume", "{report}");
        let headline = unwrapped(&report.headline());
        assert!(headline.contains(&format!("{log} on {device}")) && headline.contains("data on "), "{report}");
        let held = format!("limited by {log} volume: the control group's write requests at {device} were");
        assert!(unwrapped(&report.text.to_lowercase()).contains(&held), "{report}");
    }
    let per_sync = [&one, &many].map(|report| of_log(report, "commits_per_sync"));
    assert!((0.8..1.2).contains(&per_sync[0]), "{one}");
    assert!(per_sync[1] > 2.0, "{many}");
}

#[test]
fn a_log_volume_at_its_limit_is_the_verdict() {
    let mindful = Mindful::beside_others(place());
    let Some(volume) = volume(&mindful) else { return };
    let data = mindful.path("users");
    copy_to(&data);
    moved(&data, "pg_wal", &volume.folder);
    let Some(writes) = ControlGroup::with_writes_of(&volume.folder, WRITES) else { return };
    let server = UsersServer::start(&mindful, "");
    writes.hold(server.pid());
    let run = |sessions: &str| server.run(&mindful, (UPDATES_ALONE, &format!("--sessions {sessions}")));
    assert_volume_limits(&volume, "wal", run);
    drop(server);
}

#[cfg(feature = "mysql")]
#[test]
fn a_log_volume_of_a_mariadb_at_its_limit_is_the_verdict() {
    let mindful = Mindful::beside_others(place());
    let Some(volume) = volume(&mindful) else { return };
    let log = volume.folder.join("log").display().to_string();
    let server = UsersMariaDb::start(&mindful.path("users"), &[("cache", "64MiB"), ("log_dir", &log)]);
    // Loads the dataset before the volume is slow.
    server.run(&mindful, "");
    let Some(writes) = ControlGroup::with_writes_of(&volume.folder, WRITES) else { return };
    writes.hold(server.pid());
    let run = |sessions: &str| server.run(&mindful, (UPDATES_ALONE, &format!("--sessions {sessions}")));
    assert_volume_limits(&volume, "redo", run);
    drop(server);
}

/// Flushes that the volume completed so far, as the kernel counts them.
fn flushes_at(volume: &Mounted) -> f64 {
    let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", volume.name())).unwrap();
    stat.split_whitespace().nth(15).and_then(|count| count.parse().ok()).expect("this kernel counts flushes")
}

/// A run, and the flushes at the volume meanwhile by the commits of its window: more than those of the window.
fn counted(volume: &Mounted, run: impl FnOnce() -> Report) -> (Report, f64) {
    let before = flushes_at(volume);
    let report = run();
    let flushes = flushes_at(volume) - before;
    let commits = report.run["steps"][0]["ops"]["update"]["count"].as_f64().unwrap();
    (report, flushes / commits)
}

#[cfg(feature = "mysql")]
#[test]
fn syncs_of_each_mode_of_a_mariadb_are_counted_at_the_volume() {
    let mindful = Mindful::beside_others(place());
    let Some(volume) = volume(&mindful) else { return };
    let log = volume.folder.join("log").display().to_string();
    let run = |duration: &str, set: &str, wait: &str| {
        let how = format!("--log-dir {log} --duration {duration} --set {set} --commit-wait {wait}");
        mindful.private_run(("--target mariadb:", how, UPDATES))
    };
    // Makes the server and its dataset.
    run("1s", SMALL_LOG, "on");
    let (durable, flushes) = counted(&volume, || run("6s", SMALL_LOG, "on"));
    assert!(is_called_durable(&durable) && flushes > 0.95 && flushed(&durable) > 0.95, "{flushes} a commit: {durable}");
    for mode in ["0", "2"] {
        let set = format!("{SMALL_LOG},innodb_flush_log_at_trx_commit={mode}");
        let (report, flushes) = counted(&volume, || run("6s", &set, "off"));
        assert!(report.text.contains(&format!("innodb_flush_log_at_trx_commit={mode}")), "{report}");
        assert!(report.headline().contains("not durable") && !is_called_durable(&report), "{report}");
        assert!(flushes < 0.5 && flushed(&report) < 0.3, "{flushes} a commit: {report}");
    }
    drop(mindful);
}

#[test]
fn syncs_of_each_mode_of_a_server_are_counted_at_the_volume() {
    let mindful = Mindful::beside_others(place()).with_private();
    let Some(volume) = volume(&mindful) else { return };
    moved(&mindful.private_folder(), "pg_wal", &volume.folder);
    let run = |set: &str| mindful.private_run((UPDATES, set));
    // Where a full host commits seldom, flushes of the journal hide those of commits.
    let (durable, flushes) = counted(&volume, || retried(|| run(""), is_called_durable));
    assert!(
        (is_called_durable(&durable) || durable.disturbed()) && flushes > 0.95 && flushed(&durable) > 0.95,
        "{flushes} a commit: {durable}"
    );
    assert!(of_log(&durable, "sync_mean_us") > 0.0 && of_log(&durable, "flush_mean_us") > 0.0, "{durable}");
    let torn = run("--set full_page_writes=off");
    assert!(!is_called_durable(&torn) && flushed(&torn) > 0.95, "{torn}");
    for (set, most) in [("--set fsync=off", 0.05), ("--set synchronous_commit=off", 0.3), ("--commit-wait off", 0.3)] {
        let report = run(set);
        assert!(report.headline().contains("not durable") && !is_called_durable(&report), "{report}");
        assert!(flushed(&report) < most, "{report}");
    }
    drop(mindful);
}

/// The log is written past the page cache, which counts a small write as a large one, and no block of data is written.
#[test]
fn the_ledger_of_a_log_on_its_own_volume_closes() {
    if !with_tracefs() {
        return;
    }
    let mindful = Mindful::beside_others(place()).with_private();
    let Some(volume) = volume(&mindful) else { return };
    moved(&mindful.private_folder(), "pg_wal", &volume.folder);
    let report = mindful.private_run((UPDATES, "--set debug_io_direct=wal,shared_buffers=128MB --duration 6s"));
    if report.run["engine_version"].as_str().is_some_and(|version| version < "18") {
        return not_run("it compares bytes that PostgreSQL counts from 18 on");
    }
    let [written, by_processes, at_device] =
        ["write_bytes_per_s", "process_write_bytes_per_s", "device_write_bytes_per_s"]
            .map(|name| of_log(&report, name));
    assert!((by_processes / written - 1.0).abs() < 0.02, "{report}");
    if report.run["steps"][0]["log"]["flushes_timed"].is_null() {
        return not_run("the kernel reports the transactions of a journal in tracefs, which is not mounted");
    }
    // The kernel counts each of the three elsewhere: no term is what the others leave.
    let journal = of_log(&report, "journal_bytes_per_s");
    assert!(((at_device - journal) / written - 1.0).abs() < 0.02, "{report}");
    assert!(of_log(&report, "other_bytes_per_s") < written * 0.02, "{report}");
    assert!(report.text.contains("journal of its file system"), "{report}");
    drop(mindful);
}

#[cfg(feature = "sqlite")]
#[test]
fn syncs_of_each_mode_of_sqlite_are_counted_at_the_volume() {
    let mindful = Mindful::beside_others(place());
    let Some(volume) = volume(&mindful) else { return };
    let run = |folder: &Path, wait: &str| {
        let target = folder.join("data.db").display().to_string();
        mindful.short_run((format!("--target sqlite:{target} --commit-wait {wait} --duration 6s"), UPDATES))
    };
    let (durable, flushes) = counted(&volume, || run(&volume.folder, "on"));
    assert!(is_called_durable(&durable) && flushes > 0.95 && flushed(&durable) > 0.95, "{flushes} a commit: {durable}");
    let (normal, flushes) = counted(&volume, || run(&volume.folder, "off"));
    assert!(normal.headline().contains("not durable") && !is_called_durable(&normal), "{normal}");
    assert!(flushes < 0.5 && flushed(&normal) < 0.3, "{flushes} a commit: {normal}");
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let lost = run(memory.path(), "on");
    assert!(lost.headline().contains("not durable"), "{lost}");
    assert!(lost.run["steps"][0]["log"]["device_flushes_per_s"].is_null(), "{lost}");
}
