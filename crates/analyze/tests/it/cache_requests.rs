//! Requests to the cache against those that the blocks visited cost.

use crate::judged::found;
use crate::made::{Made, scale};
use mindful_core::contract::description::{CacheRequests, Description};
use mindful_core::contract::metric::Counter;

/// Of a run with `requests` to its cache for each visited block.
fn is_reported(made: &Made, requests: f64, expected: Option<CacheRequests>) -> bool {
    let mut run = made.run();
    run.description = Some(Description { cache_requests: expected, ..run.description.take().unwrap_or_default() });
    scale(&mut run, Counter::LogicalReads, requests);
    found(&run, "unasked-reads").is_some()
}

#[test]
fn levels_of_a_tree_are_asked_for_and_reads_of_others_are_not() {
    let reads = Made::default();
    let tree = Some(CacheRequests { visited: 4.0, updated: 24.0, ..CacheRequests::default() });
    assert!(!is_reported(&reads, 1.0, None));
    assert!(is_reported(&reads, 3.0, None), "no engine said that a block costs three requests");
    assert!(!is_reported(&reads, 3.0, tree));
    assert!(is_reported(&reads, 6.0, tree), "two runs on one server ask twice");
}

#[test]
fn few_operations_allow_for_those_under_way() {
    let few = Made { seconds: 2, latency_us: 900_000, ..Made::default() };
    assert!(!is_reported(&few, 1.7, None), "one more by each session at either end of the window");
    assert!(is_reported(&few, 4.0, None));
}

/// Each commit voids the caches of the other sessions, and no counter includes reads of others.
#[test]
fn sessions_that_update_within_mindful_read_blocks_again() {
    let reported = |update_pct, in_process| {
        let mut run = Made { miss: 8.0, update_pct, ..Made::default() }.run();
        run.host.iter_mut().for_each(|host| host.in_process = in_process);
        found(&run, "unasked-reads").is_some()
    };
    assert!(!reported("50", true) && reported("50", false) && reported("0", true));
}
