//! The buckets of latencies in a slice's block.

use mindful_core::record::latency::Recorder;
use mindful_oracle::bucket::{OF_KIND, least_ns};

use crate::fake::slice::bucket_number;

/// The value of core's histogram for a latency.
fn of_core(ns: u64) -> u64 {
    let mut recorder = Recorder::new();
    recorder.record(ns);
    recorder.drain().buckets.iter().next().unwrap().0
}

#[test]
fn its_borders_are_those_of_cores_histogram() {
    let mut us = 1;
    while us < 536_870_911 {
        for us in [us - 1, us, us + 1] {
            let exact = (us * 1_000).max(1);
            let bucketed = least_ns(bucket_number(us)).max(1);
            assert_eq!(of_core(bucketed), of_core(exact), "{us} us");
            assert!(bucketed <= exact && bucket_number(us) < OF_KIND, "{us} us");
        }
        us += 1 + us / 61;
    }
}
