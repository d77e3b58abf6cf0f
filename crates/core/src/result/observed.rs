//! Values that each source of counters reported in the window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A source of counters, such as `pg_stat_io` or `diskstats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObservedSource {
    /// Its name.
    pub source: String,
    /// Readings of the step, warm-up included.
    pub readings: u32,
    /// Time of a reading, us: the mean of all readings.
    pub cost_us: Option<f64>,
    /// Time from a boundary of slices to its reading, us: the mean of all readings.
    pub delay_us: Option<f64>,
    /// Its metrics in the window, by name.
    pub metrics: BTreeMap<String, ObservedMetric>,
}

/// A metric in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObservedMetric {
    /// Growth of a counter per second, or mean of a gauge; null where a reading is missing or the counter fell.
    pub value: Option<f64>,
    /// Standard deviation of that growth from one reading to the next, or of the gauge; null with fewer than two of them.
    pub deviation: Option<f64>,
}
