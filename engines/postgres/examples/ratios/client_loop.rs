//! The work loop in mindful: with all options off against a minimal loop without options, over empty operations, so
//! that only the cost of the loops is measured.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::record::latency::{Latency, Recorder};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{Op, Workload, count_starts};
use mindful_core::{Result, contract::clock, workload::draw};
use mindful_host::cpu;

use crate::Bench;
use crate::knobs::{sandwich, spread};

const SLICE: Duration = Duration::from_millis(100);
const PAIRS: usize = 41;
const PLACEMENT: Placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };

/// Alternates the two loops, and the bare one with itself, in CPU of this thread.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    let target = bench.target()?;
    for unit in [1, 64] {
        let workload = Bench::workload(&*target, &[("work_unit", &unit.to_string()), ("loop", "client")])?;
        let mut ours = ClientLoop::new(&workload, PLACEMENT);
        let (mut bare, mut again) = (Bare::new(&workload), Bare::new(&workload));
        let (mut off, mut same, mut more_ns) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..PAIRS {
            let (a, b, c) =
                sandwich(round, [&mut || Ok(bare.rate()), &mut || rate(&mut ours), &mut || Ok(again.rate())])?;
            off.push(b / f64::midpoint(a, c));
            same.push(c / a);
            more_ns.push(1e9 / b - 1e9 / f64::midpoint(a, c));
        }
        println!(
            "client loop, work unit {unit}: all knobs off by no knobs {}; no knobs repeated {}; {} ns an operation more",
            spread(off),
            spread(same),
            spread(more_ns)
        );
    }
    Ok(())
}

struct Nothing;

impl Operator for Nothing {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        Ok(black_box(op).blocks)
    }
}

fn rate(ours: &mut ClientLoop) -> Result<f64> {
    let before = cpu::of_thread().as_secs_f64();
    let begin_us = clock::now_us();
    let end_us = begin_us + SLICE.as_micros() as i64;
    let order = SliceOrder { index: 0, begin_us, end_us, first_op: 0, max_ops: None };
    let report = ours.run_slice(&order, &mut Nothing)?;
    Ok(report.total_ops() as f64 / (cpu::of_thread().as_secs_f64() - before))
}

/// Timed reads of uniformly drawn keys and nothing else.
struct Bare {
    stream: i64,
    starts: u64,
    unit: u64,
    latency: Recorder,
}

impl Bare {
    fn new(workload: &Workload) -> Self {
        Self {
            stream: Draws::new(workload, PLACEMENT.session, PLACEMENT.schema).streams.key,
            starts: count_starts(workload.scale, workload.work_unit),
            unit: workload.work_unit,
            latency: Recorder::default(),
        }
    }

    fn rate(&mut self) -> f64 {
        let before = cpu::of_thread().as_secs_f64();
        let end_us = clock::now_us() + SLICE.as_micros() as i64;
        let (mut ops, mut blocks) = (0, 0);
        while clock::now_us() < end_us {
            let first_key = 1 + draw::draw(ops, self.stream) % self.starts;
            let began = Instant::now();
            blocks += black_box((first_key, self.unit)).1;
            self.latency.record(began.elapsed().as_nanos() as u64);
            ops += 1;
        }
        let drawn: (Latency, u64) = (self.latency.drain(), blocks);
        black_box(drawn);
        ops as f64 / (cpu::of_thread().as_secs_f64() - before)
    }
}
