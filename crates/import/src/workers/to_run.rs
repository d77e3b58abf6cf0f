//! Rows as steps of a ladder.

use mindful_core::event::Event;
use mindful_core::finding::codes;
use mindful_core::metric::{Metric, shared};

use crate::reported::Reported;

/// A length for rates whose length is not reported, us.
const NOMINAL_US: i64 = 60_000_000;

/// The steps.
pub fn reported(name: &str, rows: &[(u32, f64)]) -> Vec<Reported> {
    let step = |(first, (workers, rate)): (bool, &(u32, f64))| {
        let stem = name.rsplit('/').next().unwrap_or(name).split('.').next().unwrap_or(name);
        let mut reported = Reported::new(name, "table of workers", "oracle", format!("oracle: {stem}"));
        reported.sessions = Some(*workers);
        reported.boundaries(vec![0, NOMINAL_US]);
        let metric = Metric::counter(shared::LOGICAL_READS.name(), "blocks", "logical reads");
        reported.grew("table", (0, NOMINAL_US), 1, vec![(metric, Some(rate * NOMINAL_US as f64 / 1e6))]);
        reported.events.push(Event::StepEnd { error: None, interrupted: false });
        if !first {
            return reported;
        }
        let text = "The table tells rates alone, in millions: how long they were measured is not reported.";
        reported.caveat(codes::RATES_ALONE, text, stem);
        reported
    };
    (0..).map(|number| number == 0).zip(rows).map(step).collect()
}
