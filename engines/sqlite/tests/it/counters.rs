//! Counters of SQLite compared with the work.

use std::collections::BTreeMap;

use mindful_conformance::{Fixture, Opened, work_side_by_side};
use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Commit, Redo, Workload};

use crate::fixture;

/// Growth of the counters of `opened` during `work`.
fn growth(opened: &Opened, work: impl FnOnce()) -> BTreeMap<String, f64> {
    let mut sampler = opened.target.samplers().unwrap().remove(0);
    let mut read = || sampler.read().unwrap().into_iter().map(Option::unwrap).collect::<Vec<_>>();
    let before = read();
    work();
    let growth: Vec<f64> = read().iter().zip(before).map(|(after, before)| after - before).collect();
    sampler.metrics().iter().map(|metric| metric.name.clone()).zip(growth).collect()
}

/// Physical reads by blocks visited, with `cache` for a session.
fn block_yield(cache: &str) -> f64 {
    let (fixture, _) = fixture::fixture();
    let fixture = fixture.with("cache", cache);
    let workload = Workload { work_unit: 16, ..fixture.workload() };
    let opened = fixture.loaded();
    let growth = growth(&opened, || drop(opened.work_ops(&workload, 2, Some(300))));
    growth[Counter::PhysicalReads.name()] / (2.0 * 300.0 * 16.0)
}

#[test]
fn a_small_cache_reads_and_a_large_one_does_not() {
    let (small, large) = (block_yield("256KiB"), block_yield("64MiB"));
    // 32 of 500 pages cached: nearly each block visited is read. All cached: each of the 500 is read once.
    assert!((0.85..1.2).contains(&small), "{small} reads a block with a small cache");
    assert!(large < 0.1, "{large} reads a block with a large cache");
}

/// Bytes by which the log file grew for each of 400 updated blocks, and the band that the engine expects.
fn log_by_block(redo: Redo, commit: Commit) -> (f64, std::ops::RangeInclusive<f64>) {
    let (fixture, path) = fixture::fixture();
    let workload =
        Workload { update_pct: Share::ALL, update_work_unit: 4, schemas: 1, redo, commit, ..fixture.workload() };
    let opened = fixture.loaded();
    // The last connection removes the log.
    let stays = rusqlite::Connection::open(&path).expect("a second connection");
    stays.query_row("SELECT count(*) FROM blocks_1", [], |_| Ok(())).expect("its rows");
    let log = path.with_extension("db-wal");
    let length = || log.metadata().map_or(0, |file| file.len()) as f64;
    let before = length();
    opened.work_ops(&workload, 1, Some(100));
    let per_block = (length() - before) / 400.0;
    let expected = opened.target.describe().expect("a description").expected_log.expect("a band");
    let [low, high] = if redo == Redo::Light { expected.light } else { expected.heavy };
    (per_block, low..=high)
}

#[test]
fn the_log_file_grows_as_expected_of_an_updated_block() {
    for redo in [Redo::Light, Redo::Heavy] {
        let (per_block, band) = log_by_block(redo, Commit::Each);
        assert!(band.contains(&per_block), "{redo:?}: {per_block} bytes of log a block, not in {band:?}");
    }
}

#[test]
fn a_block_that_a_transaction_updates_twice_is_logged_once() {
    let (per_block, band) = log_by_block(Redo::Light, Commit::Every(100));
    assert!(per_block > 0.0 && per_block < *band.start(), "{per_block} bytes of log a block, {band:?} expected of one");
}

#[test]
fn a_light_update_logs_its_block_and_no_more() {
    let (fixture, _) = fixture::fixture();
    let workload = Workload { update_pct: Share::ALL, update_work_unit: 4, ..fixture.workload() };
    let opened = fixture.loaded();
    let growth = growth(&opened, || drop(opened.work_ops(&workload, 1, Some(100))));
    let logged = growth[Counter::LogBytes.name()] / 400.0;
    assert!((8192.0..8192.0 * 1.3).contains(&logged), "{logged} bytes of log a block");
    assert!((growth[Counter::Commits.name()] - 100.0).abs() < 0.5);
    assert!(growth[Counter::CommitTimeUs.name()] > 0.0);
}

/// The wait for the writer and the commits of all sessions over one slice of updates.
fn waiting(fixture: &Fixture, sessions: u32, commit: Commit) -> (u64, f64) {
    let workload = Workload { update_pct: Share::ALL, commit, ..fixture.workload() };
    let opened = fixture.loaded();
    let mut waited = 0;
    let growth = growth(&opened, || {
        let reports = work_side_by_side(&*opened.target, &workload, sessions, 400_000);
        waited = reports.into_iter().map(|report| report.unwrap().writer_wait_us.unwrap()).sum();
    });
    (waited, growth[Counter::Commits.name()])
}

#[test]
fn one_writer_at_a_time_shows_as_waiting() {
    let (fixture, _) = fixture::fixture();
    let (alone, _) = waiting(&fixture, 1, Commit::Each);
    let (crowd, _) = waiting(&fixture, 4, Commit::Each);
    assert_eq!(alone, 0, "a single writer does not wait");
    // Four writers in turn: at each instant about three of them wait.
    assert!(crowd > 400_000, "four writers waited {crowd} us in a slice of 400,000 us");
}

#[test]
fn a_transaction_of_a_whole_slice_keeps_the_others_waiting() {
    let (fixture, _) = fixture::fixture();
    let (waited, commits) = waiting(&fixture, 3, Commit::Slice);
    assert!(waited > 400_000, "two waiting writers waited {waited} us in a slice of 400,000 us");
    assert!((commits - 3.0).abs() < 0.5, "{commits} commits by three sessions");
}
