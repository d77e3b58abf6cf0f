//! A run of updates that waits for its log names the log and its volume, in every form of report.

use mindful_analyze::compare::{ComparedFigure, Sides};
use mindful_analyze::{Analysis, analyze};
use mindful_core::contract::description::Words;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Point, Run};
use mindful_report::comparison::comparison_text;
use mindful_report::{Detail, Style};

use crate::forms::{WIDE, on_one_line, text};
use crate::made::{Made, add, state};

const VOLUMES: &str = "redo on vdb, data on vda";

/// Two steps of updates, each of which waits for a log on a volume of its own for 80 % of the time.
fn waiting(id: &str, keys: [&str; 2]) -> Run {
    let mut all: Option<Run> = None;
    for (at, sessions) in (0_u32..).zip([1, 8]) {
        let made = Made { sessions, update_pct: "100", latency_us: 1_000, work_unit: 1, ..Made::default() };
        let syncs = f64::from(sessions) * 500.0 + 490.0;
        let mut run = made.with("log", &[(Counter::LogSyncs, syncs), (Counter::LogSyncTimeUs, syncs * 800.0)]);
        let waits = [("log_sync/Sync", 70.0), ("log/Write", 10.0), ("cpu/cpu", 20.0)];
        add(&mut run, "waits", &waits);
        run.steps[0].head.step = at;
        let values =
            keys.map(|key| (key.to_owned(), if key == "way" { "database".into() } else { sessions.to_string() }));
        run.steps[0].head.point = Point { values: values.into(), ..Point::default() };
        match &mut all {
            Some(all) => all.steps.append(&mut run.steps),
            None => all = Some(run),
        }
    }
    let mut run = all.unwrap();
    (run.head.id, run.head.started_at) = (id.to_owned(), format!("2026-11-21T01:3{}:42.118Z", id.len()));
    run.description.as_mut().unwrap().words = Words::new("redo", "buffer pool hits", "index reads");
    state(&mut run, &[("log.path", "/log"), ("log.device", "vdb")]);
    run
}

fn report(run: &Run) -> String {
    on_one_line(&text(run, Detail::Full, &WIDE))
}

#[test]
fn a_sweep_that_waits_for_its_log_names_it_and_its_volume() {
    let text = report(&waiting("sweep", ["sessions"; 2]));
    assert_eq!(text.matches("redo sync latency").count(), 3, "two rows and the highest: {text}");
    let limit =
        format!("limited by redo sync latency: waits for the redo were 80 % of database time (limit 25 %), {VOLUMES}");
    assert!(text.contains(&limit), "{text}");
}

#[test]
fn a_contrast_that_waits_for_its_log_names_it_and_its_volume() {
    let text = report(&waiting("contrast", ["way", "in flight"]));
    assert!(text.contains(&format!("on the file system of its log and in turn ({VOLUMES})")), "{text}");
    assert!(text.contains(&format!("limited by redo sync latency ({VOLUMES})")), "{text}");
}

#[test]
fn a_comparison_that_waits_for_its_log_names_it_and_its_volume() {
    let side = |id: &str| -> Vec<(Run, Analysis)> {
        let mut run = waiting(id, ["sessions"; 2]);
        // No copy of the other.
        run.steps[0].clock_offset_us = id.len() as i64;
        vec![(run.clone(), analyze(&run))]
    };
    let names = ["before", "after"].map(str::to_owned);
    let sides = Sides { names, baseline: side("a"), candidate: side("after"), planned: false };
    let compared = sides.compare(ComparedFigure::Throughput, 0.03, None).unwrap();
    let text = on_one_line(&comparison_text(&compared, &sides, &Style::default()));
    assert_eq!(text.matches(&format!("limited by redo sync latency ({VOLUMES})")).count(), 2, "{text}");
}
