//! Runs of format 1, stored at its beginning and never rewritten, keep their meaning.

use serde_json::Value;

use crate::mindful::{Mindful, sample};

/// Each figure in `stored` is also in `now`, which may have more.
fn assert_equal(stored: &Value, now: &Value, path: &str) {
    match (stored, now) {
        (Value::Object(fields), Value::Object(_)) => {
            fields.iter().for_each(|(name, value)| assert_equal(value, &now[name], &format!("{path}.{name}")));
        }
        (Value::Array(values), Value::Array(others)) => {
            assert_eq!(values.len(), others.len(), "{path}");
            values.iter().zip(others).enumerate().for_each(|(at, (a, b))| assert_equal(a, b, &format!("{path}[{at}]")));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * a.abs(), "{path}: {a} stored, {b} now");
        }
        _ => assert_eq!(stored, now, "{path}"),
    }
}

#[test]
fn stored_runs_of_format_1_give_the_figures_they_gave() {
    let mindful = Mindful::new();
    for name in ["postgres", "ladder", "job", "ranks"] {
        mindful.succeed(("import", sample(name)));
        let stored = std::fs::read(sample(name).join("summary.json")).unwrap();
        let stored: Value = serde_json::from_slice(&stored).unwrap();
        let now = mindful.json(["show", stored["id"].as_str().unwrap()]);
        for part in ["format", "id", "engine", "engine_version", "seed", "dataset", "steps", "io_job"] {
            assert_equal(&stored[part], &now[part], &format!("{name}.{part}"));
        }
        assert_eq!(now["validity"], stored["validity"], "{name}");
    }
}
