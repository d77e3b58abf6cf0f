//! Runs on the null engine.

use serde_json::Value;

use crate::mindful::{Mindful, json};

/// A run with its summary. Its operations take a millisecond unless `args` say otherwise: without a latency they take a CPU.
pub fn measured(mindful: &Mindful, args: &[&str]) -> Value {
    let base = ["run", "--format", "json", "--target", "null:", "--scale", "1000", "--warmup", "0s"];
    let slow: &[&str] = if args.contains(&"--null-latency") { &[] } else { &["--null-latency", "1ms"] };
    json(&mindful.run(&[&base[..], slow, args].concat()))
}
