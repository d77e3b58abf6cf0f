//! Ranks on files that all of them reach, which meet in a folder: SQLite and bare files.

use std::path::Path;
use std::process::Child;

use crate::mindful::quiet::Quiet;
use crate::mindful::{Words, assert_has};
use crate::ranks::processes::{Ranks, outcome, report_of, sessions_and_ranks, start_ranks};

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

fn start(ranks: &Ranks, of: u32, given: impl Words) -> Vec<Child> {
    start_ranks(&ranks.mindful, of, (format!("run -q --format json --meet {}", ranks.meet), given))
}

#[test]
fn ranks_write_the_same_into_a_sqlite_file_as_one_process() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    // A schema for each session, so that the last writer of a row does not depend on time.
    let plan = "--schemas 8 --scale 64 --sessions 8 --work-unit 2 --update-pct 50";
    let on = |file: &str| format!("--ops 60 --target {file} {plan}");
    ranks.mindful.succeed("load -q --target sqlite:loaded.db --schemas 8 --scale 64");
    ranks.mindful.succeed(("run -q", on("sqlite:one.db")));
    let four = report_of(start(&ranks, 4, on("sqlite:four.db")), &[0]);
    let [loaded, by_one, by_four] = ["loaded.db", "one.db", "four.db"].map(|name| rows(&ranks.mindful.path(name)));
    let changed = |by: &[Vec<Row>]| loaded.iter().flatten().zip(by.iter().flatten()).filter(|(a, b)| a != b).count();
    assert!(changed(&by_one) > 100, "updates change rows: {}", changed(&by_one));
    assert_eq!(by_one, by_four, "each key was last written by the same operation of the same session");
    for kind in ["select", "update"] {
        assert!(four["steps"][0]["ops"][kind]["count"].as_u64() > Some(0), "{four:#}");
    }
    assert!(ranks.left_nothing());
}

#[test]
fn ranks_can_read_bare_files_together_but_not_write_them() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let plan = "--target raw:blocks --scale 8MiB --sessions 4 --warmup 0s --duration 2s";
    let summary = report_of(start(&ranks, 2, plan), &[0]);
    let step = &summary["steps"][0];
    assert_eq!(sessions_and_ranks(step), (Some(4), Some(2)));
    // The counters of a rank are those of its own process. A busy machine reads them late or not at all; the counters
    // of one rank alone would be half.
    let figure = |name: &str| step[name].as_f64();
    if let Some((read, visited)) = figure("physical_reads_per_s").zip(figure("blocks_visited_per_s")) {
        assert!((0.67..1.5).contains(&(read / visited)), "what both ranks read is counted: {step:#}");
    }
    for (code, report, message) in start(&ranks, 2, (plan, "--update-pct 10")).into_iter().map(outcome) {
        assert_eq!((code, &*report, message.lines().count()), (Some(2), "", 1), "{message}");
        assert_has(message, "only one process can write bare files");
    }
    assert!(ranks.left_nothing());
}
