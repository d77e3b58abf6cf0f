//! Files to measure, and checks for disturbed measurements.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::Value;

use crate::mindful::{Mindful, Words, host_was_full, steps};

/// The size of a foreign file.
const FOREIGN_BYTES: usize = 16 << 20;
/// Short points: the rates are not tested.
pub(super) const SHORT: &str = "--duration 300ms --warmup 100ms --large-size 64KiB";

/// With a file `blocks`.
pub(super) fn with_blocks() -> Mindful {
    let mindful = Mindful::on_disk();
    mindful.succeed("load --target raw:blocks --schemas 1 --scale 32MiB");
    mindful
}

/// Writes a file `foreign`; returns its content.
pub(super) fn write_foreign(mindful: &Mindful) -> Vec<u8> {
    let bytes: Vec<u8> = (0..FOREIGN_BYTES as u64).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
    fs::write(mindful.path("foreign"), &bytes).unwrap();
    bytes
}

pub(super) fn raw(mindful: &Mindful, args: impl Words) -> Value {
    mindful.json(("raw", SHORT, args))
}

/// Whether others left the session of a step no CPU, or too little for counting.
pub(super) fn disturbed(step: &Value) -> bool {
    step["cpu"]["host_busy_share"].is_null() || host_was_full(step)
}

/// Asserts `check` on the result of `measure`. If it fails and others disturbed the run, measures again, at most three
/// times.
pub(super) fn undisturbed(measure: impl Fn() -> Value, check: impl Fn(&Value)) {
    for _ in 0..2 {
        let measured = measure();
        let Err(failed) = catch_unwind(AssertUnwindSafe(|| check(&measured))) else { return };
        if !steps(&measured).iter().any(disturbed) {
            resume_unwind(failed);
        }
    }
    check(&measure());
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value["point"]["values"][key].as_str().unwrap()
}
