//! The line that pgio prints at its end, and the text before it: a step of reads by all the time in which they were counted.

use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use super::format::Format;
use crate::configuration::connect_string;
use crate::input;
use crate::number::{self, APART, CLOCKS_APART, Printed};
use crate::old_step::OldStep;

/// Output of `runit.sh` of pgio.
pub(super) static PGIO_LINE: Format = Format {
    what: "pgio result",
    // By the words of the line.
    recognises: |head| head.lines().any(is_result),
    read: |name, input| {
        let text = input::text(name, input)?;
        let mut steps = results(&text).iter().map(|result| step(name, result)).collect::<Result<Vec<_>>>()?;
        if let Some(step) = steps.first_mut() {
            let damaged = text.lines().filter(|line| line.contains("RIOPS") && !is_result(line)).count();
            step.add_damage(damaged as u64, "line");
        }
        Ok(steps)
    },
};

#[derive(Default)]
struct PgioResult {
    /// psql's connection string, if the log contains it.
    connect: Option<String>,
    database: Option<String>,
    schemas: Option<u32>,
    /// Sessions on each.
    threads: Option<u32>,
    /// Time from the end of the launch to the end of the last session, s.
    seconds: Option<f64>,
    /// Time the launch took, s, where the log shows it.
    launch_s: Option<f64>,
    /// Reads requested by PostgreSQL, by seconds after the launch.
    reads_per_s: Option<Printed>,
    hits_per_s: Option<Printed>,
    /// Time of a read, ms; needs `track_io_timing`.
    ms_per_read: Option<Printed>,
    /// Growth of the counters in the log.
    rise: Rise,
}

/// Growth of counters of `pg_stat_database` in a run.
#[derive(Clone, Copy, Default)]
struct Rise {
    reads: Option<Printed>,
    hits: Option<Printed>,
    read_ms: Option<Printed>,
}

impl Rise {
    fn ms_per_read(self) -> Option<Printed> {
        self.read_ms?.over(self.reads?)
    }
}

fn is_result(line: &str) -> bool {
    line.contains("RIOPS >") && line.contains("Run time:")
}

fn results(text: &str) -> Vec<PgioResult> {
    let mut results = Vec::new();
    let mut head = PgioResult::default();
    let mut counters = Counters::default();
    for line in text.lines() {
        if line.to_ascii_lowercase().contains("launch") {
            head.launch_s = before(line, "second").or(head.launch_s);
        }
        if let Some((_, connect)) = line.split_once("connect string:") {
            // Quotes may be part of it.
            let quoted = connect.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
            head.connect = quoted.map(|(connect, _)| connect.to_owned());
        }
        counters.add(line);
        if is_result(line) {
            let (launch_s, connect) = (head.launch_s.take(), head.connect.take());
            results.push(PgioResult { launch_s, connect, rise: counters.rise(), ..result(line) });
            counters = Counters::default();
        }
    }
    results
}

/// Rows of pg_stat_database before and after a run, by the names of their columns.
#[derive(Default)]
struct Counters<'a> {
    columns: Vec<&'a str>,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
}

impl<'a> Counters<'a> {
    fn add(&mut self, line: &'a str) {
        let cells = |row: &'a str| row.split('|').map(str::trim).collect();
        if line.contains("blks_read") && line.contains('|') {
            self.columns = cells(line);
        } else if let Some(row) = line.trim_start().strip_prefix("BEFORE:") {
            self.before = cells(row);
        } else if let Some(row) = line.trim_start().strip_prefix("AFTER:") {
            self.after = cells(row);
        }
    }

    fn rise(&self) -> Rise {
        let rise = |name: &str| {
            let at = self.columns.iter().position(|column| *column == name)?;
            let figure = |row: &[&str]| number::count(row.get(at)?).map(Printed::counted);
            let (after, before) = (figure(&self.after)?, figure(&self.before)?);
            Some(after.plus(before.scaled(-1.0))).filter(|rise| rise.value > 0.0)
        };
        Rise { reads: rise("blks_read"), hits: rise("blks_hit"), read_ms: rise("blk_read_time") }
    }
}

fn result(line: &str) -> PgioResult {
    let quoted = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        number::count(rest.trim_start().strip_prefix('>')?.split('<').next()?)
    };
    let name = line.split_once("DBNAME:").and_then(|(_, rest)| rest.trim().split(['.', ' ']).next());
    PgioResult {
        database: name.filter(|name| !name.is_empty()).map(str::to_owned),
        schemas: before(line, "schema").map(|count| count as u32),
        threads: before(line, "thread").map(|count| count as u32),
        seconds: line.split_once("Run time:").and_then(|(_, rest)| figure(rest.trim().split(' ').next()?)),
        reads_per_s: quoted("RIOPS"),
        hits_per_s: quoted("CACHE_HITS/s"),
        ms_per_read: quoted("TIME_PER_READ_MS").filter(|ms| ms.value > 0.0),
        ..PgioResult::default()
    }
}

fn before(line: &str, word: &str) -> Option<f64> {
    let at = line.find(word)?;
    let figure = line[..at].trim_end().rsplit([' ', '(', ':', '=']).next()?;
    self::figure(figure)
}

fn figure(text: &str) -> Option<f64> {
    number::count(text).map(|figure| figure.value).filter(|figure| (0.0..1e9).contains(figure))
}

/// The block length of pgio.
const BLOCK: u64 = 8192;
/// Share of the run time above which a launch makes the printed rate wrong.
const LONG_LAUNCH: f64 = 0.02;

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
    step.add_counters("pg_stat_database", counters);
    step.add_contradictions(contradictions(result, seconds, counted_s));
    add_findings(&mut step, result, rate.value, seconds, reads / counted_s);
    Ok(step)
}

/// Compares the printed rates with the counters before and after, and the time of reads with that of all sessions.
fn contradictions(result: &PgioResult, seconds: f64, counted_s: f64) -> Vec<String> {
    let per_s = |rise: Option<Printed>| rise.map(|rise| rise.scaled(1.0 / seconds));
    let rise_ms = result.rise.ms_per_read();
    let stated = [
        ("RIOPS", result.reads_per_s, per_s(result.rise.reads)),
        ("CACHE_HITS/s", result.hits_per_s, per_s(result.rise.hits)),
        ("TIME_PER_READ_MS", result.ms_per_read, rise_ms),
    ];
    let differ = stated.into_iter().filter_map(|(name, printed, counted)| {
        let (printed, counted) = Printed::contradiction(printed, counted, APART)?;
        Some(format!("{name}: {printed:.3} printed, {counted:.3} by the counters before and after"))
    });
    let read_ms = result.ms_per_read.or(rise_ms);
    let busy_s = read_ms.zip(result.reads_per_s).map(|(ms, rate)| ms.value / 1e3 * rate.value * seconds);
    let all_s = result.schemas.zip(result.threads).map(|(a, b)| f64::from(a) * f64::from(b) * counted_s);
    let above =
        |busy: f64, all: f64| Printed::exact(busy).exceeds(Printed { value: all, half_step: 1.0 }, CLOCKS_APART);
    let held = busy_s.zip(all_s).filter(|(busy, all)| above(*busy, *all));
    differ.chain(held.map(|(busy, all)| format!("{busy:.0} s of reads in {all:.0} s of all sessions"))).collect()
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
