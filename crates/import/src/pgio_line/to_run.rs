//! A run of pgio as a step: reads by all the time in which they were counted.

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Metric, shared};
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use super::read::Read;
use crate::reported::Reported;

/// pgio asks for blocks of this length.
const BLOCK: u64 = 8192;
/// Launch by run time above which the printed rate is no rate of the run.
const LONG_LAUNCH: f64 = 0.02;

/// The steps.
pub fn reported(name: &str, results: &[Read]) -> Result<Vec<Reported>> {
    results.iter().map(|read| step(name, read)).collect()
}

fn step(name: &str, read: &Read) -> Result<Reported> {
    let (Some(seconds), Some(rate)) = (read.seconds.filter(|s| *s > 0.0 && *s < 1e8), read.reads_per_s) else {
        return Err(Error::run(
            format!("{name} has a line of pgio without its run time or its reads"),
            "give the line as pgio printed it",
        ));
    };
    let database = read.database.clone().unwrap_or_else(|| "?".to_owned());
    let mut reported = Reported::new(name, "pgio result", "postgres", format!("postgres: {database}"));
    reported.block_bytes = Some(BLOCK);
    reported.sessions = read.schemas.zip(read.threads).and_then(|(a, b)| a.checked_mul(b)).filter(|n| *n > 0);
    for (fact, value) in [("schemas", read.schemas), ("threads", read.threads)] {
        if let Some(value) = value {
            reported.facts.insert(fact.to_owned(), value.to_string());
        }
    }
    // Counters were read before the launch, the clock after it.
    let counted_s = seconds + read.launch_s.unwrap_or(0.0).min(1e8);
    let end_us = (counted_s * 1e6) as i64;
    let (reads, hits) = (rate * seconds, read.hits_per_s.map(|rate| rate * seconds));
    reported.boundaries(vec![0, end_us]);
    let counter = |counter: Counter, help: &str| Metric::counter(counter.name(), "blocks", help);
    reported.grew(
        "pg_stat_database",
        (0, end_us),
        1,
        vec![
            (counter(shared::PHYSICAL_READS, "blks_read"), Some(reads)),
            (counter(shared::LOGICAL_READS, "blks_read and blks_hit"), hits.map(|hits| hits + reads)),
        ],
    );
    reported.events.push(Event::StepEnd { error: None, interrupted: false });
    caveats(&mut reported, read, rate, seconds, reads / counted_s);
    Ok(reported)
}

fn caveats(reported: &mut Reported, read: &Read, rate: f64, seconds: f64, true_rate: f64) {
    match read.launch_s.filter(|launch| *launch > LONG_LAUNCH * seconds) {
        Some(launch) => {
            let text = "The printed RIOPS is no rate of this run: reads were counted from before the launch, time from \
                        after it. The rate reported here is by all that time; what the sessions did once all were there is not \
                        known.";
            let evidence =
                format!("{rate:.0} printed; {launch:.0} s of launch and {seconds:.0} s of run make {true_rate:.0}/s");
            reported.caveat(codes::IMPORTED_DOUBT, text, evidence);
        }
        None if read.launch_s.is_none() => {
            let text = "pgio counts reads from before the launch and time from after it: where launching took long, the \
                        printed RIOPS is too high. How long it took is not reported.";
            let evidence = format!("{rate:.0} printed over {seconds:.0} s");
            reported.caveat(codes::IMPORTED_DOUBT, text, evidence);
        }
        None => {}
    }
    let text = "RIOPS are reads that PostgreSQL asked the operating system for: its page cache may have served them.";
    reported.caveat(codes::IMPORTED_FIGURES, text, "no counters of processes or of a device");
}
