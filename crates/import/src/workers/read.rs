//! Rows of workers and millions of logical reads per second.

use mindful_core::{Error, Result};

/// `(workers, logical reads per second)` of each row.
pub fn rows(name: &str, text: &str) -> Result<Vec<(u32, f64)>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.ok()?;
        let millions: f64 = record.get(1)?.parse().ok()?;
        Some((record.get(0)?.parse().ok()?, millions * 1e6)).filter(|(_, rate)| rate.is_finite() && *rate > 0.0)
    };
    let rows: Vec<_> = reader.records().filter_map(row).collect();
    if rows.is_empty() { Err(Error::run(format!("{name} has no row"), "it was cut")) } else { Ok(rows) }
}
