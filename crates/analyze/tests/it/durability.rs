//! Commits on storage: flushes at the device of the log, and what commits waited for.

use mindful_analyze::analyze;
use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::record::run::Run;
use mindful_core::workload::OpKind;

use crate::claims::evidence;
use crate::judged::has;
use crate::made::{Made, add, state};

/// Updates of one session or more, with this rate of flushes at the log's device.
fn updating(sessions: u32, write_cache: &str, flushes: Option<f64>) -> Run {
    let unseen = &[Counter::LogWrites];
    let made = Made { sessions, update_pct: "100", latency_us: 1_000, work_unit: 1, unseen, ..Made::default() };
    let counted = flushes.map(|rate| ("vdb.flushes_completed", rate));
    let rates: Vec<_> = counted.into_iter().chain([("vdb.writes_completed", 1_000.0)]).collect();
    let mut run = made.with(HostSource::Diskstats.name(), &rates);
    let counts = flushes.is_some().to_string();
    let device = [("device.vdb.write_cache", write_cache), ("device.vdb.counts_flushes", &counts)];
    state(&mut run, &[("log.path", "/log"), ("log.device", "vdb")]);
    state(&mut run, &device);
    run
}

fn commit(run: &Run) -> (bool, String) {
    let mut analysis = analyze(run);
    let lost = has(&analysis, "not-durable");
    (lost, analysis.steps.remove(0).commit.unwrap())
}

#[test]
fn commits_are_durable_if_flushes_match_syncs() {
    assert!(!commit(&updating(1, "write back", Some(990.0))).0);
    let swallowed = commit(&updating(1, "write back", Some(0.0)));
    assert!(swallowed.0 && swallowed.1.contains("not on storage"), "{swallowed:?}");
    assert!(commit(&updating(1, "write back", Some(900.0))).0, "a tenth is missing");
    // The kernel merges flushes of four sessions.
    assert!(!commit(&updating(4, "write back", Some(1_001.0))).0);
    assert!(commit(&updating(4, "write back", Some(500.0))).0);
    assert!(!commit(&updating(1, "write through", Some(0.0))).0, "there is no cache to flush");
    let unseen = commit(&updating(1, "write back", None));
    assert!(!unseen.0 && unseen.1.contains("flushes at the device were not visible"), "{unseen:?}");
}

/// Pauses of equal length bring sessions into step: one flush serves several of their 8,000 commits a second.
#[test]
fn sessions_that_mostly_think_may_share_a_flush() {
    let lost = |flushes: f64| {
        let mut run = updating(8, "write back", Some(flushes));
        for (_, slice) in &mut run.steps[0].unmerged {
            slice.op_mut(OpKind::Update).latency.sum_ns /= 20;
            slice.think_us = 950_000;
        }
        commit(&run).0
    };
    assert!(!lost(0.6 * 8_000.0) && lost(900.0));
}

#[test]
fn the_evidence_names_what_had_no_flush() {
    let of = |sessions: u32, counted: &[(&str, f64)]| {
        let mut run = updating(sessions, "write back", Some(100.0));
        add(&mut run, "log", counted);
        evidence(&analyze(&run), "not-durable").to_owned()
    };
    assert!(of(1, &[]).contains(" commits per second"));
    assert!(of(8, &[(Counter::LogSyncs.name(), 3_000.0)]).contains(" syncs per second"));
    assert!(of(8, &[(Counter::LogWrites.name(), 3_000.0)]).contains(" writes of the log per second"));
}

/// A database has one sync of its log under way at a time: the kernel has nothing to merge.
#[test]
fn each_sync_that_the_database_counts_needs_a_flush() {
    let lost = |counter: Counter, rate: f64, flushes: f64| {
        let mut run = updating(8, "write back", Some(flushes));
        add(&mut run, "log", &[(counter.name(), rate)]);
        commit(&run).0
    };
    let synced = |flushes: f64| lost(Counter::LogSyncs, 3_000.0, flushes);
    assert!(!synced(3_000.0) && !synced(9_000.0));
    assert!(synced(1_500.0), "every second one is swallowed");
    // MariaDB counts writes of the log, but no syncs.
    let written = |flushes: f64| lost(Counter::LogWrites, 3_300.0, flushes);
    assert!(!written(3_000.0) && written(1_200.0));
}

/// The device was flushed in 400 us each time, for 1,000 commits a second.
fn flushed(flushes: f64, of_commits: &[(&str, f64)]) -> (bool, String) {
    let mut run = updating(1, "write back", Some(flushes));
    let at_device = [
        (Counter::LogDeviceFlushes.name(), flushes),
        (Counter::LogDeviceFlushTimeUs.name(), flushes * 400.0),
        ("samplings", 50.0),
    ];
    add(&mut run, HostSource::Diskstats.name(), &at_device);
    add(&mut run, "waits", of_commits);
    commit(&run)
}

fn timed(us: f64) -> [(&'static str, f64); 2] {
    [(Counter::CommitTimeUs.name(), 1_000.0 * us), (Counter::Commits.name(), 1_000.0)]
}

#[test]
fn flushes_of_others_prove_no_commit() {
    assert!(!flushed(1_000.0, &timed(500.0)).0);
    assert!(flushed(1_000.0, &timed(20.0)).0, "a commit takes less than a flush");
    // 50 samplings a second show 40 % of a session in flushes.
    assert!(!flushed(1_000.0, &[("log/commit", 25.0)]).0);
    assert!(flushed(1_000.0, &[("log/commit", 2.0)]).0);
    let unknown = flushed(5_000.0, &[("read/file", 2.0)]);
    assert!(!unknown.0 && unknown.1.contains("not visible: vdb was flushed for other writes:"), "{unknown:?}");
    // InnoDB counts the syncs of all its files.
    let own = flushed(5_000.0, &[("read/file", 2.0), (Counter::Syncs.name(), 4_900.0)]);
    assert!(!own.0 && !own.1.contains("not visible"), "{own:?}");
}

/// They raise the mean time of a flush.
#[test]
fn slow_flushes_of_others_accuse_no_fast_commit() {
    assert!(flushed(1_000.0, &timed(120.0)).0, "there are no flushes but those of the commits");
    let beside = flushed(2_000.0, &timed(120.0));
    assert!(!beside.0 && beside.1.contains("not visible"), "{beside:?}");
    assert!(flushed(2_000.0, &timed(20.0)).0, "far below");
    // 40 samples of commits in flushes are expected: 5 are too few to accuse.
    assert!(!flushed(1_000.0, &[("samplings", 10.0), ("log/commit", 0.5)]).0);
    // Those seen are enough where sessions wait for long.
    let seen = flushed(2_000.0, &[("samplings", 10.0), ("log/commit", 8.0)]);
    assert!(!seen.0 && !seen.1.contains("not visible"), "{seen:?}");
}

#[test]
fn a_third_more_flushes_than_commits_are_of_others() {
    let visible = |flushes: f64, facts: &[(&str, &str)]| {
        let mut run = updating(1, "write back", Some(flushes));
        state(&mut run, facts);
        !commit(&run).1.contains("not visible")
    };
    assert!(visible(1_050.0, &[]) && !visible(1_330.0, &[]));
    // A second log grows, so its file system flushes the device for its journal.
    assert!(visible(2_500.0, &[("log2.path", "/binlog"), ("log2.device", "vdb")]));
}

/// A second log, which commits wait for as well, on a device of its own.
#[test]
fn each_log_that_commits_wait_for_is_flushed_at_its_device() {
    let beside = |facts: &[(&str, &str)]| {
        let mut run = updating(1, "write back", Some(1_000.0));
        state(&mut run, &[("log2.path", "/binlog")]);
        state(&mut run, facts);
        commit(&run)
    };
    assert!(!beside(&[("log2.device", "vdb")]).0);
    assert!(beside(&[("log2.memory", "tmpfs at /binlog is memory, not storage")]).0);
    let unseen = beside(&[("log2.device_not_seen", "fuse")]);
    assert!(!unseen.0 && unseen.1.contains("flushes at the device were not visible"), "{unseen:?}");
}

/// A loop device without a cache passes no flush on; memory below it needs none and loses everything.
#[test]
fn a_log_in_memory_is_not_durable_whatever_is_flushed() {
    let lost = |name: &str, value: &str| {
        let mut run = updating(1, "write through", Some(2_000.0));
        state(&mut run, &[(name, value)]);
        evidence(&analyze(&run), "not-durable").to_owned()
    };
    assert_eq!(lost("log.memory", "tmpfs at /log is memory, not storage"), "tmpfs at /log is memory, not storage");
    assert!(lost("device.vdb.layer", "loop of /x, through the page cache").contains("takes no flush"));
}

/// A server that syncs data, too, and a file system that copies on write, flush more than once for a sync of the log.
#[test]
fn flushes_beyond_the_syncs_of_the_log_are_of_others() {
    let found = |flushes: f64, syncs_log_only: bool, file_system: &str| {
        let mut run = updating(8, "write back", Some(flushes));
        let rates = [(Counter::DeviceWriteBytes.name(), 0.0), (Counter::LogDeviceFlushes.name(), flushes)];
        add(&mut run, HostSource::Diskstats.name(), &rates);
        add(&mut run, "log", &[(Counter::LogSyncs.name(), 2_000.0)]);
        run.description.iter_mut().for_each(|description| description.syncs_log_only = syncs_log_only);
        run.environment.insert("log.filesystem".to_owned(), file_system.to_owned());
        has(&analyze(&run), "foreign-writes")
    };
    assert!(!found(2_010.0, true, "ext4") && found(4_100.0, true, "ext4"));
    assert!(!found(4_100.0, false, "ext4") && !found(4_100.0, true, "btrfs") && found(7_000.0, false, "btrfs"));
}
