//! Realised shares of a run's choices compared with the requested ones.

use serde_json::Value;

/// Largest deviation of a share, in standard errors: one in 1.7 million comparisons exceeds it.
const SIGMAS: f64 = 5.0;

/// Largest deviation of a mix, in operations: the part of a cycle with which each session begins and ends.
const PHASES: f64 = 10.0;

/// Compares every joint share of `update_pct`, `scan_pct` of the reads, and independent draws of `hot_spot` and
/// `hot_schema` with the product of the requested ones.
pub(crate) fn hold(step: &Value, [update, scan, hot_spot, hot_schema]: [f64; 4]) {
    let choices = &step["choices"];
    let operations = choices["operations"].as_f64().unwrap();
    assert!(operations > 500.0, "too few to judge by: {choices:#}");
    let (update, reads) = (update / 100.0, 1.0 - update / 100.0);
    let kinds = [("update", update), ("scan", reads * scan / 100.0), ("", reads * (1.0 - scan / 100.0))];
    let mut total = 0.0;
    for (kind, of_kind) in kinds {
        for (spot, of_spot) in [("hot_spot", hot_spot / 100.0), ("", 1.0 - hot_spot / 100.0)] {
            for (schema, of_schema) in [("hot_schema", hot_schema / 100.0), ("", 1.0 - hot_schema / 100.0)] {
                let chosen: Vec<_> = [kind, spot, schema].into_iter().filter(|name| !name.is_empty()).collect();
                let name = if chosen.is_empty() { "select".to_owned() } else { chosen.join("+") };
                let asked = of_kind * of_spot * of_schema;
                let realised = choices["joint_pct"][&name].as_f64().unwrap_or(0.0) / 100.0;
                let off = SIGMAS * (asked * (1.0 - asked) / operations).sqrt() + PHASES / operations;
                assert!((realised - asked).abs() <= off, "{name}: {realised} of {asked} +-{off}: {choices:#}");
                total += realised;
            }
        }
    }
    assert!((total - 1.0).abs() < 1e-9, "other choices fell too: {choices:#}");
    let alone = choices["alone_pct"]["update"].as_f64().unwrap() / 100.0;
    assert!((alone - update).abs() <= PHASES / operations, "the mix is exact: {alone} of {update}: {choices:#}");
}
