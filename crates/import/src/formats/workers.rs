//! Logical reads by concurrent workers, as published with SLOB studies.

use mindful_core::Error;
use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

/// A length for rates over an unknown time, us.
const NOMINAL_US: i64 = 60_000_000;

/// A CSV of workers and millions of logical reads per second.
pub(super) static WORKERS: Format = Format {
    what: "table of workers",
    // By the names of the columns.
    recognises: |head| {
        head.lines()
            .next()
            .is_some_and(|line| line.trim().eq_ignore_ascii_case("Num_concurrent_workers,Oracle_Logical_IOPS"))
    },
    read: |name, input| {
        let text = input::text(name, input)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().map(row).collect();
        let damaged = rows.iter().filter(|row| !matches!(row, Some((_, Some(_))))).count();
        let study = name.rsplit('/').next().unwrap_or(name).split('.').next().unwrap_or(name);
        let step = |(workers, rate)| step(name, study, workers, rate);
        let mut steps: Vec<_> = rows.into_iter().flatten().map(step).collect();
        let Some(first) = steps.first_mut() else {
            return Err(Error::run(format!("{name} has no row"), "the file was cut: copy it again"));
        };
        let text = "The table contains only rates, in millions: the duration of the measurement is unknown.";
        first.add_finding(codes::IMPORTED_FIGURES, text, study);
        first.add_damage(damaged as u64, "row");
        Ok(steps)
    },
};

/// Workers and their rate, per second; `None` for a damaged row. A rate that cannot be read is unknown.
fn row(record: csv::Result<csv::StringRecord>) -> Option<(u32, Option<f64>)> {
    // A row with a decimal comma has three cells.
    let record = record.ok().filter(|record| record.iter().skip(2).all(str::is_empty))?;
    let millions = record.get(1).and_then(|cell| cell.parse::<f64>().ok());
    let rate = millions.map(|millions| millions * 1e6).filter(|rate| rate.is_finite() && *rate > 0.0);
    Some((record.get(0)?.parse().ok()?, rate))
}

fn step(name: &str, study: &str, workers: u32, rate: Option<f64>) -> OldStep {
    let mut step = OldStep::of_oracle(name, "table of workers", format!("oracle: {study}"));
    step.sessions = Some(workers);
    step.set_boundaries(vec![0, NOMINAL_US]);
    let grew = rate.map(|rate| rate * NOMINAL_US as f64 / 1e6);
    step.add_counters("table", vec![(Counter::LogicalReads, "blocks", "logical reads", grew)]);
    step
}
