//! The interval log, read by HdrHistogram's own log processor.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use mindful_analyze::analyze;
use mindful_conformance::tool;
use mindful_core::record::run::Run;
use mindful_core::workload::OpKind;
use mindful_report::hlog;

use crate::charts::sweep;
use crate::made::Made;

const JAR: &str = "HdrHistogram-2.2.2.jar";

/// What the log processor makes of `log`, lines of fields.
fn processed(jar: &Path, log: &str, args: &[&str]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.hlog"), log).unwrap();
    let mut java = Command::new("java");
    java.args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"])
        .arg(jar)
        .arg("org.HdrHistogram.HistogramLogProcessor");
    let read =
        java.args(["-csv", "-i", "run.hlog", "-o", "seen"]).args(args).current_dir(folder.path()).output().unwrap();
    assert!(read.status.success() && read.stderr.is_empty(), "{read:?}");
    let text = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split(',').map(|field| field.trim_matches('"').to_owned()).collect()).collect()
}

/// The last line of figures by their names.
fn last(lines: &[Vec<String>]) -> BTreeMap<&str, f64> {
    let (names, figures) = (&lines[0], lines.last().unwrap());
    names.iter().map(String::as_str).zip(figures.iter().map(|figure| figure.parse().unwrap())).collect()
}

fn logged(run: &Run) -> String {
    hlog::log((run, &analyze(run))).unwrap()
}

#[test]
fn histograms_log_processor_reads_what_the_summary_tells() {
    let Some(jar) = tool(JAR) else { return };
    let run = Made { update_pct: "20", ..Made::default() }.run();
    let analysis = analyze(&run);
    let summary = &analysis.summary.steps[0];
    let lines = processed(&jar, &logged(&run), &["-tag", "select"]);
    assert_eq!(lines.len(), 1 + 10, "a head, and a line a slice of the window of 10 s: {lines:?}");
    let (read, select) = (last(&lines), summary.ops.select.as_ref().unwrap());
    assert!((read["Total_Count"] - select.count as f64).abs() < 0.5, "{read:?}");
    for (name, us) in [("Total_50%", select.p50_us), ("Total_99%", select.p99_us)] {
        assert!((read[name] * 1e3 / us.unwrap() - 1.0).abs() < 0.01, "{name}: {read:?}, {us:?}");
    }
    assert!((read["Timestamp"] - 9.0).abs() < 1.5, "s since the window began: {read:?}");
    let untagged = processed(&jar, &logged(&run), &[]);
    let all = last(&untagged);
    let ops: f64 = OpKind::ALL.iter().map(|kind| analysis.steps[0].work.as_ref().unwrap().kind(*kind).ops).sum();
    assert!(
        (all["Total_Count"] - ops).abs() < 0.5 && ops > select.count as f64,
        "lines without a tag hold all: {all:?}"
    );
}

#[test]
fn steps_of_a_sweep_are_reported_apart_by_their_tags() {
    let log = logged(&sweep(&[1, 2]));
    let tags = |tag: &str| log.lines().filter(|line| line.starts_with(&format!("Tag={tag},"))).count();
    assert_eq!([tags("step1-select"), tags("step2-update"), tags("step3-select")], [10, 10, 0], "{log}");
    let untagged = log.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
    assert_eq!(untagged, 20);
}

#[test]
fn a_run_without_operations_or_of_hostile_words_breaks_no_log() {
    let mut run = Made::default().run();
    run.head.id = "x\n1.0,1.0,1.0,AAAA".into();
    assert!(
        logged(&run).lines().all(|line| line.starts_with(['#', '0', '1', '2', '"', '3', '4', '5', '6', '7', '8', '9']))
    );
    run.steps[0].boundaries_us = vec![i64::MIN, i64::MAX];
    let _ = hlog::log((&run, &analyze(&run)));
    run.steps.clear();
    let refused = hlog::log((&run, &analyze(&run))).unwrap_err();
    assert!(refused.to_string().contains("no operation by itself"), "{refused}");
}
