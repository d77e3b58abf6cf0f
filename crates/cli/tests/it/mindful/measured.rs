//! Runs on the null engine.

use serde_json::Value;

use crate::mindful::{Mindful, json};

/// A run with its summary.
pub fn measured(mindful: &Mindful, args: &[&str]) -> Value {
    let base = ["run", "--format", "json", "--target", "null:", "--scale", "1000", "--warmup", "0s"];
    json(&mindful.run(&[&base[..], args].concat()))
}
