//! Effects of the options on real files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{self, counter, folder, made, open, open_with, reads, session, slice, updates, working};
use mindful_conformance::assert_says;
use mindful_core::contract::event::Silent;
use mindful_core::contract::file_read::InFlight;
use mindful_core::contract::slice::SliceReport;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::Share;
use mindful_core::workload::{OpKind, Rate, Skew, ThinkTime, Workload};
use mindful_report::export::matrix::{self, Figures, PointResult};
use mindful_runner::orion::{Job, Matrix, Preset};

/// One slice of `millis` with `options`, or shorter when it has done `ops`.
fn measured(path: &Path, options: &[(&str, &str)], millis: i64, ops: Option<u64>) -> SliceReport {
    let (_target, mut session) = working(path, options, reads);
    slice(&mut *session, millis, 0, ops).unwrap()
}

fn at_point(path: &Path, point: InFlight, millis: i64, ops: Option<u64>) -> SliceReport {
    let (small, large) = (point.small.to_string(), point.large.to_string());
    let options = [("io", "uring"), ("iodepth", &small), ("large_iodepth", &large), ("large_size", "64KiB")];
    measured(path, &options, millis, ops)
}

#[test]
fn a_matrix_is_measured_point_by_point() {
    let folder = folder();
    let path = made(folder.path(), 2_000);
    let job = Job {
        preset: Preset::Advanced,
        matrix: Some(Matrix::Detailed),
        disks: 1,
        num_small: Some(2),
        num_large: Some(1),
        most: 16,
    };
    let results: Vec<PointResult> = job
        .points()
        .unwrap()
        .into_iter()
        .map(|point| {
            let report = at_point(&path, point, 60_000, Some(200));
            let seconds = (report.end_us - report.begin_us) as f64 / 1e6;
            let figures = |kind, bytes| Figures::new(report.op(kind).latency.clone(), bytes, seconds);
            PointResult { point, small: figures(OpKind::Select, 8_192), large: figures(OpKind::Scan, 65_536) }
        })
        .collect();
    assert_eq!(results.len(), 5);
    for result in &results {
        assert_eq!(result.small.is_some(), result.point.small > 0, "{result:?}");
        assert_eq!(result.large.is_some(), result.point.large > 0, "{result:?}");
    }
    assert_eq!(matrix::FILES[0].1(&results).lines().count(), 3);
}

#[test]
fn only_parsing_walks_every_row() {
    let folder = folder();
    let path = made(folder.path(), 200);
    for (look, rows) in [("none", 0), ("byte", 0), ("checksum", 0), ("parse", 500 * 16)] {
        for io in ["uring", "psync"] {
            let (target, mut session) = working(&path, &[("look", look), ("io", io)], reads);
            slice(&mut *session, 60_000, 0, Some(500)).unwrap();
            assert_eq!(counter(&*target, "rows_parsed") as u64, rows, "{look} {io}");
        }
    }
}

#[test]
fn a_session_runs_where_it_is_placed() {
    let folder = folder();
    let path = made(folder.path(), 100);
    let cpu = *allowed_cpus().last().unwrap();
    // On a new thread, because it stays bound.
    let bound = std::thread::spawn(move || {
        measured(&path, &[("cpus", &cpu.to_string())], 20, None);
        allowed_cpus()
    });
    assert_eq!(bound.join().unwrap(), [cpu]);
    assert!(!allowed_cpus().is_empty());
}

fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

#[test]
fn several_files_hold_one_dataset_however_they_are_combined() {
    let folder = folder();
    let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let open = |paths: &[&Path], options: &[_]| open_with(paths, options, &Arc::new(Silent));
    support::load(&*open(&paths, &[]).unwrap(), 2, 700).unwrap();
    for combine in [&[("combine", "concat")][..], &[("combine", "stripe"), ("stripe_size", "128KiB")]] {
        let target = open(&paths, &[combine, &[("verify", "on"), ("iodepth", "8")]].concat()).unwrap();
        assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None, "{combine:?}");
        let workload = updates(&target.dataset().unwrap().unwrap(), "30");
        let mut session = session(&*target, &workload).unwrap();
        assert_eq!(slice(&mut *session, 60_000, 0, Some(2_000)).unwrap().total_ops(), 2_000);
    }
    assert_says(support::refusal(open(&[paths[1], paths[0], paths[2]], &[])), &["file 2 of 3"]);
    assert_says(support::refusal(open(&paths[..2], &[])), &["of 3 made together"]);
}

#[test]
fn a_part_of_the_file_is_all_that_a_span_reads() {
    let folder = folder();
    let path = made(folder.path(), 3_000);
    for (span, blocks) in [("full", 3_000), ("outer", 307), ("inner", 308), ("mix", 306), ("10%..20%", 307)] {
        let target = open(&path, &[("span", span), ("verify", "on"), ("iodepth", "4")]).unwrap();
        let dataset = target.dataset().unwrap().unwrap();
        assert!(dataset.blocks_per_schema.abs_diff(blocks) <= 1, "{span}: {dataset:?}");
        let mut session = session(&*target, &reads(&dataset)).unwrap();
        assert_eq!(slice(&mut *session, 60_000, 0, Some(300)).unwrap().total_ops(), 300);
    }
}

#[test]
fn sequential_streams_read_and_write_every_block_once_a_round() {
    let folder = folder();
    let path = made(folder.path(), 1_024);
    for way in [&[("iodepth", "8")][..], &[("io", "psync")]] {
        let options = [way, &[("pattern", "sequential"), ("streams", "4"), ("verify", "on")]].concat();
        let before = std::fs::read(&path).unwrap();
        let report = support::work(&path, &options, |dataset| updates(dataset, "100"), 1_024).unwrap();
        assert_eq!(report.op(OpKind::Update).ops, 1_024, "{way:?}");
        let after = std::fs::read(&path).unwrap();
        let blocks = || before.chunks(8_192).zip(after.chunks(8_192)).skip((1 << 20) / 8_192);
        assert_eq!(blocks().filter(|(before, after)| before != after).count(), 1_024, "{way:?}");
        let report = support::work(&path, &options, reads, 1_024).unwrap();
        assert_eq!(report.op(OpKind::Select).ops, 1_024, "{way:?}");
    }
}

#[test]
fn an_open_loop_keeps_its_rate_at_any_depth() {
    let folder = folder();
    let path = made(folder.path(), 500);
    for depth in ["1", "16"] {
        let rate = Some(Rate { per_s: 500.0, even: true });
        let (_target, mut session) =
            working(&path, &[("iodepth", depth)], |dataset| Workload { rate, ..reads(dataset) });
        let report = slice(&mut *session, 400, 0, None).unwrap();
        let due = report.total_ops() + report.backlog.unwrap();
        assert!(due.abs_diff(200) <= 2, "depth {depth}: {due} were due");
        let op = report.op(OpKind::Select);
        assert_eq!(op.response.as_ref().unwrap().count(), op.ops);
    }
}

#[test]
fn a_pausing_session_thinks_or_is_in_flight_at_each_depth() {
    let folder = folder();
    let path = made(folder.path(), 500);
    let pause = Duration::from_millis(1);
    let think = ThinkTime { share: Share::parse("20").unwrap(), min: pause, max: pause, exponential: false };
    for depth in [1_u64, 4, 16] {
        let off = |_| {
            let thinking = |dataset: &_| Workload { think_time: Some(think), ..reads(dataset) };
            let (_target, mut session) = working(&path, &[("iodepth", &depth.to_string())], thinking);
            let report = slice(&mut *session, 200, 0, None).unwrap();
            let latency = &report.op(OpKind::Select).latency;
            let span_us = (report.end_us - report.begin_us).unsigned_abs();
            let (accounted_us, all_us) = (report.think_us * depth + latency.sum_ns / 1_000, span_us * depth);
            // I/Os in flight at the end of the slice complete one after the other.
            let ending_us = depth * (2 * latency.max_ns / 1_000 + 2_000);
            (accounted_us.abs_diff(all_us) > ending_us).then(|| format!("{accounted_us} us of {all_us}"))
        };
        // A thread without a CPU does neither: at least one of several slices is undisturbed.
        let tries: Vec<String> = (0..10).map_while(off).collect();
        assert!(tries.len() < 10, "depth {depth}: {tries:?}");
    }
}

#[test]
fn a_skewed_and_pausing_session_in_a_ring_follows_its_draws() {
    let folder = folder();
    let path = made(folder.path(), 500);
    let pause = Duration::from_micros(200);
    let think = ThinkTime { share: Share::parse("10").unwrap(), min: pause, max: pause, exponential: false };
    let workload = |dataset: &_| Workload { skew: Skew::Zipf(0.9), think_time: Some(think), ..updates(dataset, "40") };
    let report = support::work(&path, &[("iodepth", "4")], workload, 1_000).unwrap();
    let span_us = (report.end_us - report.begin_us).unsigned_abs();
    assert_eq!((report.ops[0].ops, report.ops[1].ops), (600, 400));
    let pauses: u64 = report.tally.0.iter().filter(|(cell, _)| cell & 16 != 0).map(|(_, count)| count).sum();
    assert!((60..140).contains(&pauses), "{pauses} pauses");
    assert!(report.think_us > 0 && report.think_us <= span_us, "{} us of thinking in {span_us} us", report.think_us);
}
