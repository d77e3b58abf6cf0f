//! Requests to the cache against those that the blocks visited cost.

use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::contract::description::{CacheRequests, Description};
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::Run;

/// A run of reads with `requests` to its cache for each visited block.
fn asking(requests: f64, expected: Option<CacheRequests>) -> Run {
    made_asking(&Made { work_unit: 64, update_pct: "0", ..Made::default() }, requests, expected)
}

fn made_asking(made: &Made, requests: f64, expected: Option<CacheRequests>) -> Run {
    let mut run = made.run();
    run.description = Some(Description { cache_requests: expected, ..run.description.take().unwrap_or_default() });
    for series in &mut run.steps[0].series {
        let Some(at) = series.metrics.iter().position(|metric| metric.name == Counter::LogicalReads) else { continue };
        for value in series.readings.iter_mut().filter_map(|reading| reading.values[at].as_mut()) {
            *value *= requests;
        }
    }
    run
}

fn is_reported(run: &Run) -> bool {
    analyze(run).summary.findings.iter().any(|finding| finding.code == "unasked-reads")
}

#[test]
fn levels_of_a_tree_are_asked_for_and_reads_of_others_are_not() {
    let tree = Some(CacheRequests { visited: 4.0, updated: 24.0, ..CacheRequests::default() });
    assert!(!is_reported(&asking(1.0, None)));
    assert!(is_reported(&asking(3.0, None)), "no engine said that a block costs three requests");
    assert!(!is_reported(&asking(3.0, tree)));
    assert!(is_reported(&asking(6.0, tree)), "two runs on one server ask twice");
}

#[test]
fn few_operations_allow_for_those_under_way() {
    let few = Made { work_unit: 64, update_pct: "0", seconds: 2, latency_us: 900_000, ..Made::default() };
    assert!(!is_reported(&made_asking(&few, 1.7, None)), "one more by each session at either end of the window");
    assert!(is_reported(&made_asking(&few, 4.0, None)));
}

/// Each commit voids the caches of the other sessions, and no counter includes reads of others.
#[test]
fn sessions_that_update_within_mindful_read_blocks_again() {
    let reported = |update_pct, in_process| {
        let mut run = Made { miss: 8.0, update_pct, ..Made::default() }.run();
        run.host.iter_mut().for_each(|host| host.in_process = in_process);
        is_reported(&run)
    };
    assert!(!reported("50", true) && reported("50", false) && reported("0", true));
}
