//! Blocks per CPU-second of the server, one session, all cached: the loop in the server against a client that executes a
//! prepared statement an operation, and against one long index scan.

use std::time::Duration;

use mindful_conformance::slice_of;
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::{Error, Result, Session, Target};
use mysql::Conn;

use crate::{Bench, median, one, spread};

const ROUNDS: usize = 9;
const SLICE: Duration = Duration::from_millis(1_500);
/// Number of long index scans, each of every row of a table, that take about as long as a slice.
const SCANS: usize = 40;
const SCAN: &str = "SELECT COUNT(seq) FROM mindful.blocks_1 FORCE INDEX (k) WHERE k > 0";

/// The other side of the comparison.
#[derive(Clone, Copy)]
enum Other {
    Client,
    LongScan,
}

/// Alternates each pair and prints the medians, of the pairs' ratios too.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    println!("blocks per CPU-second of the server, one session, all cached; medians of {ROUNDS} pairs");
    for (unit, other, name, wanted) in [
        (1, Other::Client, "a prepared statement an operation", "4"),
        (64, Other::Client, "a prepared statement an operation", "no goal"),
        (64, Other::LongScan, "one long index scan", "0.9"),
    ] {
        let (ours, theirs, ratios) = pair(bench, unit, other)?;
        let ratios = spread(&ratios);
        println!("work unit {unit}: {ours:.0}, {name}: {theirs:.0}; {ratios} times (wanted: {wanted})");
    }
    Ok(())
}

fn pair(bench: &Bench, unit: u64, other: Other) -> Result<(f64, f64, Vec<f64>)> {
    let mut ours = Loop::open(bench, unit, "server")?;
    let mut client = Loop::open(bench, unit, "client")?;
    let mut scanning = bench.connect()?;
    // All pages are in the cache from here on.
    scan(&mut scanning)?;
    let (mut rates, mut rivals) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let mut rate = 0.0;
        let mut rival = 0.0;
        // The first one changes from round to round.
        for turn in [round % 2, 1 - round % 2] {
            let before = bench.server_cpu_s();
            let blocks = match (turn, other) {
                (0, _) => ours.slice()?,
                (_, Other::Client) => client.slice()?,
                (_, Other::LongScan) => (0..SCANS).map(|_| scan(&mut scanning)).sum::<Result<u64>>()?,
            };
            let made = blocks as f64 / (bench.server_cpu_s() - before);
            *(if turn == 0 { &mut rate } else { &mut rival }) = made;
        }
        // The first round warms up.
        if round > 0 {
            rates.push(rate);
            rivals.push(rival);
        }
    }
    let ratios = rates.iter().zip(&rivals).map(|(ours, theirs)| ours / theirs).collect();
    Ok((median(rates), median(rivals), ratios))
}

fn scan(conn: &mut Conn) -> Result<u64> {
    one(conn, SCAN)
}

struct Loop {
    target: Box<dyn Target>,
    session: Box<dyn Session>,
    next_op: u64,
}

impl Loop {
    fn open(bench: &Bench, unit: u64, site: &str) -> Result<Self> {
        let mut settings = Settings::defaults(KEYS);
        settings.set("work_unit", unit.to_string(), Origin::Default);
        settings.set("loop", site, Origin::Default);
        settings.set("schemas", "1", Origin::Default);
        let target = bench.target()?;
        let dataset = target.dataset()?.ok_or_else(|| Error::run("nothing is loaded", ""))?;
        let workload = Plan::from_settings(&settings)?.workload(&dataset)?;
        target.prepare(&workload, 1)?;
        let session = target.session(&workload, Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 })?;
        Ok(Self { target, session, next_op: 0 })
    }

    /// Works a slice; returns the number of blocks visited.
    fn slice(&mut self) -> Result<u64> {
        let slice = slice_of(&*self.target, SLICE.as_micros() as i64);
        let order = SliceOrder { first_op: self.next_op, ..slice };
        self.next_op += 10_000_000;
        let report = self.session.run_slice(&order)?;
        Ok(report.ops.iter().map(|op| op.blocks).sum())
    }
}
