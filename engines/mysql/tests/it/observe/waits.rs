//! Waits of sessions are counted in their class, and commits per flush of the log are counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_conformance::{Notes, Opened, work_side_by_side};
use mindful_core::contract::metric::Sampler;
use mindful_core::plan::units::Share;
use mindful_core::workload::Workload;

use crate::checks::refused::least;
use crate::shared::{self, BLOCKS};
use crate::support::{MARIADB, MYSQL, small_log, sql};

/// How long sessions work: some hundreds of operations, and a hundred samplings.
const WINDOW_MS: i64 = 500;

fn read(samplers: &mut [Box<dyn Sampler>]) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for sampler in samplers {
        let values = sampler.read().unwrap();
        let named = sampler.metrics().iter().zip(values);
        all.extend(named.filter_map(|(metric, value)| Some((format!("{}/{}", sampler.name(), metric.name), value?))));
    }
    all
}

/// Counters that grew while `sessions` sessions worked for `ms`, and the operations they did.
fn grown(opened: &Opened, work: &Workload, sessions: u32, ms: i64) -> (BTreeMap<String, f64>, u64) {
    let target = &*opened.target;
    // What is sampled depends on how many sessions are prepared.
    target.prepare(work, sessions).unwrap();
    let mut samplers = target.samplers().unwrap();
    let before = read(&mut samplers);
    let reports = work_side_by_side(target, work, sessions, ms * 1_000);
    let ops = reports.into_iter().map(|report| report.unwrap().total_ops()).sum();
    let mut after = read(&mut samplers);
    for (name, value) in &mut after {
        *value -= before.get(name).copied().unwrap_or(0.0);
    }
    (after, ops)
}

/// Counters that grew until a session was found at `class`, even on a busy machine.
fn until(opened: &Opened, work: &Workload, sessions: u32, class: &str) -> BTreeMap<String, f64> {
    let began = Instant::now();
    loop {
        let (found, _) = grown(opened, work, sessions, WINDOW_MS);
        if of(&found, class) > 0.0 {
            return found;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "no session was found at {class}: {found:?}");
    }
}

fn of(grown: &BTreeMap<String, f64>, class: &str) -> f64 {
    let part = format!("waits/{class}/");
    grown.iter().filter(|(name, _)| name.starts_with(&part)).map(|(_, samples)| samples).sum()
}

fn updates() -> Workload {
    Workload { update_pct: Share::ALL, ..Workload::reads_only(1, BLOCKS, 1) }
}

#[test]
fn reads_and_commits_of_a_mariadb_are_apart_and_grouped() {
    // A buffer pool that holds a sixth of the data.
    let fixture = shared::own(MARIADB).with("cache", "8MiB").with("wait_sampling", "5ms");
    let opened = fixture.loaded();
    let reading = until(&opened, &Workload::reads_only(1, BLOCKS, 8), 4, "read");
    assert!(of(&reading, "read") >= of(&reading, "log"), "{reading:?}");
    assert!(reading["wait_sampling/samplings"] > 0.0 && reading["wait_sampling/monitor_cpu"] > 0.0, "{reading:?}");
    assert!(!reading.keys().any(|name| name.starts_with("waits/writer/")), "it is not reported: {reading:?}");

    let (alone, commits) = grown(&opened, &updates(), 1, WINDOW_MS);
    let each = alone["innodb_status/log_writes"] / commits as f64;
    assert!(each > 0.8, "{each} log writes a commit of a single session");

    // A wait for a durable log is a wait for another thread, not for a session.
    let updating: Vec<_> = (0..8).map(|_| until(&opened, &updates(), 8, "log")).collect();
    let sum = |class| updating.iter().map(|found| of(found, class)).sum::<f64>();
    let found = ["log", "contention", "latch"].map(sum);
    assert!(found[0] > found[1] + found[2], "{found:?}");

    // On a full host eight may run one after the other.
    let each = || {
        let grouped = until(&opened, &updates(), 8, "log");
        grouped["innodb_status/log_writes"] / grouped["sessions/commits"]
    };
    let grouped = (0..4).map(|_| each()).find(|each| *each < 0.8).unwrap_or_else(each);
    assert!(grouped < 0.8, "{grouped} log writes a commit of eight sessions");
}

#[test]
fn commits_to_a_binary_log_are_recorded_and_grouped() {
    let set = format!("{},log_bin=binlog", small_log(MARIADB));
    let fixture = shared::own(MARIADB).with("set", &set).with("wait_sampling", "off");
    let opened = fixture.loaded();
    let described = opened.target.describe().unwrap();
    for (name, value) in [("log_bin", "ON"), ("sync_binlog", "1"), ("binlog_format", "MIXED")] {
        assert_eq!(described.facts.get(name).map(String::as_str), Some(value), "{name}: {:?}", described.facts);
    }
    assert!(["log_bin", "sync_binlog"].iter().all(|name| described.held_fixed.contains_key(*name)), "{described:?}");

    let logged = |sessions: u32| {
        let (found, ops) = grown(&opened, &updates(), sessions, WINDOW_MS);
        assert_eq!(found["innodb_status/Binlog_commits"] as u64, ops, "{found:?}");
        found["innodb_status/Binlog_group_commits"] / ops as f64
    };
    let alone = logged(1);
    assert!(alone > 0.99, "{alone} groups a commit of a single session");
    let began = Instant::now();
    while logged(8) > 0.9 {
        assert!(began.elapsed() < Duration::from_mins(1), "commits of eight sessions share no group");
    }
}

#[test]
fn waits_of_the_performance_schema_are_read_where_it_keeps_them() {
    let shared = shared::server(MYSQL);
    let keep = |yes: &str| {
        let consumers = "UPDATE performance_schema.setup_consumers SET enabled";
        sql(&shared.server, &format!("{consumers} = '{yes}' WHERE name = 'events_waits_current'"));
    };
    let fixture = shared::maybe_loaded(MYSQL).with("wait_sampling", "5ms");
    let opened = fixture.loaded();
    keep("YES");
    let work = Workload { update_pct: Share::ALL, ..Workload::reads_only(2, 500, 1) };
    let found = until(&opened, &work, 2, "cpu");
    keep("NO");
    assert!(found["sessions/commits"] > 0.0 && found.contains_key("waits/writer/data_file"), "{found:?}");
}

#[test]
fn without_the_right_to_see_waits_the_grant_is_named() {
    for (kind, seen) in [(MARIADB, true), (MYSQL, false)] {
        let (_shared, fixture, _) = least(kind);
        let notes = Arc::new(Notes::default());
        let target = fixture.open_for(&notes);
        let names: Vec<String> = target.samplers().unwrap().iter().map(|sampler| sampler.name().to_owned()).collect();
        assert_eq!(names.iter().any(|name| name == "waits"), seen, "{kind:?}: {names:?}");
        let notes = notes.all();
        let grant = notes.contains("waits of sessions") && notes.contains("GRANT SELECT ON performance_schema.*");
        assert_eq!(grant, !seen, "{kind:?}: {notes}");
    }
    let fixture = shared::fixture(MARIADB).with("wait_sampling", "off");
    let off = fixture.open();
    assert!(off.samplers().unwrap().iter().all(|sampler| !sampler.name().starts_with("wait")));
}
