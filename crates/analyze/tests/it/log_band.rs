//! The log of an updated block against what the engine expects.

use crate::judged::found;
use crate::made::{Made, add, workload};
use mindful_core::contract::description::{Description, ExpectedLog, LogImages};
use mindful_core::contract::metric::{Counter, Phase};
use mindful_core::dataset::Content;
use mindful_core::record::run::Run;
use mindful_core::workload::{Commit, OpKind};

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
    add(&mut run, "log", Phase::Settled, &rates);
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
