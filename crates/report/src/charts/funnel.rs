//! The ledger drawn: the same reads as each level counted them, from the blocks visited to the device.

use mindful_analyze::StepAnalysis;
use mindful_analyze::judgement::ledger::LedgerRow;

use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::figure::number;

/// The level above all, which does not count reads: compared with the blocks it visits it would be a line.
const OPERATIONS: &str = "operations";

/// How the levels below the device begin; other rows set in are parts of the one above them, and no level.
const BELOW: &str = "  below";

/// The funnel of a step; `None` if no level is known.
pub(super) fn drawing(step: &StepAnalysis) -> Option<Drawing> {
    let rows = &step.ledger.reads;
    let is_level =
        |row: &&LedgerRow| row.name != OPERATIONS && (!row.name.starts_with("  ") || row.name.starts_with(BELOW));
    let bars: Vec<Bar> = rows.iter().filter(is_level).map(bar).collect();
    if !bars.iter().any(|bar| bar.span.is_some()) {
        return None;
    }
    let operations = rows.iter().find(|row| row.name == OPERATIONS).and_then(|row| row.per_s);
    let operations = operations.map_or_else(String::new, |rate| format!(", for {} operations/s", number(rate)));
    let heading = Heading::new(
        "ledger",
        "Reads at each level, from blocks visited to the device",
        format!("Reads per second as counted at each level{operations}."),
        "The width of a bar is the rate. A ratio compares a level with the level above it; the remark says why it differs.",
    );
    Some(Bars::around_middle(heading, bars, ["level", "per second and ratio", "why it differs"]).drawing())
}

fn bar(row: &LedgerRow) -> Bar {
    let ratio = row.ratio.map_or_else(String::new, |ratio| format!(", ratio {ratio:.2}"));
    let expected = row.expected.map_or_else(String::new, |expected| format!(" ({expected:.2} expected)"));
    let value = row.per_s.map(|rate| format!("{} per second{ratio}{expected}", number(rate)));
    Bar {
        name: row.name.trim().to_owned(),
        span: row.per_s.map(|rate| [0.0, rate]),
        value: value.unwrap_or_else(|| "not known".to_owned()),
        remark: row.gap.clone().unwrap_or_default(),
        ..Bar::default()
    }
}
