//! Access paths of blocks and commits, distinguished by a server's counters, and the log of an updated block.

use crate::judged::found;
use crate::made::{Made, add, workload};
use mindful_analyze::{Analysis, analyze};
use mindful_core::contract::description::{Description, ExpectedLog, LogImages};
use mindful_core::contract::metric::Counter;
use mindful_core::dataset::Content;
use mindful_core::plan::units::Share;
use mindful_core::record::run::Run;
use mindful_core::result::Severity;
use mindful_core::workload::{Commit, Compatibility, OpKind};

/// A run with `rates` in addition to the usual counters; with updates only if `updates`.
fn measured_with(rates: &[(Counter, f64)], updates: bool) -> (Run, f64) {
    let made = Made::default();
    let mut run = made.run();
    add(&mut run, "server", rates);
    if updates {
        workload(&mut run).update_pct = Share::ALL;
        run.steps[0]
            .unmerged
            .iter_mut()
            .for_each(|(_, slice)| slice.ops.swap(OpKind::Select as usize, OpKind::Update as usize));
    }
    (run, made.ops_per_slice() as f64 * f64::from(made.sessions))
}

/// Physical reads per second of the usual run.
fn reads() -> f64 {
    let Analysis { summary, .. } = analyze(&Made::default().run());
    summary.steps[0].physical_reads_per_s.unwrap()
}

#[test]
fn prefetched_and_direct_reads_are_separate() {
    let reads = reads();
    let rates = |ahead: f64, direct: f64| {
        let requests = (Counter::ReadRequests, reads);
        [requests, (Counter::ReadsAhead, reads * ahead), (Counter::ReadsDirect, reads * direct)]
    };
    let (clean, _) = measured_with(&rates(0.0, 0.0), false);
    assert!(["prefetched", "read-past-cache"].iter().all(|code| found(&clean, code).is_none()));
    let (run, _) = measured_with(&rates(0.25, 0.1), false);
    let ledger = analyze(&run).steps[0].ledger.clone();
    let ratios = ledger.reads[4..7].iter().map(|row| (&*row.name, (100.0 * row.ratio.unwrap()).round()));
    let expected = [("  read requests", 100.0), ("  prefetched", 25.0), ("  past the cache", 10.0)];
    assert!(ratios.eq(expected), "{:#?}", ledger.reads);
    let prefetched = found(&run, "prefetched").unwrap();
    assert!(prefetched.evidence.contains("25 % of the blocks read were prefetched"), "{prefetched:?}");
    let direct = found(&run, "read-past-cache").unwrap();
    assert!(direct.severity == Severity::Warning && direct.evidence.starts_with("10 %"), "{direct:?}");
    let (mut scanning, _) = measured_with(&rates(0.0, 0.9), false);
    workload(&mut scanning).scan_pct = Share::from_hundredths(1_000).unwrap();
    assert_eq!(found(&scanning, "read-past-cache").unwrap().severity, Severity::Info);
    assert!(analyze(&Made::default().run()).steps[0].ledger.reads.iter().all(|row| !row.name.contains("prefetched")));
}

#[test]
fn filters_and_caches_of_storage_are_reported() {
    let reads = reads();
    let flash = [(Counter::ReadRequests, reads), (Counter::StorageCacheReads, reads * 0.8)];
    let (run, _) = measured_with(&flash, false);
    assert!(found(&run, "storage-cache").unwrap().evidence.starts_with("80 %"));
    assert!(found(&run, "storage-filters").is_none());
    let (run, _) = measured_with(&[(Counter::FilteredBytes, 2_097_152.0)], false);
    assert!(found(&run, "storage-filters").unwrap().evidence.starts_with("2.0 MiB/s"));
}

#[test]
fn updates_commits_waits_and_bytes_of_log_prove_each_other() {
    let of = |commits: f64, waits: f64, bytes: f64| {
        let (_, updates) = measured_with(&[], true);
        let log = (Counter::LogBytes, bytes * updates * Made::default().work_unit as f64);
        let rates = [(Counter::Commits, commits * updates), (Counter::CommitWaits, waits * updates), log];
        measured_with(&rates, true).0
    };
    assert_eq!(found(&of(1.0, 1.0, 200.0), "commits-unproven"), None);
    for (commits, waits, bytes, part) in
        [(1.0, 0.5, 200.0, "waits for the WAL/s"), (0.5, 0.5, 200.0, "commits/s"), (1.0, 1.0, 10.0, "10 bytes of WAL")]
    {
        let run = of(commits, waits, bytes);
        let finding = found(&run, "commits-unproven").unwrap_or_else(|| panic!("{commits} {waits} {bytes}"));
        assert!(finding.severity == Severity::Warning && finding.evidence.contains(part), "{finding:?}");
    }
    // Commits as in the old kit wait for nothing; that is reported before the run.
    let mut slob = of(1.0, 0.0, 200.0);
    workload(&mut slob).compatibility = Compatibility::Slob;
    assert_eq!(found(&slob, "commits-unproven"), None);
}

#[test]
fn the_share_of_reading_the_clock_is_reported_where_timed() {
    let mut run = Made::default().run();
    assert_eq!(found(&run, "clock-cost"), None);
    run.description.as_mut().unwrap().clock_cost_us = Some(64.0);
    // Operations of 6.4 ms.
    let evidence = found(&run, "clock-cost").unwrap().evidence;
    assert!(evidence.starts_with("64.00 us a reading, 1.0 %") || evidence.contains(" 0.9"), "{evidence}");
}

/// A run in which every operation is an update and logs `log` bytes and `images` images a block.
fn updating(log: f64, images: f64) -> Run {
    let made = Made::default();
    let mut run = made.run();
    let whole = Some(LogImages { counter: "images".to_owned(), bytes: 8_240.0 });
    let expected = ExpectedLog { light: [70.0, 200.0], heavy: [1e3, 1.3e3], images: whole, once_a_transaction: false };
    run.description = Some(Description { expected_log: Some(expected), ..run.description.take().unwrap_or_default() });
    for (_, slice) in &mut run.steps[0].unmerged {
        slice.ops.swap(OpKind::Select as usize, OpKind::Update as usize);
    }
    let blocks = made.blocks_per_s();
    let rates = [(Counter::LogBytes.name(), blocks * log), ("images", blocks * images)];
    add(&mut run, "log", &rates);
    run
}

fn band_evidence(run: &Run) -> Option<String> {
    found(run, "log-band").map(|finding| finding.evidence)
}

#[test]
fn log_within_the_band_is_no_finding() {
    assert_eq!(band_evidence(&updating(110.0, 0.0)), None);
    assert_eq!(band_evidence(&updating(110.0 + 0.5 * 8_000.0, 0.5)), None);
}

#[test]
fn log_outside_the_expected_band_is_reported_with_the_band() {
    let evidence = band_evidence(&updating(900.0, 0.0)).unwrap();
    assert!(evidence.contains("900 bytes") && evidence.contains("70 to 200"), "{evidence}");
    assert!(band_evidence(&updating(10.0, 0.0)).is_some());
}

#[test]
fn the_band_of_single_commits_says_nothing_of_larger_ones() {
    let mut run = updating(900.0, 0.0);
    run.description.as_mut().unwrap().expected_log.as_mut().unwrap().once_a_transaction = true;
    assert!(band_evidence(&run).is_some());
    workload(&mut run).commit = Commit::Every(10);
    assert_eq!(band_evidence(&run), None);
}

#[test]
fn repeated_content_makes_a_run_suspect() {
    let mut run = Made::default().run();
    assert!(found(&run, "repeated-content").is_none());
    run.dataset.as_mut().unwrap().content = Content::Repeated;
    assert!(found(&run, "repeated-content").is_some());
}

#[test]
fn a_finding_ends_with_the_advice_of_its_engine() {
    let mut run = updating(900.0, 0.0);
    let text = |run: &Run| found(run, "log-band").unwrap().text;
    let without = text(&run);
    let advice = [("log-band", "Check the gauges."), ("autovacuum", "Never reported.")];
    run.description.as_mut().unwrap().advice = advice.map(|(code, text)| (code.to_owned(), text.to_owned())).into();
    assert_eq!(text(&run), format!("{without} Check the gauges."));
}
