//! From nothing to ready (indexed, frozen, analysed, checkpointed, the layout proven): `mindful load` against seed table and INSERT … SELECT.

use std::time::{Duration, Instant};

use mindful_conformance::dataset_plan;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_host::process::{Stat, tick_us};
use mindful_host::{Kernel, cpu};
use mindful_postgres::connect::Connection;

use crate::{BLOCKS, Bench, SCHEMAS, median};

const ROUNDS: usize = 5;

/// Alternates the two ways and prints the medians. The ratio is the median of the pairs, because neighbours on the
/// machine disturb both of a pair equally.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    let (mut ours, mut seeded, mut proofs, mut cpu) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        rest(bench)?;
        let before = cpu_s(bench);
        let (by_seed, between) = by_seed_table(bench)?;
        seeded.push(by_seed);
        rest(bench)?;
        let rested = cpu_s(bench);
        let (took, proof, after) = by_copy(bench, round + 1 == ROUNDS)?;
        ours.push(took);
        proofs.push(proof / took);
        let (seeded_cpu, our_cpu) = (between - before, after - rested);
        cpu.push(seeded_cpu / our_cpu);
        println!(
            "  load: {took:.2} s ({our_cpu:.2} of CPU), by seed table {:.2} s ({seeded_cpu:.2} of CPU)",
            seeded[round]
        );
    }
    let gib = f64::from(SCHEMAS) * BLOCKS as f64 * 8192.0 / f64::from(1 << 30);
    let ratio = median(ours.iter().zip(&seeded).map(|(ours, seeded)| seeded / ours).collect());
    let (ours, seeded) = (median(ours), median(seeded));
    println!("CPU of server and client: {:.2} times as much by seed table", median(cpu));
    println!("the same proof again, in one stream: {:.1} % of the load", 100.0 * median(proofs));
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

/// CPU that the server's sessions which have ended and this process have used, s: neighbours change it little.
fn cpu_s(bench: &Bench) -> f64 {
    // The server reaps a session a moment after it has gone.
    std::thread::sleep(Duration::from_millis(200));
    let server = Stat::read(&Kernel::default(), bench.private.pid());
    let ticks = server.map_or(0, |server| server.reaped_user_ticks + server.reaped_system_ticks);
    ticks as f64 * tick_us() / 1e6 + cpu::of_process().as_secs_f64()
}

/// Seconds from an empty server to a proven dataset, seconds of a repeated proof, and the CPU account in between.
fn by_copy(bench: &Bench, keep: bool) -> Result<(f64, f64, f64)> {
    let target = bench.target()?;
    let began = Instant::now();
    target.load(&dataset_plan(SCHEMAS, BLOCKS), &Silent, &StopFlag::default())?;
    let proof = target.verify(&StopFlag::default())?;
    if let Some(failure) = proof.failure() {
        return Err(Error::run(failure, "the layout does not hold"));
    }
    target.store_proof(&proof)?;
    let took = began.elapsed().as_secs_f64();
    drop(target);
    let cpu = cpu_s(bench);
    let target = bench.target()?;
    let again = Instant::now();
    target.verify(&StopFlag::default())?;
    let again = again.elapsed().as_secs_f64();
    if !keep {
        target.cleanup()?;
    }
    Ok((took, again, cpu))
}

/// Seconds that the old way takes, and the CPU account after it.
fn by_seed_table(bench: &Bench) -> Result<(f64, f64)> {
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
    drop(control);
    let cpu = cpu_s(bench);
    bench.sql(&bench.connect()?, "SET client_min_messages = warning; DROP SCHEMA seeded CASCADE")?;
    Ok((took, cpu))
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
