//! Writes that are made durable: the number of syncs, their counters and times, and the place of appends.

use std::fs;
use std::sync::Arc;

use mindful_core::contract::event::Silent;
use mindful_core::contract::metric::Counter;
use mindful_core::record::latency::{Latency, WAIT_HISTOGRAM, wait_kind};

use crate::support::{folder, load, made, open, open_with, reads, refusal, slice, updates, working};

const WAYS: [&[(&str, &str)]; 2] = [&[("io", "psync")], &[("io", "uring"), ("iodepth", "4")]];

/// Commits and syncs that the sampler counts after 50 writes with `options`, and how many syncs it timed.
fn durable(path: &std::path::Path, options: &[(&str, &str)]) -> (f64, f64, u64) {
    let (target, mut session) = working(path, options, |dataset| updates(dataset, "100"));
    let report = slice(&mut *session, 60_000, 0, Some(50)).unwrap();
    assert_eq!(report.ops[1].ops, 50);
    let mut samplers = target.samplers().unwrap();
    let sampler = samplers.iter_mut().find(|sampler| sampler.name() == WAIT_HISTOGRAM).unwrap();
    let values = sampler.read().unwrap();
    let value = |name: &str| {
        let at = sampler.metrics().iter().position(|metric| metric.name == name).unwrap();
        values[at].unwrap()
    };
    let counted = (value(Counter::Commits.name()), value(Counter::LogSyncs.name()));
    let sync_us = value("log_sync_time");
    let timed = sampler.latencies().unwrap().kinds.get(wait_kind::LOG_SYNC).map_or(0, Latency::count);
    // Each sync is a part of the update that it follows.
    let update_us = report.ops[1].latency.sum_ns as f64 / 1e3;
    assert!(sync_us <= update_us * 1.001, "{sync_us} of {update_us}");
    (counted.0, counted.1, timed)
}

#[test]
fn a_session_syncs_after_so_many_writes_and_times_each_sync() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    for way in WAYS {
        let with = |more: &[(&'static str, &'static str)]| durable(&path, &[way, more].concat());
        assert_eq!(with(&[("fsync", "1"), ("direct", "off")]), (50.0, 50.0, 50), "{way:?}");
        assert_eq!(with(&[("fsync", "8")]), (48.0, 6.0, 6), "{way:?}");
        assert_eq!(with(&[("sync", "on"), ("direct", "off")]), (50.0, 0.0, 0), "{way:?}");
    }
}

#[test]
fn appends_go_to_the_end_of_the_file_which_is_cut_back() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    let before = fs::read(&path).unwrap();
    for way in WAYS {
        let (target, mut session) =
            working(&path, &[way, &[("append", "on"), ("fsync", "1"), ("direct", "off")]].concat(), |dataset| {
                updates(dataset, "100")
            });
        slice(&mut *session, 60_000, 0, Some(20)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), before.len() as u64 + 20 * 8_192, "{way:?}");
        drop((session, target));
        assert!(fs::read(&path).unwrap() == before, "{way:?}: the file is as it was");
    }
}

#[test]
fn syncs_without_writes_and_of_several_files_are_refused() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    for option in ["fsync", "append"] {
        let value = if option == "fsync" { "1" } else { "on" };
        let target = open(&path, &[(option, value)]).unwrap();
        let workload = reads(&target.dataset().unwrap().unwrap());
        assert!(refusal(target.prepare(&workload, 1)).contains("--update-pct"));
        let two = open_with(&[&path, &folder.path().join("second")], &[(option, value)], &Arc::new(Silent));
        assert!(refusal(two).contains("name one file"));
    }
    // Foreign files never grow.
    let bare = folder.path().join("bare");
    fs::write(&bare, vec![0; 1 << 20]).unwrap();
    let target = open(&bare, &[("append", "on")]).unwrap();
    let workload = updates(&target.dataset().unwrap().unwrap(), "100");
    refusal(target.prepare(&workload, 1));
    assert_eq!(fs::metadata(&bare).unwrap().len(), 1 << 20);
    assert!(load(&*target, 1, 10).is_err());
}
