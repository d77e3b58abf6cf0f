//! Records of v$event_histogram over time, as PyLatencyMap takes and prints them.

mod read;
mod to_run;

use super::format::Format;
use crate::input;

/// Buckets, cumulative counts and time stamps.
pub(super) static EVENT_HISTOGRAM: Format = Format {
    what: "event histogram records",
    // By the mark that begins a record.
    recognises: |head| head.lines().any(|line| line.trim() == "<begin record>") && head.contains("latencyunit"),
    read: |name, input| {
        let (records, damaged) = read::records(name, &input::text(name, input)?)?;
        let mut steps = to_run::steps(name, &records)?;
        steps[0].add_damage(damaged, "record");
        Ok(steps)
    },
    waits: None,
};
