//! A run of pgio as a step: reads by all the time in which they were counted.

use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use super::read::PgioResult;
use crate::configuration::connect_string;
use crate::number::{APART, CLOCKS_APART, Printed};
use crate::old_step::OldStep;

/// The block length of pgio.
const BLOCK: u64 = 8192;
/// Share of the run time above which a launch makes the printed rate wrong.
const LONG_LAUNCH: f64 = 0.02;

pub(super) fn steps(name: &str, results: &[PgioResult]) -> Result<Vec<OldStep>> {
    results.iter().map(|result| step(name, result)).collect()
}

fn step(name: &str, result: &PgioResult) -> Result<OldStep> {
    let seconds = result.seconds.filter(|s| *s > 0.0 && *s < 1e8);
    let counted = result.rise.reads.zip(seconds).map(|(reads, seconds)| reads.scaled(1.0 / seconds));
    let (Some(seconds), Some(rate)) = (seconds, result.reads_per_s.or(counted)) else {
        return Err(Error::run(
            format!("{name} has a line of pgio without its run time or its reads"),
            "give the line as pgio printed it",
        ));
    };
    let by_connect =
        result.connect.as_deref().and_then(|connect| connect_string::target(connect, result.database.as_deref()));
    let target = by_connect.unwrap_or_else(|| format!("postgres: {}", result.database.as_deref().unwrap_or("?")));
    let mut step = OldStep::new(name, "pgio result", "postgres", target);
    step.block_bytes = Some(BLOCK);
    step.sessions = result.schemas.zip(result.threads).and_then(|(a, b)| a.checked_mul(b)).filter(|n| *n > 0);
    for (fact, value) in [("schemas", result.schemas), ("threads", result.threads)] {
        step.facts.extend(value.map(|value| (fact.to_owned(), value.to_string())));
    }
    // Counters were read before the launch, the clock after it.
    let counted_s = seconds + result.launch_s.unwrap_or(0.0).min(1e8);
    let end_us = (counted_s * 1e6) as i64;
    // The counters of the log state the printed rates again, with more digits.
    let total = |rate: Option<Printed>, rise: Option<Printed>| {
        let by_rate = rate.map(|rate| rate.scaled(seconds));
        Printed::agreed(by_rate, rise, APART).map(|total| total.value)
    };
    let reads = total(result.reads_per_s, result.rise.reads).unwrap_or(rate.value * seconds);
    let hits = total(result.hits_per_s, result.rise.hits);
    let us = Printed::agreed(result.ms_per_read, result.rise.ms_per_read(), APART).map(|ms| ms.value * 1e3);
    step.set_boundaries(vec![0, end_us]);
    let counters = vec![
        (Counter::PhysicalReads, "blocks", "blks_read", Some(reads)),
        (Counter::LogicalReads, "blocks", "blks_read and blks_hit", hits.map(|hits| hits + reads)),
        (Counter::SingleReads, "1", "reads that were timed", us.map(|_| reads)),
        (Counter::SingleReadTimeUs, "us", "blk_read_time", us.map(|us| us * reads)),
    ];
    step.add_counters("pg_stat_database", (0, end_us), 1, counters);
    step.end(None);
    step.add_contradictions(contradictions(result, seconds, counted_s));
    add_findings(&mut step, result, rate.value, seconds, reads / counted_s);
    Ok(step)
}

/// Compares the printed rates with the counters before and after, and the time of reads with that of all sessions.
fn contradictions(result: &PgioResult, seconds: f64, counted_s: f64) -> Vec<String> {
    let per_s = |rise: Option<Printed>| rise.map(|rise| rise.scaled(1.0 / seconds));
    let differ = |a: Option<Printed>, b: Option<Printed>| a.zip(b).filter(|(a, b)| a.differs(*b, APART));
    let rates =
        [("RIOPS", result.reads_per_s, result.rise.reads), ("CACHE_HITS/s", result.hits_per_s, result.rise.hits)];
    let rates = rates.into_iter().filter_map(|(name, rate, rise)| {
        let (rate, rise) = differ(rate, per_s(rise))?;
        Some(format!("{name}: {:.0} printed, {:.0} by the counters before and after", rate.value, rise.value))
    });
    let time = differ(result.ms_per_read, result.rise.ms_per_read());
    let time =
        time.map(|(ms, rise)| format!("a read: {:.3} ms printed, {:.3} ms by the counters", ms.value, rise.value));
    let read_ms = result.ms_per_read.or(result.rise.ms_per_read());
    let busy_s = read_ms.zip(result.reads_per_s).map(|(ms, rate)| ms.value / 1e3 * rate.value * seconds);
    let sessions = result.schemas.zip(result.threads).map(|(a, b)| f64::from(a) * f64::from(b));
    let held = busy_s.zip(sessions.map(|sessions| sessions * counted_s));
    let whole = |all: f64| Printed { value: all, half_step: 1.0 };
    let held = held.filter(|(busy, all)| Printed::exact(*busy).exceeds(whole(*all), CLOCKS_APART));
    let held = held.map(|(busy, all)| format!("{busy:.0} s of reads in {all:.0} s of all sessions"));
    rates.chain(time).chain(held).collect()
}

fn add_findings(step: &mut OldStep, result: &PgioResult, rate: f64, seconds: f64, true_rate: f64) {
    match result.launch_s.filter(|launch| *launch > LONG_LAUNCH * seconds) {
        Some(launch) => {
            let text = "The printed RIOPS is not the rate of this run: reads were counted from before the launch, time from \
                        after it. The rate shown here is over all that time. The rate while all sessions worked is not known.";
            let evidence =
                format!("{rate:.0} printed; {launch:.0} s of launch and {seconds:.0} s of run make {true_rate:.0}/s");
            step.add_finding(codes::IMPORTED_DOUBT, text, evidence);
        }
        None if result.launch_s.is_none() => {
            let text = "pgio counts reads from before the launch and time from after it. The file does not show how long the \
                        launch took: where it was long, the printed RIOPS is too high.";
            let evidence = format!("{rate:.0} printed over {seconds:.0} s");
            step.add_finding(codes::IMPORTED_DOUBT, text, evidence);
        }
        None => {}
    }
    let text =
        "RIOPS are reads that PostgreSQL requested from the operating system: its page cache may have served them.";
    step.add_finding(codes::IMPORTED_FIGURES, text, "no counters of processes or of a device");
}
