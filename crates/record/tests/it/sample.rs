//! A run of every kind of event.

use std::path::PathBuf;

use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Metric, Phase};
use mindful_core::contract::slice::{Placement, SliceReport};
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Facts, RunHead, StepHead};
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;
use mindful_record::Store;
use tempfile::TempDir;

pub(crate) const SECRET: &str = "hunter2-correct-horse";

pub(crate) fn head(tag: Option<&str>) -> RunHead {
    let url = format!("postgres://bench:{SECRET}@db.example/bench");
    let mut settings = Settings::defaults(KEYS);
    settings.set("target", url.clone(), Origin::Flag("--target".to_owned()));
    if let Some(tag) = tag {
        settings.set("tag", tag, Origin::Flag("--tag".to_owned()));
    }
    let plan = Plan::from_settings(&settings).unwrap();
    assert_eq!(plan.target, url);
    RunHead {
        mindful_version: "0.1.0".to_owned(),
        server_side_loop: Some(true),
        target: "postgres://bench@db.example/bench".to_owned(),
        ..RunHead::new("postgres", plan, settings)
    }
}

/// Writes a run of all [`events`] to `store`, with `tag`; returns its id.
pub(crate) fn written(store: &Store, tag: Option<&str>) -> String {
    let writer = store.create(head(tag)).unwrap();
    for event in events() {
        writer.emit(event);
    }
    writer.close().unwrap();
    writer.head.id.clone()
}

/// A store with one run: its folder, itself, the id and the record of the run.
pub(crate) fn stored() -> (TempDir, Store, String, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store"));
    let id = written(&store, None);
    let log = store.run_dir(&id).join("run.jsonl");
    (dir, store, id, log)
}

/// Everything that may happen in a run of one step after its head.
pub(crate) fn events() -> Vec<Event> {
    let mut events = before_the_step();
    events.push(Event::Source {
        source: "s".into(),
        metrics: vec![Metric::counter("reads", "1", "Reads.")],
        phase: Phase::Boundary,
    });
    for boundary in 0..=2_u32 {
        let at_us = 1_000_000 * i64::from(boundary);
        events.push(Event::Sample {
            source: "s".into(),
            boundary,
            at_us,
            cost_us: 80,
            values: vec![(boundary != 1).then_some(0.5)],
        });
        for session in (0..2).filter(|_| boundary < 2) {
            let mut recorder = Recorder::new();
            (1..200).for_each(|i| recorder.record(i * 1_000));
            let mut report =
                SliceReport { index: boundary, begin_us: at_us, end_us: at_us + 1_000_000, ..SliceReport::default() };
            let op = report.op_mut(OpKind::Select);
            (op.ops, op.blocks, op.latency) = (199, 199 * 64, recorder.drain());
            report.tally.add(0, 199);
            events.push(Event::Slice { session, report });
        }
    }
    events.push(Event::StepEnd { error: None, interrupted: false });
    events.push(Event::Finding(codes::LATE_START.finding("A session was late.", "12 ms")));
    events.push(Event::Finished { interrupted: false, error: None });
    events
}

fn before_the_step() -> Vec<Event> {
    let plan = head(None).plan;
    let (schemas, blocks_per_schema, bytes, index_bytes) = (2, 1_000, 16_384_000, Some(65_536));
    let planned = plan.dataset(8_192).unwrap().expected(8_192);
    let dataset = Dataset { schemas, blocks_per_schema, bytes, index_bytes, ..planned };
    let workload = plan.workload(&dataset).unwrap();
    let placements =
        (0..2).map(|session| Placement { session, sessions: 2, schema: session + 1, endpoint: 0 }).collect();
    let schemas =
        vec![SchemaProof { schema: 1, rows: 1_000, distinct_blocks: 1_000, rank_correlation: 0.001, sample: None }];
    vec![
        Event::Environment { facts: Facts::from([("kernel".to_owned(), "6.1".to_owned())]) },
        Event::Described {
            description: Description { engine_version: "18.6".into(), block_bytes: 8_192, ..Description::default() },
            host: HostView::default(),
        },
        Event::Loaded { dataset, load_s: Some(1.5) },
        Event::Proven { proof: LayoutProof { schemas, cross_correlation: Some(0.003), proven_at_us: 1 } },
        Event::Shapes {
            shapes: vec![AccessPath {
                kind: "select".into(),
                shape: "Index Scan".into(),
                pure: true,
                detail: "a\nb".into(),
                idle_settings: Vec::new(),
            }],
        },
        Event::Note { text: "a note with \u{1b}[31m and \u{2028}".into() },
        Event::Step(StepHead {
            workload: Some(workload),
            placements,
            warmup_slices: 1,
            duration_s: Some(1.0),
            ..StepHead::default()
        }),
        Event::Ready { ready: 2, of: 2 },
        Event::Progress { what: "loading".into(), done: 1, of: 2, unit: "bytes".into() },
        Event::Started { boundaries_us: vec![0, 1_000_000, 2_000_000], clock_offset_us: -3 },
    ]
}
