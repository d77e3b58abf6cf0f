//! The slice's arithmetic by hand: the expected answers of the block.

use std::collections::VecDeque;

use mindful_core::record::latency::Recorder;
use mindful_oracle::bucket::{OF_KIND, least_ns};

use crate::fake::model::{Order, Server, answer, bucket_number};

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

    fn operate(&mut self, _what: u32, slot: u32, first: i64, last: i64) -> Option<u64> {
        (slot < 9).then_some((last - first + 1).unsigned_abs())
    }
}

fn ops(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn run_block(order: &Order, clock: &[i64]) -> (Option<String>, Vec<i64>) {
    let mut server = Scripted { clock: clock.to_vec().into(), slept_us: Vec::new() };
    let text = answer(order, &mut server);
    assert!(server.clock.is_empty(), "asked {} times less than on paper", server.clock.len());
    (text, server.slept_us)
}

#[test]
fn latencies_blocks_and_buckets_come_out_as_on_paper() {
    // Two reads of 4 blocks (128 us, 10,872 us) around an update of 4 (1,000 us), the last beyond the end.
    let order = Order {
        ops: ops(&[5, 3, 0, 9, 3, 1, 20, 3, 4, 30, 3, 0]),
        entry_bytes: 12,
        begin_us: 1_000_000,
        end_us: 1_010_000,
        ..Order::default()
    };
    let (text, slept) = run_block(&order, &[900_000, 1_000_000, 1_000_128, 1_001_128, 1_012_000]);
    // 128,000 ns lie in octave 9 at 250, 10,872,000 in octave 16 at 165, 1,000,000 in octave 12 at 244.
    let expected = "3 1000000 1012000 0 0 0 0;8 11000 10872;4 1000 1000;0 0 0;;1402:1 2213:1 6780:1";
    assert_eq!(text.as_deref(), Some(expected));
    assert_eq!(slept, [80_000], "it sleeps to 20 ms before, then reads the clock");
}

#[test]
fn a_pause_is_cut_at_the_end_and_handed_on() {
    let entry = [5, 0, 0, 50_000, 6, 0, 0, 0];
    let order = Order { ops: ops(&entry), entry_bytes: 16, begin_us: 0, end_us: 20_000, ..Order::default() };
    // The operation ends at 4,000; the pause would end at 54,000, the slice does at 20,000.
    let (text, slept) = run_block(&order, &[0, 0, 4_000, 20_100]);
    // 4,000,000 ns lie in octave 14 at 244.
    assert_eq!(text.as_deref(), Some("1 0 20100 20000 54000 16000 0;1 4000 4000;0 0 0;0 0 0;;2036:1"));
    assert_eq!(slept, [16_000]);
    let order = Order { since_us: 20_000, until_us: 54_000, begin_us: 20_000, end_us: 100_000, ..order };
    let (text, slept) = run_block(&Order { ops: ops(&[6, 0, 0, 0]), ..order }, &[20_100, 20_100, 54_050, 54_060]);
    // 10,000 ns lie in octave 6 at 156.
    assert_eq!(text.as_deref(), Some("1 20100 54060 20000 0 34050 0;1 10 10;0 0 0;0 0 0;;924:1"));
    assert_eq!(slept, [33_900]);
}

#[test]
fn commits_that_come_later_are_counted_and_long_ones_reported() {
    let one = [1, 0, 1];
    let order = Order {
        ops: ops(&[one, one, one].concat()),
        entry_bytes: 12,
        begin_us: 0,
        end_us: 9_000_000,
        pending: 1,
        every: 3,
        later: true,
        ..Order::default()
    };
    let (text, _) = run_block(&order, &[0, 0, 600_000, 600_001, 600_003]);
    // 600,000,000 ns lie in octave 22 at 143; 1,000 and 2,000 ns in octaves 2 and 3 at 250.
    let expected = "3 0 600003 0 0 0 1;0 0 0;3 600003 600000;0 0 0;1:0:600000 ;5506:1 5634:1 7959:1";
    assert_eq!(text.as_deref(), Some(expected));
    let broken = Order { ops: ops(&[1, 0, 36]), pending: 0, ..order };
    assert_eq!(run_block(&broken, &[0, 0]).0, None, "an operation that fails ends the block");
}

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

#[test]
fn the_numbers_never_change() {
    for (us, bucket) in
        [(0, 0), (1, 506), (128, 1_402), (1_000, 1_780), (20_000, 2_328), (1_000_000, 3_054), (536_870_911, 4_217)]
    {
        assert_eq!(bucket_number(us), bucket, "{us} us");
    }
}
