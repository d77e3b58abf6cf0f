//! The cost of the work loop's options while they are off: against a minimal loop without options.

use std::time::Duration;

use mindful_conformance::{dataset_plan, slice_of};
use mindful_core::contract::event::Silent;
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Result, Session, Target};
use mindful_postgres::connect::Connection;

use crate::work::{backend_cpu_s, number};
use crate::{Bench, median};

const SCHEMAS: u32 = 2;
const BLOCKS: u64 = 16_384;
const SLICE: Duration = Duration::from_millis(400);
const PAIRS: usize = 21;

pub(crate) fn load(bench: &Bench) -> Result<()> {
    bench.target()?.load(&dataset_plan(SCHEMAS, BLOCKS), &Silent, &StopFlag::default())?;
    Ok(())
}

/// Compares at two work units.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    let target = bench.target()?;
    println!("blocks per CPU-second, all cached; quartiles of {PAIRS} pairs");
    for unit in [1, 64] {
        let mut ours = Loop::generated(bench, &*target, unit)?;
        let (mut plain, mut again) = (Loop::plain(bench, unit)?, Loop::plain(bench, unit)?);
        let (mut off, mut same) = (Vec::new(), Vec::new());
        for round in 0..PAIRS {
            let (a, b, c) = sandwich(round, [&mut || plain.rate(), &mut || ours.rate(), &mut || again.rate()])?;
            off.push(b / f64::midpoint(a, c));
            same.push(c / a);
        }
        println!("work unit {unit}: all knobs off by no knobs {}; no knobs repeated {}", spread(off), spread(same));
    }
    Ok(())
}

/// The three rates, from the first to the last or the other way round: the one in the middle is next to both.
fn sandwich(round: usize, [a, b, c]: [&mut dyn FnMut() -> Result<f64>; 3]) -> Result<(f64, f64, f64)> {
    if round.is_multiple_of(2) {
        return Ok((a()?, b()?, c()?));
    }
    let (c, b) = (c()?, b()?);
    Ok((a()?, b, c))
}

/// Median, first and third quartile.
fn spread(mut ratios: Vec<f64>) -> String {
    ratios.sort_by(f64::total_cmp);
    let quartile = |share: usize| ratios[(ratios.len() - 1) * share / 4];
    format!("{:.3} ({:.3} to {:.3})", median(ratios.clone()), quartile(1), quartile(3))
}

struct Loop<'a> {
    bench: &'a Bench,
    backend: i64,
    kind: Kind<'a>,
    next_op: u64,
}

enum Kind<'a> {
    Generated(&'a dyn Target, Box<dyn Session>),
    Plain(Box<Connection>),
}

impl<'a> Loop<'a> {
    /// The loop that mindful makes; its home is schema 2.
    fn generated(bench: &'a Bench, target: &'a dyn Target, unit: u64) -> Result<Self> {
        let workload = Bench::workload(target, &[("work_unit", &unit.to_string())])?;
        target.prepare(&workload, 1)?;
        let session = target.session(&workload, Placement { session: 0, sessions: 1, schema: 2, endpoint: 0 })?;
        let sql = "SELECT pid::bigint FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.slice%' ORDER BY backend_start DESC LIMIT 1";
        let backend = number(bench, &bench.connect()?, sql)?;
        let mut made = Self { bench, backend, kind: Kind::Generated(target, session), next_op: 0 };
        made.rate()?;
        Ok(made)
    }

    fn plain(bench: &'a Bench, unit: u64) -> Result<Self> {
        let client = bench.connect()?;
        bench.sql(&client, include_str!("../../sql/session.sql"))?;
        let starts = (BLOCKS + 1 - unit).to_string();
        let sql = include_str!("plain_loop.sql").replace("{{starts}}", &starts);
        bench.sql(&client, &sql.replace("{{reach}}", &(unit - 1).to_string()))?;
        let backend = number(bench, &client, "SELECT pg_backend_pid()::bigint")?;
        let mut made = Self { bench, backend, kind: Kind::Plain(Box::new(client)), next_op: 0 };
        made.rate()?;
        Ok(made)
    }

    /// Works a slice: blocks per second of the backend's CPU.
    fn rate(&mut self) -> Result<f64> {
        let before = backend_cpu_s(self.backend);
        let first_op = self.next_op;
        self.next_op += 10_000_000;
        let blocks = match &mut self.kind {
            Kind::Generated(target, session) => {
                let order = SliceOrder { first_op, ..slice_of(*target, SLICE.as_micros() as i64) };
                let report = session.run_slice(&order)?;
                report.ops.iter().map(|op| op.blocks).sum::<u64>() as f64
            }
            Kind::Plain(client) => {
                let call = format!("CALL pg_temp.plain({}, {first_op}, NULL)", SLICE.as_secs_f64());
                number(self.bench, client, &call)? as f64
            }
        };
        Ok(blocks / (backend_cpu_s(self.backend) - before))
    }
}
