//! Waits of commits: the log's own figures, the headline of a run with updates, and the limiting part.

use mindful_analyze::judgement::verdict::Limit;
use mindful_analyze::{StepAnalysis, analyze};
use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::record::latency::DeviceRequest;
use mindful_core::record::run::Run;
use mindful_core::result::{DeviceSummary, LogSummary};

use crate::judged::near;
use crate::made::{Made, add, add_gauge, add_latencies, state, workload};

const DURABLE: &str = "durable commits per second";
const NOT_DURABLE: &str = "commits per second, not durable";

fn made(sessions: u32) -> Made {
    Made { sessions, update_pct: "100", latency_us: 1_000, work_unit: 1, ..Made::default() }
}

/// The log on a device of its own.
fn log_on_vdb(run: &mut Run) {
    state(run, &[("log.path", "/log"), ("log.device", "vdb")]);
}

fn data_on_vdb(run: &mut Run) {
    state(run, &[("storage.device", "vdb")]);
}

/// Sessions that each commit 1,000 times a second and wait for the log for most of it, with `syncs` of `sync_us` each.
fn committing(sessions: u32, syncs: f64, sync_us: f64) -> Run {
    let mut run = made(sessions).run();
    let log = [(Counter::LogSyncs.name(), syncs), (Counter::LogSyncTimeUs.name(), syncs * sync_us)];
    add(&mut run, "log", &log);
    add(&mut run, "waits", &[("log_sync/Sync", 70.0), ("log/Write", 10.0), ("cpu/cpu", 20.0)]);
    log_on_vdb(&mut run);
    state(&mut run, &[("device.vdb.write_cache", "write back")]);
    run
}

fn step(run: &Run) -> StepAnalysis {
    analyze(run).steps.remove(0)
}

fn limit(run: &Run) -> (Limit, String) {
    let verdict = step(run).verdict.unwrap();
    (verdict.limit, verdict.figures)
}

#[test]
fn the_part_that_commits_wait_for_is_named() {
    let (alone, figures) = limit(&committing(1, 990.0, 800.0));
    assert_eq!(alone, Limit::SyncLatency);
    assert!(
        figures.ends_with(", WAL on vdb, data on vda; a sync took 800 us and made 1.01 commits durable"),
        "{figures}"
    );
    assert_eq!(limit(&committing(8, 4_000.0, 230.0)).0, Limit::SyncLatency, "two of eight in a group");
    let (full, figures) = limit(&committing(32, 2_000.0, 450.0));
    assert_eq!(full, Limit::GroupCommit);
    assert!(figures.contains("16.0") && figures.ends_with("of 32 sessions (limit 40 % of them)"), "{figures}");
    assert_eq!(limit(&committing(1, 100.0, 100.0)).0, Limit::Log, "syncs do not explain the waits");
}

/// SQLite samples no waits: its sessions time their commits.
#[test]
fn timed_commits_are_waits_for_the_log() {
    let made = Made { server_cores: 0.1, ..made(1) };
    let run = made.with("sqlite", &[(Counter::CommitTimeUs, 700_000.0)]);
    let verdict = step(&run).verdict.unwrap();
    assert_eq!((verdict.limit, verdict.called.as_str()), (Limit::Log, "WAL or commit"));
    assert!(verdict.figures.starts_with("waits for the WAL were 70.0 % of database time"), "{}", verdict.figures);
}

#[test]
fn a_cap_of_the_log_alone_is_one_of_its_volume() {
    let capped = |device: &str| {
        let mut run = committing(1, 990.0, 800.0);
        let (done, may) = (format!("{device}.group_writes"), format!("{device}.group_writes_limit"));
        add(&mut run, HostSource::Cgroup.name(), &[(&done, 1_000.0)]);
        add_gauge(&mut run, HostSource::Cgroup.name(), &*may, 1_000.0);
        run
    };
    let (of_log, figures) = limit(&capped("vdb"));
    assert_eq!(of_log, Limit::LogVolume);
    assert!(figures.contains("write requests at vdb were 1000/s"), "{figures}");
    assert_eq!(limit(&capped("vda")).0, Limit::DeviceCap, "the data's");
    let mut shared_volume = capped("vdb");
    data_on_vdb(&mut shared_volume);
    assert_eq!(limit(&shared_volume).0, Limit::DeviceCap, "of both");
}

#[test]
fn updates_lead_with_their_commits_and_how_durable_they_are() {
    let label = |run: &Run| step(run).headline.unwrap().label;
    let flushed = |rate: f64| {
        let mut run = committing(1, 990.0, 800.0);
        let counted = [("vdb.flushes_completed", rate), ("vdb.writes_completed", 1_000.0)];
        add(&mut run, HostSource::Diskstats.name(), &counted);
        state(&mut run, &[("device.vdb.counts_flushes", "true")]);
        run
    };
    let durable = step(&flushed(995.0)).headline.unwrap();
    near(Some(durable.per_s), 1_000.0, 0.01);
    assert_eq!(durable.label, DURABLE);
    for part in ["an update took ", "database time: WAL 80 %", "a sync took 800 us", "WAL on vdb, data on vda"] {
        assert!(durable.why.contains(part), "{}", durable.why);
    }
    assert_eq!(label(&flushed(0.0)), NOT_DURABLE, "a write cache that gets no flushes");
    let mut memory = flushed(995.0);
    state(&mut memory, &[("log.memory", "tmpfs")]);
    assert_eq!(label(&memory), NOT_DURABLE);
    let mut unsafe_server = flushed(995.0);
    unsafe_server.description.as_mut().unwrap().unsafe_settings = vec!["fsync = off".to_owned()];
    assert_eq!(label(&unsafe_server), NOT_DURABLE);
    assert!(step(&unsafe_server).commit.unwrap().ends_with("as asked, not safe in a crash: fsync = off"));
    let mut not_waiting = flushed(995.0);
    workload(&mut not_waiting).commit_wait = false;
    assert_eq!(label(&not_waiting), NOT_DURABLE);
    let mut unseen = flushed(995.0);
    unseen.host.as_mut().unwrap().local = false;
    assert_eq!(label(&unseen), "commits per second", "on another host nothing is claimed");
    // A mix: the reads stay in the table.
    let mix = Made { update_pct: "20", latency_us: 400, ..Made::default() }.run();
    near(step(&mix).headline.map(|headline| headline.per_s), 2_000.0, 0.01);
}

#[test]
fn the_ledger_of_the_log_counts_by_commits() {
    let mut run = committing(4, 1_000.0, 400.0);
    let counted = [
        (Counter::LogRecords.name(), 8_000.0),
        (Counter::LogImages.name(), 2_000.0),
        (Counter::LogDeviceFlushes.name(), 1_000.0),
        (Counter::LogDeviceFlushTimeUs.name(), 350_000.0),
    ];
    add(&mut run, "more", &counted);
    let step = step(&run);
    let row = |name: &str| step.ledger.log.iter().find(|row| row.name == name).unwrap();
    near(row("commits").per_s, 4_000.0, 0.01);
    near(row("WAL records").ratio, 2.0, 0.01);
    near(row("WAL").ratio, 310.0, 0.01);
    near(row("WAL syncs").ratio, 0.25, 0.01);
    assert_eq!(row("WAL syncs").gap.as_deref(), Some("4.00 commits and 1,240 B per sync"));
    assert_eq!(row("  images of whole blocks").gap.as_deref(), Some("25 % of the records"));
    assert_eq!(row("writes at its device").per_s, None, "unknown is no zero");
    assert_eq!((row("WAL writes").bytes_per_s, row("  of the processes").bytes_per_s.is_some()), (None, true));
    let log = &step.summary.log;
    near(log.commits_per_sync, 4.0, 0.01);
    near(log.sync_mean_us, 400.0, 0.01);
    near(log.flush_mean_us, 350.0, 0.01);
    near(log.write_amplification, 8_192.0 * 1.1 / 16.0, 0.01);
    near(log.checkpoint_write_share, 0.625, 0.01);
    let reads = analyze(&Made::default().run()).steps.remove(0);
    assert!(reads.ledger.log.is_empty());
    assert_eq!(reads.summary.log, LogSummary::default());
}

#[test]
fn flushes_stand_for_syncs_that_a_database_does_not_count() {
    let mut run = made(4).with("device", &[(Counter::LogDeviceFlushes, 1_000.0)]);
    log_on_vdb(&mut run);
    let log = step(&run).summary.log;
    near(log.commits_per_sync, 4.0, 0.01);
    assert_eq!(log.syncs_per_s, None, "the database did not count them");
    let row = |name: &str| step(&run).ledger.log.into_iter().find(|row| row.name == name).unwrap();
    assert!(row("flushes at its device").gap.unwrap().starts_with("4.00 commits and "));
    data_on_vdb(&mut run);
    assert_eq!(step(&run).summary.log.commits_per_sync, None, "flushes of data are among them");
}

/// 8,192 B a commit, a journal of 1 % of the device's bytes, and 2 % of others.
#[test]
fn the_ledger_of_a_log_on_a_volume_of_its_own_closes() {
    let mut run = committing(1, 1_000.0, 800.0);
    let written = 8_192_000.0;
    let counted = [
        (Counter::LogWriteBytes.name(), written),
        (Counter::PhysicalWrites.name(), 0.0),
        (Counter::ProcessWriteBytes.name(), written),
        (Counter::LogDeviceWrites.name(), 1_001.0),
        (Counter::LogDeviceWriteBytes.name(), written / 0.97),
    ];
    add(&mut run, "more", &counted);
    let unseen = run.clone();
    let trace = |lost: f64| [(Counter::LogJournalBytes.name(), written / 97.0), (Counter::TraceLost.name(), lost)];
    let mut torn = run.clone();
    add(&mut torn, HostSource::BlockTrace.name(), &trace(1.0));
    add(&mut run, HostSource::BlockTrace.name(), &trace(0.0));
    let gap = |run: &Run, name: &str| {
        let ledger = step(run).ledger.log;
        ledger.iter().find(|row| row.name == name).map(|row| row.gap.clone().unwrap_or_default())
    };
    assert_eq!(gap(&run, "  of the processes").unwrap(), "1.00 times the WAL written");
    assert_eq!(gap(&run, "  journal of its file system").unwrap(), "1 % of the bytes at its device");
    assert_eq!(gap(&run, "  other than log and journal").unwrap(), "2 % of the bytes at its device");
    for unknown in [&unseen, &torn] {
        let log = step(unknown).summary.log;
        assert_eq!((log.journal_bytes_per_s, log.other_bytes_per_s), (None, None), "a remainder is no journal");
    }
    data_on_vdb(&mut run);
    assert_eq!(gap(&run, "  journal of its file system"), None, "what is the data's is no journal");
    assert_eq!(gap(&run, "writes at its device").unwrap(), "writes of data are among them");
}

/// 50 samplings a second that see a session sync in one of two, and 500 syncs a second.
#[test]
fn the_time_of_an_untimed_sync_comes_from_samples() {
    let mut run = made(1).with("log", &[(Counter::LogSyncs, 500.0), (Counter::Samplings, 50.0)]);
    let few = run.clone();
    add(&mut run, "waits", &[("log_sync/Sync", 25.0), ("cpu/cpu", 25.0)]);
    near(step(&run).summary.log.sync_mean_us, 1_000.0, 0.01);
    assert_eq!(step(&few).summary.log.sync_mean_us, None);
}

/// Flushes of data at the same device are no syncs of the log.
#[test]
fn flushes_of_a_shared_device_do_not_time_a_sync() {
    let mut run = made(1).with("log", &[(Counter::LogDeviceFlushes, 500.0), (Counter::Samplings, 50.0)]);
    add(&mut run, "waits", &[("log_sync/Sync", 25.0), ("cpu/cpu", 25.0)]);
    log_on_vdb(&mut run);
    near(step(&run).summary.log.sync_mean_us, 1_000.0, 0.01);
    data_on_vdb(&mut run);
    assert_eq!(step(&run).summary.log.sync_mean_us, None);
}

#[test]
fn flushes_that_were_timed_have_percentiles() {
    let mut run = committing(1, 990.0, 800.0);
    let traced = [(Counter::TraceEvents, 900.0), (Counter::TraceLost, 0.0)];
    add(&mut run, HostSource::BlockTrace.name(), &traced);
    let us = [[500; 190].as_slice(), &[3_000; 10]].concat();
    for boundary in 1..=12 {
        add_latencies(&mut run, HostSource::BlockTrace.name(), boundary, 64, DeviceRequest::Flush.name(), &us);
    }
    let log = step(&run).summary.log;
    near(log.flush_p50_us, 500.0, 0.02);
    near(log.flush_p99_us, 3_000.0, 0.02);
    assert_eq!(log.flushes_timed, Some(2_000));
}

#[test]
fn requests_outside_the_window_or_of_another_share_are_left_out() {
    let timed = |slices: &[(u32, u64, u64)], lost: Option<f64>| {
        let traced = lost.map(|lost| [(Counter::TraceEvents, 1_000.0), (Counter::TraceLost, lost)]);
        let mut run =
            Made::default().with(HostSource::BlockTrace.name(), traced.as_ref().map_or(&[], |rates| &rates[..]));
        for (boundary, one_of, us) in slices {
            let source = HostSource::BlockTrace.name();
            add_latencies(&mut run, source, *boundary, *one_of, DeviceRequest::Read.name(), &[*us; 600]);
        }
        step(&run).summary.device
    };
    let slices = [(2, 128, 9_000), (3, 64, 5_000), (4, 128, 100), (12, 128, 100), (13, 128, 7_000)];
    let device = timed(&slices, Some(0.0));
    assert_eq!((device.one_of, device.reads_timed, device.writes_timed), (Some(128), Some(1_200), Some(0)));
    near(device.read_p99_us, 100.0, 0.01);
    assert_eq!(device.write_p50_us, None);
    assert!(timed(&slices, Some(4.0)).read_p50_us.is_some());
    for lost in [Some(200.0), None] {
        assert_eq!(timed(&slices, lost), DeviceSummary::default(), "{lost:?}");
    }
}
