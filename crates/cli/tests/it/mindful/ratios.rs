//! The compression of stored blocks compared with the request.

use serde_json::Value;

use crate::mindful::Mindful;

/// How far the measured ratio may be from the one asked for.
const TOLERANCE: f64 = 0.1;

pub(crate) fn hold(text: &str, asked: &str) {
    let ratio = text.split_once("compress ratio ").and_then(|(_, rest)| rest.split([',', ' ']).next());
    let ratio: f64 = ratio.and_then(|ratio| ratio.parse().ok()).unwrap_or_else(|| panic!("no ratio in: {text}"));
    assert!((ratio / asked.parse::<f64>().unwrap() - 1.0).abs() < TOLERANCE, "{ratio} for {asked}: {text}");
}

pub(crate) fn kept(mindful: &Mindful, run: &Value) -> String {
    let text = std::fs::read_to_string(mindful.run_folder(run).join("run.jsonl")).unwrap();
    let found = text.split_once("\"stored_blocks\":").map(|(_, rest)| rest.chars().take(120).collect::<String>());
    found.unwrap_or_else(|| panic!("the run keeps no fact of its stored blocks"))
}
