//! From nothing to ready (indexed, analysed, redo and pages written back, purged, the layout proven): `mindful load`
//! against a seed table and INSERT … SELECT.

use std::time::{Duration, Instant};

use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mysql::Conn;

use crate::{Bench, DATASET, median, one, run, spread};

const ROUNDS: usize = 3;
/// Dirty pages that a server at rest keeps.
const REST_PAGES: u64 = 300;
const PATIENCE: Duration = Duration::from_secs(30);

struct Took {
    s: f64,
    server_cpu_s: f64,
}

/// Alternates the two ways and prints the medians. The ratio is the median of the pairs, because neighbours on the
/// machine disturb both of a pair equally.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
pub(crate) fn compare(bench: &Bench) -> Result<()> {
    let (mut ours, mut theirs, mut seeds, mut proofs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (old, seeding) = by_seed_table(bench)?;
        let (new, proving) = by_load(bench, round + 1 == ROUNDS)?;
        println!(
            "  load {:.2} s (proof {proving:.2} s; {:.2} s CPU of the server), by seed table {:.2} s (seed {seeding:.2} s; {:.2} s CPU)",
            new.s, new.server_cpu_s, old.s, old.server_cpu_s
        );
        ours.push(new);
        theirs.push(old);
        seeds.push(seeding);
        proofs.push(proving);
    }
    let mib = f64::from(DATASET.schemas) * DATASET.blocks_per_schema as f64 / 64.0;
    let ratios = |less: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..ROUNDS).map(|round| (theirs[round].s - less(round)) / ours[round].s).collect()
    };
    let cpu: Vec<f64> =
        ours.iter().zip(&theirs).map(|(ours, theirs)| theirs.server_cpu_s / ours.server_cpu_s).collect();
    let middle = |way: &[Took]| median(way.iter().map(|took| took.s).collect());
    let (fast, slow) = (middle(&ours), middle(&theirs));
    println!("CPU of the server: {} times as much by seed table", spread(&cpu));
    println!("the proof: {:.1} % of the load", 100.0 * median(proofs) / fast);
    println!("without what making the seed took: {} times as fast", spread(&ratios(&|round| seeds[round])));
    println!(
        "load of {mib:.0} MiB, two streams: {fast:.2} s ({:.0} MiB/s), by seed table {slow:.2} s ({:.0} MiB/s): {} times as fast (wanted: 2)",
        mib / fast,
        mib / slow,
        spread(&ratios(&|_| 0.0))
    );
    Ok(())
}

/// Waits until all work of the previous round is over, including its writes and the removal of dropped tables.
fn rest(bench: &Bench) -> Result<()> {
    let mut control = bench.connect()?;
    run(&mut control, "SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let begun = Instant::now();
    while dirty_pages(&mut control)? > REST_PAGES && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
    run(&mut control, "SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT")?;
    rustix::fs::sync();
    std::thread::sleep(Duration::from_secs(1));
    Ok(())
}

/// The cost from an empty server to a proven dataset, and the seconds of the proof.
fn by_load(bench: &Bench, keep: bool) -> Result<(Took, f64)> {
    let target = bench.target()?;
    target.cleanup()?;
    rest(bench)?;
    let (cpu, began) = (bench.server_cpu_s(), Instant::now());
    target.load(&DATASET, &Silent, &StopFlag::default())?;
    let proving = Instant::now();
    let proof = target.verify(&StopFlag::default())?;
    if let Some(failure) = proof.failure() {
        return Err(Error::run(failure, "the layout does not hold"));
    }
    target.store_proof(&proof)?;
    let (s, proof_s) = (began.elapsed().as_secs_f64(), proving.elapsed().as_secs_f64());
    let took = Took { s, server_cpu_s: bench.server_cpu_s() - cpu };
    refuse_debt(&mut bench.connect()?)?;
    if !keep {
        target.cleanup()?;
    }
    Ok((took, proof_s))
}

/// The cost of the old way, and the seconds of its seed.
fn by_seed_table(bench: &Bench) -> Result<(Took, f64)> {
    rest(bench)?;
    let mut control = bench.connect()?;
    let (cpu, began) = (bench.server_cpu_s(), Instant::now());
    let rows = DATASET.blocks_per_schema.to_string();
    run(&mut control, &include_str!("seed_table.sql").replace("{{rows}}", &rows))?;
    let seed_s = began.elapsed().as_secs_f64();
    for pair in [[1, 2], [3, 4]] {
        std::thread::scope(|scope| {
            let threads = pair.map(|schema| scope.spawn(move || copy(bench, schema)));
            let broken = |_| Err(Error::run("a copy of the seed table broke down", "run again"));
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(broken))
        })?;
    }
    run(&mut control, include_str!("settle_copies.sql"))?;
    let took = Took { s: began.elapsed().as_secs_f64(), server_cpu_s: bench.server_cpu_s() - cpu };
    run(&mut control, "DROP DATABASE seeded")?;
    Ok((took, seed_s))
}

fn copy(bench: &Bench, schema: u32) -> Result<()> {
    run(&mut bench.connect()?, &include_str!("copy_seed.sql").replace("{{n}}", &schema.to_string()))
}

fn dirty_pages(control: &mut Conn) -> Result<u64> {
    let (_, dirty): (String, u64) = one(control, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")?;
    Ok(dirty)
}

/// Pages that the server has still to write for tables are a debt that a run would pay.
fn refuse_debt(control: &mut Conn) -> Result<()> {
    let dirty = dirty_pages(control)?;
    if dirty > DATASET.blocks_per_schema / 100 {
        return Err(Error::run(format!("the load left {dirty} dirty pages"), "look at settle.rs"));
    }
    Ok(())
}
