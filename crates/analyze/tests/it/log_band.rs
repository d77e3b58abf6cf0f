//! The log of an updated block against what the engine expects.

use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::contract::description::{Description, ExpectedLog, LogImages};
use mindful_core::contract::metric::{Counter, Metric, Phase};
use mindful_core::dataset::Content;
use mindful_core::record::run::{Reading, Run, Series};
use mindful_core::workload::{Commit, OpKind};

/// A run in which every operation is an update and logs `log` bytes and `images` images a block.
fn updating(log: f64, images: f64) -> Run {
    let mut run = Made::default().run();
    let whole = Some(LogImages { counter: "images".to_owned(), bytes: 8_240.0 });
    let expected = ExpectedLog { light: [70.0, 200.0], heavy: [1e3, 1.3e3], images: whole, once_a_transaction: false };
    run.description = Some(Description { expected_log: Some(expected), ..run.description.take().unwrap_or_default() });
    let step = &mut run.steps[0];
    let mut blocks_by_slice = vec![0; step.boundaries_us.len()];
    for (_, slice) in &mut step.unmerged {
        slice.ops.swap(OpKind::Select as usize, OpKind::Update as usize);
        blocks_by_slice[slice.index as usize + 1] += slice.op(OpKind::Update).blocks;
    }
    let mut done = 0.0;
    let readings = blocks_by_slice.iter().enumerate().map(|(boundary, blocks)| {
        done += *blocks as f64;
        let values = vec![Some(done * log), Some(done * images)];
        Reading { boundary: boundary as u32, at_us: step.boundaries_us[boundary], cost_us: 1, values }
    });
    let readings = readings.collect();
    let metrics = vec![Metric::counter(Counter::LogBytes, "bytes", "log"), Metric::counter("images", "1", "images")];
    step.series.push(Series { source: "log".to_owned(), metrics, phase: Phase::Settled, readings });
    run
}

fn band_evidence(run: &Run) -> Option<String> {
    let findings = analyze(run).summary.findings;
    findings.into_iter().find(|finding| finding.code == "log-band").map(|finding| finding.evidence)
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
    run.steps[0].head.workload.as_mut().unwrap().commit = Commit::Every(10);
    assert_eq!(band_evidence(&run), None);
}

#[test]
fn repeated_content_makes_a_run_suspect() {
    let mut run = Made::default().run();
    assert!(!analyze(&run).summary.findings.iter().any(|finding| finding.code == "repeated-content"));
    run.dataset.as_mut().unwrap().content = Content::Repeated;
    assert!(analyze(&run).summary.findings.iter().any(|finding| finding.code == "repeated-content"));
}

#[test]
fn a_finding_ends_with_the_advice_of_its_engine() {
    let mut run = updating(900.0, 0.0);
    let text = |run: &Run| {
        let findings = analyze(run).summary.findings;
        findings.into_iter().find(|finding| finding.code == "log-band").unwrap().text
    };
    let without = text(&run);
    let advice = [("log-band", "Check the gauges."), ("autovacuum", "Never reported.")];
    run.description.as_mut().unwrap().advice = advice.map(|(code, text)| (code.to_owned(), text.to_owned())).into();
    assert_eq!(text(&run), format!("{without} Check the gauges."));
}
