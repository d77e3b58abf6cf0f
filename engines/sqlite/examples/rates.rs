//! The cost of the loop and the load: `cargo run --release -p mindful-sqlite --features benchmarks --example rates --
//! FILE`.
//!
//! Prints blocks per CPU-second of the work loop with everything cached, compared with one long index scan of the same
//! table, and the rate of a load compared with writing and syncing as many bytes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use mindful_conformance::{dataset_plan, open_with, slice_of};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, Result};

const BLOCKS: u64 = 32_768;

/// Blocks per CPU-second of one session over a second and a half, everything cached.
fn rate(target: &dyn Target, work_unit: u64) -> Result<f64> {
    let workload = Workload { loop_site: LoopSite::Client, ..Workload::reads_only(1, BLOCKS, work_unit) };
    target.prepare(&workload, 1)?;
    let mut session = target.session(&workload, Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 })?;
    let mut slice = |index, first_op| session.run_slice(&SliceOrder { index, first_op, ..slice_of(target, 1_500_000) });
    let warm = slice(0, 0)?;
    let report = slice(1, warm.total_ops())?;
    let cpu_s = report.cpu_us.unwrap_or(0) as f64 / 1e6;
    Ok(report.ops[0].blocks as f64 / cpu_s)
}

fn write_s(path: PathBuf, bytes: u64) -> std::io::Result<f64> {
    let block = vec![0x5a_u8; 1 << 20];
    let began = Instant::now();
    let mut file = File::create(&path)?;
    for _ in 0..bytes >> 20 {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    let took = began.elapsed().as_secs_f64();
    std::fs::remove_file(path)?;
    Ok(took)
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or_else(|| Error::plan("no file given", "name one that may be made"))?;
    let events: Arc<dyn Events> = Arc::new(Silent);
    let target = open_with(&mindful_sqlite::ENGINE, &format!("sqlite:{path}"), &[("cache", "1GiB")], &events)?;
    let began = Instant::now();
    let dataset = target.load(&dataset_plan(1, BLOCKS), &Silent, &StopFlag::default())?;
    let load_s = began.elapsed().as_secs_f64();
    let plain_s = write_s(PathBuf::from(format!("{path}.plain")), dataset.bytes)
        .map_err(|error| Error::run(format!("{path}.plain: {error}"), "name another file"))?;
    let mib = dataset.bytes as f64 / f64::from(1 << 20);
    println!("load {:.0} MiB/s, {:.2} of a plain write and sync", mib / load_s, plain_s / load_s);
    let began = Instant::now();
    let proof = target.verify(&StopFlag::default())?;
    println!("proof in {:.2} s: {:?}", began.elapsed().as_secs_f64(), proof.failure());
    let scan = rate(&*target, BLOCKS)?;
    println!("one long index scan: {scan:.0} blocks per CPU-second");
    for work_unit in [1, 64, 255] {
        let rate = rate(&*target, work_unit)?;
        println!("work unit {work_unit}: {rate:.0} blocks per CPU-second, {:.2} of the scan", rate / scan);
    }
    target.cleanup().map(drop)
}
