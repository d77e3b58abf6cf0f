//! From nothing to ready (indexed, frozen, analysed, checkpointed, the layout proven): `mindful load` against seed table and INSERT … SELECT.

use std::time::{Duration, Instant};

use mindful_conformance::dataset_plan;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_postgres::connect::Connection;

use crate::{BLOCKS, Bench, SCHEMAS, median};

const ROUNDS: usize = 5;

/// Alternates the two ways and prints the medians. The ratio is the median of the pairs, because neighbours on the
/// machine disturb both of a pair equally.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    let (mut ours, mut seeded) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        rest(bench)?;
        seeded.push(by_seed_table(bench)?);
        rest(bench)?;
        ours.push(by_copy(bench, round + 1 == ROUNDS)?);
        println!("  load: {:.2} s, by seed table {:.2} s", ours[round], seeded[round]);
    }
    let gib = f64::from(SCHEMAS) * BLOCKS as f64 * 8192.0 / f64::from(1 << 30);
    let ratio = median(ours.iter().zip(&seeded).map(|(ours, seeded)| seeded / ours).collect());
    let (ours, seeded) = (median(ours), median(seeded));
    println!(
        "load of {gib:.0} GiB, two streams: {ours:.2} s ({:.0} MiB/s), by seed table {seeded:.2} s ({:.0} MiB/s): {:.2} times as fast (wanted: 2.5)",
        gib * 1024.0 / ours,
        gib * 1024.0 / seeded,
        ratio
    );
    Ok(())
}

/// Nothing of the round before may be under way.
fn rest(bench: &Bench) -> Result<()> {
    bench.sql(&bench.connect()?, "CHECKPOINT")?;
    rustix::fs::sync();
    std::thread::sleep(Duration::from_secs(2));
    Ok(())
}

/// Seconds from an empty server to a proven dataset.
fn by_copy(bench: &Bench, keep: bool) -> Result<f64> {
    let target = bench.target()?;
    let began = Instant::now();
    target.load(&dataset_plan(SCHEMAS, BLOCKS), &Silent, &StopFlag::default())?;
    let proof = target.verify(&StopFlag::default())?;
    if let Some(failure) = proof.failure() {
        return Err(Error::run(failure, "the layout does not hold"));
    }
    target.store_proof(&proof)?;
    let took = began.elapsed().as_secs_f64();
    if !keep {
        target.cleanup()?;
    }
    Ok(took)
}

/// Seconds that the old way takes.
fn by_seed_table(bench: &Bench) -> Result<f64> {
    let control = bench.connect()?;
    let began = Instant::now();
    one_by_one(bench, &control, include_str!("seed_table.sql"))?;
    for pair in [[1, 2], [3, 4]] {
        two_at_a_time(bench, pair.map(|n| include_str!("copy_seed.sql").replace("{{n}}", &n.to_string())))?;
    }
    for pair in [[1, 2], [3, 4]] {
        two_at_a_time(bench, pair.map(|n| format!("VACUUM (FREEZE, ANALYZE) seeded.copy_{n}")))?;
    }
    bench.sql(&control, "CHECKPOINT")?;
    let took = began.elapsed().as_secs_f64();
    bench.sql(&control, "SET client_min_messages = warning; DROP SCHEMA seeded CASCADE")?;
    Ok(took)
}

/// Each statement is a transaction, as in psql. In one transaction the server would leave out the log of a table it
/// made.
fn one_by_one(bench: &Bench, client: &Connection, script: &str) -> Result<()> {
    script.split(';').try_for_each(|statement| bench.sql(client, statement))
}

fn two_at_a_time(bench: &Bench, scripts: [String; 2]) -> Result<()> {
    std::thread::scope(|scope| {
        let threads = scripts.map(|script| scope.spawn(move || one_by_one(bench, &bench.connect()?, &script)));
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Error::run("a stream of the seed table's copies broke down", "run again")))
        })
    })
}
