//! Blocks per CPU-second of the backend, all cached: the work loop against a loop of EXECUTE, and against one long index
//! scan.

use std::time::Duration;

use mindful_conformance::slice_of;
use mindful_core::Result;
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_host::{Kernel, process};
use mindful_postgres::connect::Connection;

use crate::{BLOCKS, Bench, median};

const ROUNDS: usize = 5;
const SLICE: Duration = Duration::from_millis(1_500);

/// The other side of the comparison.
#[derive(Clone, Copy)]
enum Other {
    Execute,
    LongScan,
}

/// Alternates each pair and prints the medians, of the pairs' ratios too.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    for (unit, other, name, wanted) in [
        (1, Other::Execute, "a loop of EXECUTE", 8.0),
        (64, Other::Execute, "a loop of EXECUTE", 1.5),
        (255, Other::LongScan, "one long index scan", 0.9),
    ] {
        let (ours, theirs, ratio) = pair(bench, unit, other)?;
        println!(
            "work unit {unit}: {ours:.0} blocks per CPU-second, {name} {theirs:.0}: {ratio:.2} times (wanted: {wanted})"
        );
    }
    Ok(())
}

fn pair(bench: &Bench, unit: u64, other: Other) -> Result<(f64, f64, f64)> {
    let target = bench.target()?;
    let workload = Bench::workload(&*target, &[("work_unit", &unit.to_string())])?;
    target.prepare(&workload, 1)?;
    let mut session = target.session(&workload, Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 })?;
    let rival = bench.connect()?;
    let backend =
        number(bench, &rival, "SELECT pid::bigint FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.slice%'")?;
    let rival_backend = number(bench, &rival, "SELECT pg_backend_pid()::bigint")?;
    let scan = "SELECT count(seq) FROM mindful.blocks_1 WHERE k > 0";
    bench.sql(&rival, include_str!("execute_loop.sql"))?;
    bench.sql(
        &rival,
        "SET enable_seqscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off",
    )?;
    number(bench, &rival, scan)?;
    // The rival plans for itself, as it would.
    if matches!(other, Other::Execute) {
        bench.sql(&rival, "RESET ALL")?;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let first_op = round as u64 * 10_000_000;
        let order = SliceOrder { first_op, ..slice_of(&*target, SLICE.as_micros() as i64) };
        let before = backend_cpu_s(backend);
        let report = session.run_slice(&order)?;
        ours.push(report.ops[0].blocks as f64 / (backend_cpu_s(backend) - before));
        let before = backend_cpu_s(rival_backend);
        let blocks = match other {
            Other::Execute => {
                let call = format!("SELECT pg_temp.execute_loop({}, {unit}, {BLOCKS}, 0)", SLICE.as_secs_f64());
                number(bench, &rival, &call)?
            }
            Other::LongScan => (0..15).map(|_| number(bench, &rival, scan)).sum::<Result<i64>>()?,
        };
        theirs.push(blocks as f64 / (backend_cpu_s(rival_backend) - before));
    }
    let ratio = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect());
    Ok((median(ours), median(theirs), ratio))
}

pub(crate) fn number(bench: &Bench, client: &Connection, sql: &str) -> Result<i64> {
    let row = bench.runtime.block_on(client.query_one(sql, &[])).map_err(|error| client.explain(&error))?;
    Ok(row.get(0))
}

/// CPU that the server process `pid` has used, s.
pub(crate) fn backend_cpu_s(pid: i64) -> f64 {
    process::cpu(&Kernel::default(), pid as u32).map_or(f64::NAN, |cpu| cpu.as_secs_f64())
}
