//! Records of v$event_histogram over time, as PyLatencyMap takes and prints them.

mod read;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

/// Buckets, cumulative counts and time stamps.
pub(crate) struct EventHistogram;

impl Format for EventHistogram {
    fn what(&self) -> &'static str {
        "event histogram records"
    }

    fn recognises(&self, head: &str) -> bool {
        // By the mark that begins a record.
        head.lines().any(|line| line.trim() == "<begin record>") && head.contains("latencyunit")
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        let (records, damaged) = read::records(name, &input::text(name, input)?)?;
        let mut steps = to_run::steps(name, &records)?;
        if let Some(step) = steps.first_mut() {
            step.add_damage(damaged, "record");
        }
        Ok(steps)
    }
}
