//! The common part of all targets: reads a file, and processes its figures as far as `mindful` does.

use std::io::Cursor;

use mindful_core::contract::event::Event;
use mindful_core::plan::{KEYS, Plan};
use mindful_core::record::run::{Run, RunHead, StepRecord};
use mindful_core::plan::settings::Settings;
use mindful_import::rows::{self, ReportRow};
use mindful_import::waits::{Field, Filter};
use mindful_import::{FORMATS, OldRun, OldStep, recognised, runs};

/// Most steps that are analysed: it takes longer than reading.
const MOST_STEPS: usize = 16;

/// Does the work of the target `name`.
pub fn target(name: &str, bytes: &[u8]) {
    match name {
        "any_file" => any_file(bytes),
        "awr" => of_format("AWR report", &["awr.txt.8"], bytes),
        "configuration" => configuration(bytes),
        "event_histogram" => of_format("event histogram records", &["h.txt"], bytes),
        "fio" => of_format("fio result", &["r.json"], bytes),
        "orion" => of_format("Orion result", &["d_iops.csv", "d_lat.csv", "d_mbps.csv"], bytes),
        "pgio_line" => of_format("pgio result", &["pgio.out"], bytes),
        "statspack" => of_format("Statspack report", &["sp.txt"], bytes),
        "trace" => trace(bytes),
        "workers" => of_format("table of workers", &["LIO.csv"], bytes),
        name => panic!("no target is called {name}"),
    }
}

fn of_format(what: &str, names: &[&str], bytes: &[u8]) {
    let format = FORMATS.into_iter().find(|format| format.what == what).expect("a format of that name");
    let _ = (format.recognises)(&String::from_utf8_lossy(bytes));
    for name in names {
        if let Ok(steps) = (format.read)(name, &mut Cursor::new(bytes)) {
            follow(steps);
        }
    }
}

fn trace(bytes: &[u8]) {
    of_format("10046 trace", &["t.trc"], bytes);
    let filter = Filter::parse("ela>=1 and event~d").expect("a filter");
    for fields in ["event", "block,file,object,blocks,cursor,second,ela,p1,p2,p3"] {
        let fields = Field::parse_list(fields).expect("fields");
        let source = recognised("t.trc", Box::new(Cursor::new(bytes.to_vec())));
        if let Ok(grouped) = source.and_then(|source| source.grouped(&fields, &filter)) {
            let summary = grouped.summary("t.trc");
            let count: u64 = summary.groups.iter().map(|group| group.figures.waits).sum();
            assert_eq!(count, summary.all.waits, "each wait is in one group");
            assert!(summary.all.waits <= summary.waits_in_trace);
        }
    }
}

/// Reads a file of unknown content, analyses its figures and shows them.
fn any_file(bytes: &[u8]) {
    let Ok(source) = recognised("awr.txt.4", Box::new(Cursor::new(bytes.to_vec()))) else { return };
    let Ok(steps) = source.read() else { return };
    for old in follow(steps) {
        let run = run(old);
        if run.steps.len() <= MOST_STEPS {
            let analysis = mindful_analyze::analyze(&run);
            let _ = mindful_report::export::json::summary(&analysis.summary);
            let report = mindful_report::run_report(&run, &analysis, None, mindful_report::Detail::Full);
            let _ = report.to_text(&mindful_report::Style::default());
        }
    }
}

fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for name in ["slob.conf", "pgio.conf"] {
        let _ = mindful_import::import_configuration(name, &text);
    }
}

/// Rows of `steps`, and their runs, with events as they are when read back.
fn follow(steps: Vec<OldStep>) -> Vec<OldRun> {
    let rows: Vec<ReportRow<'_>> = steps.iter().filter_map(ReportRow::of).collect();
    for line in rows::awr_info(&rows).lines().skip(1) {
        for cell in line.split('|').skip(1).take(16).filter(|cell| !cell.is_empty()) {
            assert!(cell.parse::<f64>().is_ok_and(f64::is_finite), "{cell} in {line}");
        }
    }
    let _ = (rows::flashdba(&rows), rows::csv(&rows), rows::json(&rows), rows::table(&rows));
    let (old, _) = runs(steps, None);
    for event in old.iter().flat_map(|run| &run.events) {
        let line = serde_json::to_string(event).expect("an event is plain data");
        let back: Event = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
        assert_eq!(*event, back, "{line}");
    }
    old
}

fn run(old: OldRun) -> Run {
    let settings = Settings::defaults(KEYS);
    let plan = Plan::from_settings(&settings).expect("defaults are a plan");
    let mut run = Run::new(RunHead {
        id: "20260101-000000-abcd".to_owned(),
        started_at: old.began.unwrap_or_default(),
        target: old.target,
        imported: Some(old.imported),
        ..RunHead::new(old.engine, plan, settings)
    });
    for event in old.events {
        match event {
            Event::Environment { facts } => run.environment = facts,
            Event::Described { description, host } => {
                run.description = Some(description);
                run.host = Some(host);
            }
            Event::Step(head) => run.steps.push(StepRecord::new(head)),
            Event::Finding(finding) => run.findings.push(finding),
            Event::Finished { .. } => run.finished = true,
            event => run.steps.last_mut().expect("a step").add(event).expect("an event of a step"),
        }
    }
    run
}
