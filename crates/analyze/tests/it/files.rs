//! Runs on bare files with a known truth: large reads, several I/Os in flight, writes without reads.

use crate::judged::{codes, has, headline, near};
use crate::made::{BLOCK_BYTES, Made, add, scale, workload};
use mindful_analyze::analyze;
use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::{LoopSite, OpKind};

/// Blocks in a large read of 1 MiB.
const LARGE: u64 = 128;
const MIB_OF_A_BLOCK: f64 = BLOCK_BYTES / 1_048_576.0;

/// `run` as one of bare files: no cache, no logical reads.
fn on_files(mut run: Run, io: &str, iodepth: u32) -> Run {
    let description = run.description.as_mut().unwrap();
    description.cache_bytes = None;
    description.files = true;
    description.facts = [("io", io.to_owned()), ("iodepth", iodepth.to_string())].map(|(k, v)| (k.into(), v)).into();
    run.head.server_side_loop = Some(false);
    run.steps.iter_mut().for_each(|step| step.head.workload.as_mut().unwrap().loop_site = LoopSite::Client);
    run.shapes.clear();
    run
}

/// Only reads of 1 MiB, each an operation; a `from_storage` share of their bytes comes from storage.
fn large(from_storage: f64) -> Run {
    let made = Made {
        work_unit: LARGE,
        latency_us: 640,
        // As many blocks are read as are visited.
        miss: 1.0 / 1.02,
        from_storage,
        unseen: &[Counter::LogicalReads],
        ..Made::default()
    };
    let mut run = on_files(made.run(), "uring", 0);
    run.description.as_mut().unwrap().facts.insert("large_iodepth".into(), "1".into());
    workload(&mut run).work_unit = 1;
    for (_, slice) in &mut run.steps[0].unmerged {
        let large = std::mem::take(slice.op_mut(OpKind::Select));
        *slice.op_mut(OpKind::Scan) = large;
    }
    let requests = made.ops_per_slice() * u64::from(made.sessions);
    add(&mut run, "raw", &[(Counter::ReadRequests, requests as f64)]);
    run
}

#[test]
fn large_direct_reads_are_storage_reads_in_bytes() {
    let analysis = analyze(&large(1.0));
    let (step, headline) = (&analysis.summary.steps[0], headline(&analysis));
    assert_eq!((headline.kind, headline.label.as_str()), (HeadlineKind::Storage, "storage MiB/s (reads)"));
    near(Some(headline.per_s), step.ops.scan.as_ref().unwrap().per_s, 1e-3);
    near(step.physical_reads_per_s, headline.per_s / MIB_OF_A_BLOCK, 1e-3);
    assert_eq!(step.page_cache_share, Some(0.0));
    assert_eq!((step.read_latency_mean_us, step.cpu.iops_per_core), (None, None), "of no single block");
    assert_eq!(codes(&analysis), [""; 0]);
    let expected: Vec<_> = analysis.steps[0].ledger.reads.iter().map(|row| (row.name.as_ref(), row.expected)).collect();
    let device = analysis.steps[0].ledger.reads.last().unwrap();
    assert_eq!(
        (device.name.as_ref(), device.gap.as_deref()),
        ("device reads", None),
        "a request a block, as it was made"
    );
    assert!(expected.contains(&("blocks visited", None)) && expected.contains(&("device reads", None)), "{expected:?}");
}

#[test]
fn the_page_cache_is_seen_by_bytes_at_any_request_size() {
    for from_storage in [0.0, 0.5, 0.9] {
        let analysis = analyze(&large(from_storage));
        let headline = headline(&analysis);
        let share = analysis.summary.steps[0].page_cache_share.unwrap();
        assert!((share - (1.0 - from_storage)).abs() < 1e-6, "{share} for {from_storage}");
        assert_eq!(headline.kind, HeadlineKind::PageCache);
        assert!(headline.label.starts_with("MiB/s of file reads"), "{}", headline.label);
        assert!(!headline.why.contains("database"), "{}", headline.why);
        assert!(has(&analysis, "page-cache"));
    }
}

#[test]
fn requests_split_or_merged_before_the_device_are_no_cache() {
    let [whole, split, merged] = [1.0 / 128.0, 1.0 / 32.0, 1.0 / 512.0].map(|factor| {
        let mut run = large(1.0);
        // The same bytes at the device, in more requests or fewer.
        scale(&mut run, Counter::DeviceReads, factor);
        analyze(&run)
    });
    for analysis in [&split, &merged] {
        assert_ne!(analysis.summary.steps[0].device_reads_per_s, whole.summary.steps[0].device_reads_per_s);
        assert_eq!(analysis.summary.steps[0].page_cache_share, Some(0.0));
        assert_eq!(analysis.steps[0].headline, whole.steps[0].headline);
        assert_eq!(analysis.steps[0].ledger.reads[5].gap.as_deref(), Some("several blocks in one request"));
        assert_eq!(codes(analysis), [""; 0]);
    }
}

#[test]
fn small_and_large_reads_together_are_weighed() {
    let mut run = large(1.0);
    // One block read with each large read.
    let made = Made { latency_us: 640, work_unit: 1, ..Made::default() };
    let small = made.run();
    for ((_, slice), (_, small)) in run.steps[0].unmerged.iter_mut().zip(&small.steps[0].unmerged) {
        *slice.op_mut(OpKind::Select) = small.ops[OpKind::Select as usize].clone();
    }
    let facts = &mut run.description.as_mut().unwrap().facts;
    facts.insert("iodepth".into(), "1".into());
    let analysis = analyze(&run);
    let headline = headline(&analysis);
    assert_eq!((headline.kind, headline.label.as_str()), (HeadlineKind::Storage, "storage MiB/s (reads)"));
    assert_eq!(analysis.summary.steps[0].iodepth, Some(1));
    assert_eq!(codes(&analysis), [""; 0]);
}

#[test]
fn blocks_of_a_file_never_come_from_a_database_cache() {
    let made = Made { work_unit: 1, latency_us: 640, miss: 1.0 / 1.02, ..Made::default() };
    let analysis = analyze(&on_files(Made { unseen: &[Counter::LogicalReads], ..made.clone() }.run(), "psync", 1));
    assert_eq!(headline(&analysis).label, "storage IOPS (reads)");
    // Writes alone read nothing, and no cache served them.
    let unseen = &[Counter::LogicalReads];
    let mut writes = on_files(Made { update_pct: "100", miss: 0.0, unseen, ..made }.run(), "psync", 1);
    scale(&mut writes, Counter::PhysicalWrites, 1.25);
    let analysis = analyze(&writes);
    let headline = headline(&analysis);
    assert_eq!((headline.kind, headline.label.as_str()), (HeadlineKind::Operations, "writes per second (files)"));
    near(analysis.summary.steps[0].blocks_visited_per_s, headline.per_s, 1e-3);
    assert_eq!(analysis.summary.steps[0].commit, None, "there is no log");
}

/// A step of one session at `values`, with operations `slower` times as long at the same throughput.
fn ladder_step(of: &StepRecord, step: u32, values: &[(&str, &str)], slower: u64) -> StepRecord {
    let mut ladder_step = of.clone();
    ladder_step.head.step = step;
    ladder_step.head.point.values =
        values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    for (_, slice) in &mut ladder_step.unmerged {
        let latency = &mut slice.op_mut(OpKind::Select).latency;
        latency.sum_ns *= slower;
    }
    ladder_step
}

fn limits(ladder_steps: &[(&[(&str, &str)], u64)]) -> Vec<Limit> {
    let made = Made { sessions: 1, work_unit: 1, latency_us: 250, server_cores: 0.1, ..Made::default() };
    let mut run = on_files(made.run(), "uring", 1);
    let one = run.steps[0].clone();
    run.steps = (0..).zip(ladder_steps).map(|(at, (values, slower))| ladder_step(&one, at, values, *slower)).collect();
    analyze(&run).steps.iter().map(|step| step.verdict.as_ref().unwrap().limit).collect()
}

#[test]
fn a_deeper_queue_that_brings_nothing_is_a_cap_of_the_device() {
    let found = limits(&[(&[("iodepth", "16")], 16), (&[("iodepth", "32")], 32)]);
    assert_eq!(found[1], Limit::DeviceCap, "{found:?}");
    assert_ne!(found[0], Limit::DeviceCap);
    let job = limits(&[(&[("small", "8"), ("large", "0")], 8), (&[("small", "20"), ("large", "0")], 20)]);
    assert_eq!(job[1], Limit::DeviceCap);
}

#[test]
fn the_same_load_in_another_mix_or_place_is_no_ladder() {
    let other_block = [(&[("iodepth", "16")][..], 16), (&[("iodepth", "32"), ("block_size", "64KiB")], 32)];
    let other_mix = [(&[("small", "8"), ("large", "0")][..], 8), (&[("small", "8"), ("large", "8")], 16)];
    let other_span = [(&[("iodepth", "16"), ("span", "outer")][..], 16), (&[("iodepth", "32"), ("span", "inner")], 32)];
    for unlike in [other_block, other_mix, other_span] {
        assert_ne!(limits(&unlike)[1], Limit::DeviceCap, "{unlike:?}");
    }
    // Twice the sessions at half the iodepth offer nothing more.
    let made = Made { work_unit: 1, latency_us: 250, server_cores: 0.1, ..Made::default() };
    let (one, two) = (Made { sessions: 1, ..made.clone() }.run(), Made { sessions: 2, ..made }.run());
    let mut run = on_files(one.clone(), "uring", 1);
    let mut halved = ladder_step(&two.steps[0], 1, &[("iodepth", "8"), ("sessions", "2")], 16);
    halved.unmerged.iter_mut().for_each(|(_, slice)| slice.op_mut(OpKind::Select).ops /= 2);
    run.steps = vec![ladder_step(&one.steps[0], 0, &[("iodepth", "16"), ("sessions", "1")], 8), halved];
    let analysis = analyze(&run);
    assert_ne!(analysis.steps[1].verdict.as_ref().unwrap().limit, Limit::DeviceCap);
    assert_eq!(analysis.steps[1].evidence.ladder, None);
}

#[test]
fn a_session_at_high_iodepth_can_be_out_of_cpu() {
    // 64 I/Os in flight, and the one thread that makes them is on its CPU nine tenths of the time.
    let made = Made { sessions: 1, work_unit: 1, latency_us: 100, server_cores: 0.9, ..Made::default() };
    let mut run = on_files(made.run(), "uring", 64);
    run.steps = vec![ladder_step(&run.steps[0], 0, &[], 64)];
    let verdict = analyze(&run).steps.remove(0).verdict.unwrap();
    assert_eq!(verdict.limit, Limit::Cpu, "{verdict:?}");
    assert!(verdict.next.contains("more --sessions"), "{verdict:?}");
}
