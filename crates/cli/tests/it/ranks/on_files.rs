//! Ranks on files that all of them reach, which meet in a folder: SQLite and bare files.

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::mindful::Mindful;
use crate::mindful::quiet::Quiet;
use crate::ranks::processes::{Ranks, outcome};

/// One row: its key, and the columns that an update changes.
type Row = (i64, Vec<u8>, Vec<u8>);

fn rows(file: &Path) -> Vec<Vec<Row>> {
    let connection = rusqlite::Connection::open(file).unwrap();
    (1..=8)
        .map(|schema| {
            let mut all = connection.prepare(&format!("SELECT k, c1, c2 FROM blocks_{schema} ORDER BY k")).unwrap();
            let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
            rows.map(Result::unwrap).collect()
        })
        .collect()
}

/// Starts ranks of a run with `given`, each with a store of its own.
fn start(ranks: &Ranks, of: u32, given: &[&str]) -> Vec<Child> {
    let count = of.to_string();
    let shared = ["--ranks", &count, "--meet", &ranks.meet, "-q", "--format", "json"];
    (0..of)
        .map(|rank| {
            let mut command = ranks.mindful.command(&[&["run"], given, &shared[..]].concat());
            command.env("JOB_COMPLETION_INDEX", rank.to_string());
            command.env("MINDFUL_STORE", ranks.mindful.path(format!("store-{rank}")));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect()
}

fn report_of(children: Vec<Child>) -> Value {
    let all: Vec<_> = children.into_iter().map(outcome).collect();
    assert!(all.iter().all(|(code, ..)| *code == Some(0)), "{all:?}");
    serde_json::from_str(&all[0].1).unwrap()
}

#[test]
fn ranks_write_the_same_into_a_sqlite_file_as_one_process() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    // A schema for each session, so that the last writer of a row does not depend on time.
    let plan = ["--schemas", "8", "--scale", "64", "--sessions", "8", "--work-unit", "2", "--update-pct", "50"];
    let on = |file: &'static str| [&["--ops", "60", "--target", file][..], &plan].concat();
    let load = ["load", "-q", "--target", "sqlite:loaded.db", "--schemas", "8", "--scale", "64"];
    assert!(ranks.mindful.run(&load).status.success());
    assert!(ranks.mindful.run(&[&["run", "-q"], &*on("sqlite:one.db")].concat()).status.success());
    let four = report_of(start(&ranks, 4, &on("sqlite:four.db")));
    let [loaded, by_one, by_four] = ["loaded.db", "one.db", "four.db"].map(|name| rows(&ranks.mindful.path(name)));
    let changed = |by: &[Vec<Row>]| loaded.iter().flatten().zip(by.iter().flatten()).filter(|(a, b)| a != b).count();
    assert!(changed(&by_one) > 100, "updates change rows: {}", changed(&by_one));
    assert_eq!(by_one, by_four, "each key was last written by the same operation of the same session");
    for kind in ["select", "update"] {
        let count = |summary: &Value| summary["steps"][0]["ops"][kind]["count"].as_u64();
        assert!(count(&four) > Some(0), "{four:#}");
    }
    assert!(ranks.left_nothing());
}

#[test]
fn a_file_is_refused_as_a_rendezvous_with_alternatives() {
    let mindful = Mindful::new();
    let refusal = |target: &str| mindful.refusal(&["run", "--target", target, "--ranks", "2", "--rank", "0"]);
    let sqlite = refusal("sqlite:one.db");
    assert!(sqlite.contains("ranks cannot meet in a file of SQLite") && sqlite.contains("--meet dir:PATH"), "{sqlite}");
    let raw = refusal("raw:blocks");
    assert!(raw.contains("ranks cannot meet in a target of bare files") && raw.contains("or dir:PATH"), "{raw}");
}

#[test]
fn ranks_can_read_bare_files_together_but_not_write_them() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let plan = ["--target", "raw:blocks", "--scale", "8MiB", "--sessions", "4", "--warmup", "0s", "--duration", "2s"];
    let summary = report_of(start(&ranks, 2, &plan));
    assert_eq!(summary["steps"][0]["ranks"].as_array().map(Vec::len), Some(2));
    // The counters of a rank are those of its own process. A busy machine reads them late or not at all; the counters
    // of one rank alone would be half.
    let step = &summary["steps"][0];
    let figure = |name: &str| step[name].as_f64();
    if let Some((read, visited)) = figure("physical_reads_per_s").zip(figure("blocks_visited_per_s")) {
        assert!((0.67..1.5).contains(&(read / visited)), "what both ranks read is counted: {step:#}");
    }
    for (code, report, message) in
        start(&ranks, 2, &[&plan[..], &["--update-pct", "10"]].concat()).into_iter().map(outcome)
    {
        assert_eq!((code, &*report), (Some(2), ""), "{message}");
        assert!(message.lines().count() == 1 && message.contains("only one process can write bare files"), "{message}");
    }
    assert!(ranks.left_nothing());
}
