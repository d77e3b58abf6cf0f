//! The operations passed to the block of a slice, and its answer.

use std::collections::BTreeSet;

use mindful_core::contract::slice::{LongOp, SliceReport};
use mindful_core::record::latency::Recorder;
use mindful_core::workload::{Op, OpKind};
use mindful_core::{Error, Result};
use mindful_sql::work::Pause;

use crate::work::bucket;

/// Most bytes of a RAW that PL/SQL takes.
const MOST_BYTES: usize = 32_767;

pub(crate) fn most(entry_bytes: usize) -> usize {
    MOST_BYTES / entry_bytes
}

/// Room that the answer to `ops` operations needs: head, slow operations, and a bucket each at worst.
pub(crate) fn room(ops: usize) -> usize {
    (500 + ops.min(100) * 32 + ops * 9).min(MOST_BYTES)
}

/// `ops` as the block takes them; `schemas` are its slots.
pub(crate) fn packed(ops: &[Op], schemas: &BTreeSet<u32>, entry_bytes: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(ops.len() * entry_bytes);
    for op in ops {
        let slot = schemas.iter().position(|schema| *schema == op.schema).unwrap_or_default();
        let words = [op.first_key, op.blocks - 1, (slot * 4 + op.kind as usize) as u64, op.think.as_micros() as u64];
        for word in &words[..entry_bytes / 4] {
            let word = i32::try_from(*word).map_err(|_| too_large())?;
            bytes.extend(word.to_be_bytes());
        }
    }
    Ok(bytes)
}

/// More than a whole number of PL/SQL holds.
pub(crate) fn too_large() -> Error {
    Error::plan(
        format!("a key or pause is beyond {}, the largest whole number of PL/SQL", i32::MAX),
        "pass a smaller --scale or --think-time, or more --schemas",
    )
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    pub done: usize,
    pub began_us: i64,
    pub now_us: i64,
    pub pause: Pause,
    pub think_us: u64,
    pub pending: i64,
    /// Blocks, sum and longest in us, by kind.
    pub kinds: [[u64; 3]; 3],
    /// Operations of half a second and more.
    pub long: Vec<LongOp>,
    /// Numbers of buckets with counts, by kind.
    pub buckets: Vec<(u64, u64)>,
}

impl Answer {
    /// Parses the answer of the block; `None` for other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let numbers = |part: &str| part.split(' ').map(|word| word.parse::<i64>().ok()).collect::<Option<Vec<_>>>();
        let [done, began_us, now_us, since_us, until_us, think_us, pending] =
            numbers(parts.next()?)?.try_into().ok()?;
        let mut kinds = [[0; 3]; 3];
        for kind in &mut kinds {
            let of: [i64; 3] = numbers(parts.next()?)?.try_into().ok()?;
            *kind = of.map(i64::unsigned_abs);
        }
        let long = parts.next()?.split_whitespace().map(long_op).collect::<Option<_>>()?;
        let pair = |word: &str| {
            let (number, count) = word.split_once(':')?;
            Some((number.parse().ok()?, count.parse().ok()?))
        };
        let buckets = parts.next()?.split_whitespace().map(pair).collect::<Option<_>>()?;
        let pause = Pause { since_us, until_us };
        let (done, think_us) = (usize::try_from(done).ok()?, think_us.unsigned_abs());
        Some(Self { done, began_us, now_us, pause, think_us, pending, kinds, long, buckets })
    }

    /// When its work ended: a pause that continues is reported up to the end of the slice.
    pub(crate) fn ended_us(&self) -> i64 {
        if self.pause.until_us > 0 { self.pause.since_us } else { self.now_us }
    }
}

fn long_op(word: &str) -> Option<LongOp> {
    let mut parts = word.split(':');
    let kind = *OpKind::ALL.get(parts.next()?.parse::<usize>().ok()?)?;
    Some(LongOp { kind, begin_us: parts.next()?.parse().ok()?, us: parts.next()?.parse().ok()? })
}

#[derive(Debug, Default)]
pub(crate) struct Summed {
    report: SliceReport,
    latencies: [Recorder; 3],
    sums_us: [u64; 3],
    longest_us: [u64; 3],
    begun: bool,
}

impl Summed {
    pub(crate) fn add(&mut self, answer: &Answer, sent: &[Op]) {
        if !std::mem::replace(&mut self.begun, true) {
            self.report.begin_us = answer.began_us;
        }
        self.report.end_us = answer.ended_us();
        self.report.think_us += answer.think_us;
        self.report.long.extend(&answer.long);
        for op in &sent[..answer.done] {
            self.report.op_mut(op.kind).ops += 1;
            self.report.tally.add(op.cell(), 1);
        }
        for (kind, [blocks, sum_us, longest_us]) in answer.kinds.into_iter().enumerate() {
            self.report.ops[kind].blocks += blocks;
            self.sums_us[kind] += sum_us;
            self.longest_us[kind] = self.longest_us[kind].max(longest_us);
        }
        for (number, count) in &answer.buckets {
            let kind = (number / bucket::OF_KIND).min(2) as usize;
            self.latencies[kind].record_many(bucket::least_ns(number % bucket::OF_KIND).max(1), *count);
        }
    }

    pub(crate) fn report(mut self, index: u32) -> SliceReport {
        for (kind, recorder) in self.latencies.iter_mut().enumerate() {
            let mut latency = recorder.drain();
            latency.sum_ns = self.sums_us[kind] * 1_000;
            latency.max_ns = self.longest_us[kind] * 1_000;
            self.report.ops[kind].latency = latency;
        }
        self.report.index = index;
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_figures_of_the_block() {
        // Updates of 1 us, 2 us and 600 ms, one of them not yet committed. 600,000,000 ns lie in octave 22 at 143.
        let text = "3 0 600003 0 0 0 1;0 0 0;3 600003 600000;0 0 0;1:0:600000 ;5506:1 5634:1 7959:1";
        let answer = Answer::parse(text).unwrap();
        assert_eq!((answer.done, answer.pending, answer.ended_us()), (3, 1, 600_003));
        assert_eq!(answer.kinds, [[0; 3], [3, 600_003, 600_000], [0; 3]]);
        assert_eq!(answer.long, [LongOp { kind: OpKind::Update, begin_us: 0, us: 600_000 }]);
        let least = |(number, _): &(u64, u64)| bucket::least_ns(number % bucket::OF_KIND);
        assert_eq!(answer.buckets.iter().map(least).collect::<Vec<_>>(), [1_000, 2_000, 143 << 22]);
        // A pause of 50,000 us from 4,000 on, in a slice that ends at 20,000.
        let paused = Answer::parse("1 0 20100 20000 54000 16000 0;1 4000 4000;0 0 0;0 0 0;;2036:1").unwrap();
        let pause = Pause { since_us: 20_000, until_us: 54_000 };
        assert_eq!((paused.pause, paused.think_us, paused.ended_us()), (pause, 16_000, 20_000));
        assert_eq!(Answer::parse("1 0 20100;;;;;"), None);
    }
}
