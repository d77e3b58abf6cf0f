//! What stored blocks compress to, as it was asked, compared with what was asked.

use std::path::Path;

use serde_json::Value;

/// How far the measured ratio may be from the one asked for.
const TOLERANCE: f64 = 0.1;

/// Compares the `compress ratio` in `reported` with `asked`.
pub fn hold(reported: &str, asked: &str) {
    let ratio = reported.split_once("compress ratio ").and_then(|(_, rest)| rest.split([',', ' ']).next());
    let ratio: f64 =
        ratio.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no ratio is reported: {reported}"));
    assert!((ratio / asked.parse::<f64>().unwrap() - 1.0).abs() < TOLERANCE, "{ratio} for {asked}: {reported}");
}

/// The fact as the run `ran` of the store in `folder` keeps it.
pub fn kept(folder: &Path, ran: &Value) -> String {
    let file = folder.join("runs").join(ran["id"].as_str().unwrap()).join("run.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let found = text.split_once("\"stored_blocks\":").map(|(_, rest)| rest.chars().take(120).collect::<String>());
    found.unwrap_or_else(|| panic!("the run keeps no fact of its stored blocks"))
}
