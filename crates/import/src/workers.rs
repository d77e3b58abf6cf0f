//! Logical reads by concurrent workers, as published beside SLOB studies.

use std::io::BufRead;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Metric, shared};
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// A length for rates whose length is not reported, us.
const NOMINAL_US: i64 = 60_000_000;

/// A CSV of workers and millions of logical reads per second.
pub struct Workers;

impl Format for Workers {
    fn what(&self) -> &'static str {
        "table of workers"
    }

    fn recognises(&self, head: &str) -> bool {
        // By the names of the columns.
        head.lines()
            .next()
            .is_some_and(|line| line.trim().eq_ignore_ascii_case("Num_concurrent_workers,Oracle_Logical_IOPS"))
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        Ok(steps(name, &rows(name, &input::text(name, input)?)?))
    }
}

/// `(workers, logical reads per second)` of each row.
fn rows(name: &str, text: &str) -> Result<Vec<(u32, f64)>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.ok()?;
        let millions: f64 = record.get(1)?.parse().ok()?;
        Some((record.get(0)?.parse().ok()?, millions * 1e6)).filter(|(_, rate)| rate.is_finite() && *rate > 0.0)
    };
    let rows: Vec<_> = reader.records().filter_map(row).collect();
    if rows.is_empty() { Err(Error::run(format!("{name} has no row"), "it was cut")) } else { Ok(rows) }
}

/// The steps.
fn steps(name: &str, rows: &[(u32, f64)]) -> Vec<Reported> {
    let step = |(first, (workers, rate)): (bool, &(u32, f64))| {
        let stem = name.rsplit('/').next().unwrap_or(name).split('.').next().unwrap_or(name);
        let mut reported = Reported::of_oracle(name, "table of workers", format!("oracle: {stem}"));
        reported.sessions = Some(*workers);
        reported.boundaries(vec![0, NOMINAL_US]);
        let metric = Metric::counter(shared::LOGICAL_READS.name(), "blocks", "logical reads");
        reported.grew("table", (0, NOMINAL_US), 1, vec![(metric, Some(rate * NOMINAL_US as f64 / 1e6))]);
        reported.events.push(Event::StepEnd { error: None, interrupted: false });
        if !first {
            return reported;
        }
        let text = "The table tells rates alone, in millions: how long they were measured is not reported.";
        reported.caveat(codes::IMPORTED_FIGURES, text, stem);
        reported
    };
    (0..).map(|number| number == 0).zip(rows).map(step).collect()
}
