//! The arithmetic of a slice's block: the buckets of latencies, and pauses on a scripted clock.

use std::collections::VecDeque;

use mindful_core::record::latency::Recorder;
use mindful_oracle::bucket::{OF_KIND, least_ns};
use mindful_oracle::driver::{Bind, Failure};

use crate::fake::Binds;
use crate::fake::slice::{Server, answer, bucket_number};

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

/// A server with a scripted clock.
struct Scripted {
    clock: VecDeque<i64>,
    slept_us: Vec<i64>,
}

impl Server for Scripted {
    fn now_us(&mut self) -> i64 {
        self.clock.pop_front().expect("the clock is asked more often than on paper")
    }

    fn sleep_us(&mut self, us: i64) {
        self.slept_us.push(us);
    }

    fn operate(&mut self, _what: i64, _slot: i64, first: i64, last: i64) -> Result<u64, Failure> {
        Ok((last - first + 1).unsigned_abs())
    }

    fn commit(&mut self) {}
}

/// The answer to `words` from `begin_us` to `end_us`, with a pause that was handed on, and the sleeps.
fn run_block(words: &[i32], [begin_us, end_us, since_us, until_us]: [i64; 4], clock: &[i64]) -> (String, Vec<i64>) {
    let ops: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let times = [("begin_us", begin_us), ("end_us", end_us), ("since_us", since_us), ("until_us", until_us)];
    let mut binds = vec![("ops", Bind::Bytes(ops)), ("pending", Bind::Integer(0))];
    binds.extend(times.map(|(name, us)| (name, Bind::Integer(us))));
    let mut server = Scripted { clock: clock.to_vec().into(), slept_us: Vec::new() };
    let text = answer("c_entry   CONSTANT PLS_INTEGER := 16;", &Binds(&binds), &mut server).unwrap();
    assert!(server.clock.is_empty(), "asked {} times less than on paper", server.clock.len());
    (text, server.slept_us)
}

#[test]
fn a_pause_is_cut_at_the_end_and_handed_on() {
    // The operation ends at 4,000; the pause would end at 54,000, the slice does at 20,000.
    let first = run_block(&[5, 0, 0, 50_000, 6, 0, 0, 0], [0, 20_000, 0, 0], &[0, 0, 4_000, 20_100]);
    // 4,000,000 ns lie in octave 14 at 244.
    assert_eq!(first, ("1 0 20100 20000 54000 16000 0;1 4000 4000;0 0 0;0 0 0;;2036:1".to_owned(), vec![16_000]));
    let clock = [20_100, 20_100, 54_050, 54_060];
    let next = run_block(&[6, 0, 0, 0], [20_000, 100_000, 20_000, 54_000], &clock);
    // 10,000 ns lie in octave 6 at 156.
    assert_eq!(next, ("1 20100 54060 20000 0 34050 0;1 10 10;0 0 0;0 0 0;;924:1".to_owned(), vec![33_900]));
}
