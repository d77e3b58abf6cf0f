//! Runs on files in fio's shape, read by fio-plot and by our own importer.

use std::path::Path;
use std::process::Command;

use mindful_conformance::tool;
use serde_json::Value;

use crate::mindful::alone::Quiet;
use crate::raw::place::{Place, refused, steps};

fn near(a: &Value, b: &Value, what: &str) {
    let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
    assert!((a / b - 1.0).abs() < 0.01, "{what}: {a} and {b}");
}

/// A row a step, as fio-plot reads them off `folder`.
fn plotted(fio_plot: &Path, folder: &Path) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/raw/fio/fio_plot.py");
    let read = Command::new("python3").arg("-B").arg(script).arg(fio_plot).arg(folder).output().unwrap();
    assert!(read.status.success(), "{read:?}");
    serde_json::from_slice(&read.stdout).unwrap()
}

#[test]
fn fio_plot_and_our_own_importer_read_a_sweep_on_files() {
    let place = Place::new();
    let _busy = Quiet::beside();
    let path = place.made();
    let short = ["--duration", "1100ms", "--warmup", "0s", "--work-unit", "1", "--iodepth", "2"];
    let sweep = ["sweep", "--target", &format!("raw:{path}"), "--sessions", "1,2", "--format", "json"];
    let summary = place.json(&[&sweep[..], &short].concat());
    let plain: Vec<&Value> = steps(&summary).iter().filter(|step| step["point"]["drift_check"] != true).collect();
    let folder = place.path("fio");
    std::fs::create_dir(&folder).unwrap();
    for step in ["1", "2"] {
        let file = format!("fio/{step}.json");
        let written = place.mindful(&["export", "--as", "fio", "--step", step, "--output", &file]);
        assert!(written.status.success(), "{written:?}");
    }
    if let Some(fio_plot) = tool("fio-plot-1.1.21") {
        let rows = plotted(&fio_plot, &folder);
        assert_eq!(rows.len(), 2, "{rows:#?}");
        for (row, step) in rows.iter().zip(&plain) {
            assert_eq!(
                (row["numjobs"].as_str(), row["iodepth"].as_str()),
                (step["sessions"].to_string().as_str().into(), Some("2"))
            );
            near(&row["iops"], &step["ops"]["select"]["per_s"], "IOPS");
            near(&row["lat"], &Value::from(step["ops"]["select"]["mean_us"].as_f64().unwrap() * 1e3), "latency in ns");
            let shares =
                ["latency_ns", "latency_us", "latency_ms"].map(|name| row[name][0].as_object().unwrap().values());
            let all: f64 = shares.into_iter().flatten().filter_map(Value::as_f64).sum();
            assert!((all - 100.0).abs() < 1e-6, "{row:#}");
        }
    }
    let taken = place.mindful(&["import", "fio/2.json"]);
    assert!(taken.status.success(), "{taken:?}");
    let again = place.json(&["show", "--format", "json"]);
    let (was, is) = (plain[1], &steps(&again)[0]);
    for figure in ["count", "mean_us", "p50_us"] {
        near(&is["ops"]["select"][figure], &was["ops"]["select"][figure], figure);
    }
    assert_eq!((&is["sessions"], &is["block_bytes"]), (&was["sessions"], &Value::Null), "{is:#}");
}

#[test]
fn what_fio_has_no_shape_for_is_refused() {
    let place = Place::new();
    let null = ["run", "--target", "null:", "--scale", "1000", "--warmup", "0s", "--duration", "200ms", "-q"];
    assert!(place.mindful(&null).status.code().is_some());
    assert!(refused(&place.mindful(&["export", "--as", "fio"])).1.contains("fio reads files and devices"));
}
