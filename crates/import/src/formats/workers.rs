//! Logical reads by concurrent workers, as published with SLOB studies.

use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

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
        let (rows, damaged) = rows(name, &input::text(name, input)?)?;
        let mut steps = steps(name, &rows);
        steps[0].add_damage(damaged, "row");
        Ok(steps)
    },
};

type WorkersRow = (u32, Option<f64>);

/// Each row, and the number of damaged rows; a rate that cannot be read is unknown.
fn rows(name: &str, text: &str) -> Result<(Vec<WorkersRow>, u64)> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let mut damaged = 0;
    let row = |record: csv::Result<csv::StringRecord>| {
        // A row with a decimal comma has three cells.
        let record = record.ok().filter(|record| record.iter().skip(2).all(str::is_empty))?;
        let millions = record.get(1).and_then(|cell| cell.parse::<f64>().ok());
        let rate = millions.map(|millions| millions * 1e6).filter(|rate| rate.is_finite() && *rate > 0.0);
        Some((record.get(0)?.parse().ok()?, rate))
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        let row = row(record);
        damaged += u64::from(row.is_none_or(|(_, rate)| rate.is_none()));
        rows.extend(row);
    }
    if rows.is_empty() {
        Err(Error::run(format!("{name} has no row"), "the file was cut: copy it again"))
    } else {
        Ok((rows, damaged))
    }
}

fn steps(name: &str, rows: &[(u32, Option<f64>)]) -> Vec<OldStep> {
    let study = name.rsplit('/').next().unwrap_or(name).split('.').next().unwrap_or(name);
    let to_step = |(workers, rate): &(u32, Option<f64>)| {
        let mut step = OldStep::of_oracle(name, "table of workers", format!("oracle: {study}"));
        step.sessions = Some(*workers);
        step.set_boundaries(vec![0, NOMINAL_US]);
        let grew = rate.map(|rate| rate * NOMINAL_US as f64 / 1e6);
        let counter = (Counter::LogicalReads, "blocks", "logical reads", grew);
        step.add_counters("table", vec![counter]);
        step
    };
    let mut steps: Vec<_> = rows.iter().map(to_step).collect();
    if let Some(first) = steps.first_mut() {
        let text = "The table contains only rates, in millions: the duration of the measurement is unknown.";
        first.add_finding(codes::IMPORTED_FIGURES, text, study);
    }
    steps
}
