//! Compares the raw engine with fio: `cargo bench -p mindful-raw --bench fio -- [--file PATH] [--mib N] [--pairs N]
//! [--seconds S]`.
//!
//! Both use the same file, span, block size, depth and flags, and measure latency, in turns, each turn with new random
//! places. Both of a pair run on the same CPU, each CPU in turn, because the CPU of the device's interrupts matters more
//! than the reader. The printed ratios are I/Os per second (more is better) and CPU per I/O (less is better). Each is
//! the median over the pairs with the interval of a sign test: if it contains 1, the two are equal within noise. The
//! ratio of the smallest CPU of either is also printed, because other activity only adds to it. Without fio on the PATH
//! it prints a note and measures only the raw engine.

#![expect(clippy::print_stdout, reason = "a benchmark talks to the terminal")]

#[path = "../tests/it/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_core::dataset::Dataset;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};

const BLOCK: u64 = 8_192;

/// Where the data of a made file begins, in bytes.
const DATA_START: u64 = 1 << 20;

/// Depth and whether direct.
const CASES: [(u32, bool); 9] =
    [(1, true), (2, true), (4, true), (8, true), (16, true), (32, true), (64, true), (1, false), (16, false)];

struct Arguments {
    file: PathBuf,
    blocks: u64,
    pairs: usize,
    seconds: f64,
}

#[derive(Clone, Copy)]
struct Figures {
    iops: f64,
    cpu_us_per_io: f64,
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let dataset = make_file(&arguments)?;
    let fio = Command::new("fio").arg("--version").output().ok();
    match &fio {
        Some(version) => println!("{}", String::from_utf8_lossy(&version.stdout).trim()),
        None => println!("fio is not on the PATH: the raw engine is measured alone"),
    }
    println!(
        "random reads of {BLOCK} bytes from {} blocks, {} pairs of {} s",
        dataset.blocks_per_schema, arguments.pairs, arguments.seconds
    );
    println!(
        "{:>5} {:>8}  {:>18}  {:>14}  {:>20}  {:>20}  {:>9}",
        "depth", "", "IOPS raw / fio", "CPU us/IO", "ratio IOPS", "ratio CPU", "least CPU"
    );
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    for (depth, direct) in CASES {
        if !direct {
            warm_page_cache(&arguments.file)?;
        }
        let mut pairs = Vec::new();
        for turn in 0..arguments.pairs {
            let cpu = turn / 2 % cpus;
            let ours = || raw(&arguments, &dataset, depth, direct, turn as u64, cpu);
            // The first of a pair changes from pair to pair, so that drift hits both alike.
            let (ours, theirs) = match (fio.is_some(), turn % 2) {
                (false, _) => (ours()?, None),
                (true, 0) => (ours()?, Some(run_fio(&arguments, depth, direct, cpu)?)),
                (true, _) => {
                    let theirs = run_fio(&arguments, depth, direct, cpu)?;
                    (ours()?, Some(theirs))
                }
            };
            pairs.push((ours, theirs));
        }
        print_case(depth, direct, &pairs);
    }
    Ok(())
}

fn print_case(depth: u32, direct: bool, pairs: &[(Figures, Option<Figures>)]) {
    let column = |pick: fn(&Figures) -> f64| {
        let ours = median(pairs.iter().map(|(ours, _)| pick(ours)).collect());
        let theirs = median(pairs.iter().filter_map(|(_, fio)| fio.as_ref().map(pick)).collect());
        let ratios = pairs.iter().filter_map(|(ours, fio)| fio.as_ref().map(|fio| pick(ours) / pick(fio)));
        let ratio = median(ratios.collect());
        let text = |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
        let digits = if ours.is_some_and(|(_, middle, _)| middle > 1_000.0) { 0 } else { 2 };
        let middles = format!("{} / {}", text(ours.map(|o| o.1), digits), text(theirs.map(|t| t.1), digits));
        (middles, ratio.map_or("-".to_owned(), |(low, middle, high)| format!("{middle:.2} ({low:.2}..{high:.2})")))
    };
    let (iops, iops_ratio) = column(|figures| figures.iops);
    let (cpu, cpu_ratio) = column(|figures| figures.cpu_us_per_io);
    let cache = if direct { "direct" } else { "buffered" };
    let least = |figures: &mut dyn Iterator<Item = &Figures>| figures.map(|f| f.cpu_us_per_io).fold(f64::NAN, f64::min);
    let least =
        least(&mut pairs.iter().map(|(ours, _)| ours)) / least(&mut pairs.iter().filter_map(|(_, fio)| fio.as_ref()));
    println!("{depth:>5} {cache:>8}  {iops:>18}  {cpu:>14}  {iops_ratio:>20}  {cpu_ratio:>20}  {least:>9.2}");
}

/// The median between the ends of its interval at 95 %, of the sign test; of all values where they are fewer than six.
fn median(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let middle = f64::midpoint(*values.get(n / 2)?, *values.get((n - 1) / 2)?);
    // The number of values omitted at either end: a fair coin shows that many heads or fewer in n throws in at most 2.5
    // %.
    let (mut chance, mut heads, mut outside) = (0.5_f64.powi(n as i32), 0.0, 0);
    let mut below = chance;
    while below <= 0.025 {
        outside += 1;
        chance *= (n as f64 - heads) / (heads + 1.0);
        heads += 1.0;
        below += chance;
    }
    let cut = usize::saturating_sub(outside, 1);
    Some((values[cut], middle, values[n - 1 - cut]))
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments {
        file: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fio-bench.blocks"),
        blocks: (1 << 30) / BLOCK,
        pairs: 5,
        seconds: 2.0,
    };
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| Error::plan(format!("{name} has no value"), "give one"))?;
        let number = value.parse::<f64>().ok().filter(|number| *number > 0.0);
        let number = || number.ok_or_else(|| Error::plan(format!("{name} {value}"), "give a number above 0"));
        match name.as_str() {
            "--file" => arguments.file = PathBuf::from(value),
            "--mib" => arguments.blocks = ((number()? as u64) << 20) / BLOCK,
            "--pairs" => arguments.pairs = number()? as usize,
            "--seconds" => arguments.seconds = number()?,
            _ => {
                let what = format!("unknown argument {name}");
                return Err(Error::plan(what, "--file, --mib, --pairs and --seconds are known"));
            }
        }
    }
    Ok(arguments)
}

fn make_file(arguments: &Arguments) -> Result<Dataset> {
    let target = support::open(&arguments.file, &[])?;
    match target.dataset()? {
        Some(dataset) => Ok(dataset),
        None => support::load(&*target, 1, arguments.blocks),
    }
}

/// Reads the whole file through the page cache, so that a buffered read of it does not reach the device.
fn warm_page_cache(path: &Path) -> Result<()> {
    let read = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut std::io::sink()));
    read.map(drop).map_err(|e| Error::run(format!("cannot read {}: {e}", path.display()), "check the file"))
}

fn raw(arguments: &Arguments, dataset: &Dataset, depth: u32, direct: bool, seed: u64, cpu: usize) -> Result<Figures> {
    let (depth, cpu) = (depth.to_string(), cpu.to_string());
    let direct = if direct { "on" } else { "off" };
    let options = [("iodepth", depth.as_str()), ("direct", direct), ("cpus", cpu.as_str())];
    let target = support::open(&arguments.file, &options)?;
    let workload = Workload { seed, ..support::reads(dataset) };
    target.prepare(&workload, 1)?;
    // A separate thread, as in a run.
    let work = || {
        let mut session = target.session(&workload, support::PLACEMENT)?;
        support::slice(&mut *session, (arguments.seconds * 1e3) as i64, 0, None)
    };
    let worked = std::thread::scope(|scope| scope.spawn(work).join());
    let report = worked.map_err(|_| Error::run("the session panicked", ""))??;
    let ios = report.total_ops() as f64;
    let seconds = (report.end_us - report.begin_us) as f64 / 1e6;
    Ok(Figures { iops: ios / seconds, cpu_us_per_io: report.cpu_us.unwrap_or(0) as f64 / ios })
}

fn run_fio(arguments: &Arguments, depth: u32, direct: bool, cpu: usize) -> Result<Figures> {
    let output = Command::new("fio")
        .args(["--name=pair", "--rw=randread", "--bs=8k", "--ioengine=io_uring", "--registerfiles", "--fixedbufs"])
        .args(["--norandommap", "--randrepeat=0", "--time_based", "--invalidate=0", "--thread", "--output-format=json"])
        .arg(format!("--filename={}", arguments.file.display()))
        .arg(format!("--offset={DATA_START}"))
        .arg(format!("--size={}", arguments.blocks * BLOCK))
        .arg(format!("--iodepth={depth}"))
        .arg(format!("--direct={}", u8::from(direct)))
        .arg(format!("--runtime={}ms", (arguments.seconds * 1e3).round()))
        .arg(format!("--cpus_allowed={cpu}"))
        .output()
        .map_err(|e| Error::run(format!("cannot run fio: {e}"), "check the installation"))?;
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let job = &printed["jobs"][0];
    let figures = || {
        let busy_share = (job["usr_cpu"].as_f64()? + job["sys_cpu"].as_f64()?) / 100.0;
        let busy_us = busy_share * job["job_runtime"].as_f64()? * 1e3;
        let cpu_us_per_io = busy_us / job["read"]["total_ios"].as_f64()?;
        Some(Figures { iops: job["read"]["iops"].as_f64()?, cpu_us_per_io })
    };
    let said = String::from_utf8_lossy(&output.stderr);
    figures().ok_or_else(|| Error::run(format!("fio gave no figures: {said}"), "check its version"))
}
