//! Where a step stands in a sweep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A point of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Plan keys and their values here.
    pub values: BTreeMap<String, String>,
    /// Which repetition, from 0.
    pub pass: u32,
    /// Whether it repeats the first point to expose drift.
    pub drift_check: bool,
}

impl Point {
    /// Whether it stands in no sweep.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
