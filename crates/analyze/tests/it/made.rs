//! Runs made by hand: a clean one, which tests then modify.
#![allow(dead_code, clippy::allow_attributes, reason = "each test crate uses a part of it")]

use mindful_core::contract::description::{AccessPath, Description, HostView, Words};
use mindful_core::contract::metric::{Counter, Metric, Phase};
use mindful_core::contract::slice::{SliceReport, Tally};
use mindful_core::dataset::{Content, Dataset, LayoutProof, SchemaProof};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::record::latency::{Recorder, SampledLatencies};
use mindful_core::record::run::{Facts, Reading, Run, RunHead, Series, StepHead, StepRecord};
use mindful_core::workload::{OpKind, Workload};

pub(crate) const BLOCK_BYTES: f64 = 8_192.0;
const BEGIN_US: i64 = 1_790_000_000_000_000;

#[derive(Clone)]
pub(crate) struct Made {
    pub sessions: u32,
    pub warmup: u32,
    pub seconds: u32,
    pub work_unit: u64,
    pub update_pct: &'static str,
    /// Service time of every operation, give or take a tenth, us.
    pub latency_us: u64,
    /// Physical by logical reads.
    pub miss: f64,
    /// Bytes the processes fetched by bytes the database read.
    pub from_storage: f64,
    /// Device bytes by process bytes.
    pub device: f64,
    pub host_busy: f64,
    pub server_cores: f64,
    pub client_cores: f64,
    pub unseen: &'static [Counter],
}

impl Default for Made {
    fn default() -> Self {
        Self {
            sessions: 4,
            warmup: 2,
            seconds: 10,
            work_unit: 64,
            update_pct: "0",
            latency_us: 6_400,
            miss: 0.98,
            from_storage: 1.0,
            device: 1.0,
            host_busy: 0.25,
            server_cores: 1.2,
            client_cores: 0.02,
            unseen: &[],
        }
    }
}

impl Made {
    pub(crate) fn run(&self) -> Run {
        let mut settings = Settings::defaults(KEYS);
        for (name, value) in [
            ("target", "null:".to_owned()),
            ("sessions", self.sessions.to_string()),
            ("work_unit", self.work_unit.to_string()),
            ("update_pct", self.update_pct.to_owned()),
            ("duration", format!("{}s", self.seconds)),
            ("warmup", format!("{}s", self.warmup)),
        ] {
            settings.set(name, value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
        }
        let plan = Plan::from_settings(&settings).unwrap();
        let dataset = dataset();
        let workload = plan.workload(&dataset).unwrap();
        let head = StepHead {
            placements: plan.placements(workload.schemas, 1),
            workload: Some(workload),
            warmup_slices: self.warmup,
            duration_s: Some(f64::from(self.seconds)),
            ..StepHead::default()
        };
        let step = self.step(head);
        let head = RunHead {
            id: "20261121-013542-k7f".into(),
            started_at: "2026-11-21T01:35:42.118Z".into(),
            mindful_version: "0.1.0".into(),
            server_side_loop: Some(true),
            target: "postgres://bench@db.example/bench".into(),
            ..RunHead::new("postgres", plan, settings)
        };
        Run {
            environment: environment(),
            description: Some(description()),
            host: Some(HostView { local: true, server_pid: Some(1), ..HostView::default() }),
            dataset: Some(dataset),
            load_s: Some(4.2),
            proof: Some(proof()),
            shapes: vec![AccessPath {
                kind: "select".into(),
                shape: "Index Scan using blocks_1_k on blocks_1".into(),
                pure: true,
                detail: String::new(),
                idle_settings: Vec::new(),
            }],
            steps: vec![step],
            finished: true,
            ..Run::new(head)
        }
    }

    /// The run with a source of the host in addition.
    pub(crate) fn with<N: Copy + Into<String>>(&self, source: &str, rates: &[(N, f64)]) -> Run {
        let mut run = self.run();
        add(&mut run, source, rates);
        run
    }

    /// Blocks that all sessions visit in a second.
    pub(crate) fn blocks_per_s(&self) -> f64 {
        (self.ops_per_slice() * u64::from(self.sessions) * self.work_unit) as f64
    }

    pub(crate) fn step(&self, head: StepHead) -> StepRecord {
        let slices = self.warmup + self.seconds;
        let boundaries_us: Vec<i64> = (0..=slices).map(|i| BEGIN_US + i64::from(i) * 1_000_000).collect();
        // All sessions do the same in a slice, so it is made once; each begins a little after the previous one.
        let of_all = |index| {
            let one = self.slice(index);
            (0..self.sessions).map(move |session| {
                let late_us = i64::from(session) * 40;
                let (begin_us, end_us) = (one.begin_us + late_us, one.end_us + late_us);
                (session, SliceReport { begin_us, end_us, ..one.clone() })
            })
        };
        StepRecord {
            head,
            boundaries_us,
            unmerged: (0..slices).flat_map(of_all).collect(),
            series: self.series(slices),
            ended: true,
            ..StepRecord::default()
        }
    }

    pub(crate) fn ops_per_slice(&self) -> u64 {
        1_000_000 / self.latency_us
    }

    fn slice(&self, index: u32) -> SliceReport {
        let begin_us = BEGIN_US + i64::from(index) * 1_000_000;
        let mut report = SliceReport { index, begin_us, end_us: begin_us + 1_000_000, ..SliceReport::default() };
        let ops = self.ops_per_slice();
        let pct: f64 = self.update_pct.parse().unwrap();
        // The mix is exact over the run, as the draws are.
        let updates_until = |slice: u32| (f64::from(slice) * ops as f64 * pct / 100.0).round() as u64;
        let updates = updates_until(index + 1) - updates_until(index);
        for (kind, count) in [(OpKind::Select, ops - updates), (OpKind::Update, updates)] {
            let mut recorder = Recorder::new();
            for i in 0..count {
                recorder.record(self.latency_us * (900 + (i * 200) / count.max(2).saturating_sub(1).max(1)));
            }
            let op = report.op_mut(kind);
            (op.ops, op.blocks, op.latency) = (count, count * self.work_unit, recorder.drain());
        }
        report.tally = Tally(vec![(0, ops - updates), (1, updates)]);
        report
    }

    fn series(&self, slices: u32) -> Vec<Series> {
        let blocks = self.blocks_per_s();
        let logical = blocks * 1.02;
        let physical = logical * self.miss;
        let fetched = physical * self.from_storage * BLOCK_BYTES;
        let updated = blocks * self.update_pct.parse::<f64>().unwrap() / 100.0;
        let database = [
            (Counter::LogicalReads, logical),
            (Counter::PhysicalReads, physical),
            (Counter::ReadTimeUs, physical * 90.0),
            (Counter::PhysicalWrites, updated * 0.8),
            (Counter::SessionWrites, updated * 0.1),
            (Counter::CheckpointWrites, updated * 0.5),
            (Counter::BackgroundWrites, updated * 0.15),
            (Counter::LogBytes, updated * 310.0),
            (Counter::LogWrites, updated / self.work_unit as f64),
            (Counter::Commits, updated / self.work_unit as f64),
        ];
        let host = [
            (Counter::ProcessReadBytes, fetched),
            (Counter::ProcessWriteBytes, updated * BLOCK_BYTES * 0.9),
            (Counter::ServerCpuUserUs, self.server_cores * 7e5),
            (Counter::ServerCpuSystemUs, self.server_cores * 3e5),
            (Counter::ClientCpuUs, self.client_cores * 1e6),
            (Counter::HostCpuBusyUs, self.host_busy * 8e6),
            (Counter::HostCpuTotalUs, 8e6),
            (Counter::DeviceReads, fetched / BLOCK_BYTES * self.device),
            (Counter::DeviceReadBytes, fetched * self.device),
            (Counter::DeviceWrites, updated * 1.1),
            (Counter::DeviceWriteBytes, updated * BLOCK_BYTES * 1.1),
        ];
        let seen = |(counter, rate)| (counter, if self.unseen.contains(&counter) { f64::NAN } else { rate });
        vec![
            one("pg_stat", Phase::Settled, &database.map(seen), slices),
            one("host", Phase::Boundary, &host.map(seen), slices),
        ]
    }
}

/// A source with counters that grow by this amount a second; NaN for one that it does not read.
fn one<N: Copy + Into<String>>(source: &str, phase: Phase, rates: &[(N, f64)], slices: u32) -> Series {
    let lag_us = if phase == Phase::Settled { 500_000 } else { 300 };
    let reading = |boundary: u32| Reading {
        boundary,
        at_us: BEGIN_US + i64::from(boundary) * 1_000_000 + lag_us,
        cost_us: 150,
        values: rates.iter().map(|(_, rate)| Some(1e9 + f64::from(boundary) * rate).filter(|v| !v.is_nan())).collect(),
    };
    Series {
        source: source.to_owned(),
        metrics: rates.iter().map(|(name, _)| Metric::counter(*name, "1", "Made.")).collect(),
        phase,
        readings: (0..=slices).map(reading).collect(),
    }
}

/// Adds a source with counters that grow by this amount a second.
pub(crate) fn add<N: Copy + Into<String>>(run: &mut Run, source: &str, rates: &[(N, f64)]) {
    let step = &mut run.steps[0];
    step.series.push(one(source, Phase::Boundary, rates, step.boundaries_us.len() as u32 - 1));
}

/// Adds a source of the host with a figure that does not change.
pub(crate) fn add_gauge<N: Copy + Into<String>>(run: &mut Run, source: &str, name: N, value: f64) {
    add(run, source, &[(name, 0.0)]);
    let added = run.steps[0].series.last_mut().unwrap();
    added.readings.iter_mut().for_each(|reading| reading.values = vec![Some(value)]);
}

/// Adds latencies of `kind` that `source` sampled until `boundary`, one of so many.
pub(crate) fn add_latencies(run: &mut Run, source: &str, boundary: u32, one_of: u64, kind: &str, us: &[u64]) {
    let mut recorder = Recorder::new();
    for us in us {
        recorder.record(us * 1_000);
    }
    let sampled = SampledLatencies { one_of, kinds: [(kind.to_owned(), recorder.drain())].into() };
    run.steps[0].latencies.push((source.to_owned(), boundary, sampled));
}

/// Multiplies a counter of every source that has it.
pub(crate) fn scale(run: &mut Run, counter: Counter, factor: f64) {
    for series in &mut run.steps[0].series {
        let Some(at) = series.metrics.iter().position(|metric| metric.name == counter) else { continue };
        for value in series.readings.iter_mut().filter_map(|reading| reading.values[at].as_mut()) {
            *value *= factor;
        }
    }
}

/// States facts of the environment.
pub(crate) fn state(run: &mut Run, facts: &[(&str, &str)]) {
    run.environment.extend(facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
}

pub(crate) fn workload(run: &mut Run) -> &mut Workload {
    run.steps[0].head.workload.as_mut().unwrap()
}

fn dataset() -> Dataset {
    Dataset {
        schemas: 4,
        blocks_per_schema: 32_768,
        scan_blocks: 0,
        block_bytes: BLOCK_BYTES as u64,
        bytes: 1 << 30,
        index_bytes: Some(3 << 20),
        seed: 1,
        content: Content::INCOMPRESSIBLE,
    }
}

fn proof() -> LayoutProof {
    let schema =
        |schema| SchemaProof { schema, rows: 32_768, distinct_blocks: 32_768, rank_correlation: 0.0031, sample: None };
    LayoutProof { schemas: (1..=4).map(schema).collect(), cross_correlation: Some(0.004), proven_at_us: BEGIN_US }
}

fn description() -> Description {
    let facts =
        [("shared_buffers", "16MB"), ("io_method", "sync"), ("debug_io_direct", "data"), ("track_io_timing", "on")];
    Description {
        engine_version: "18.6".into(),
        block_bytes: BLOCK_BYTES as u64,
        cache_bytes: Some(16 << 20),
        endpoints: 1,
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        words: Words::new("WAL", "buffer hits", "index and visibility-map reads"),
        ..Description::default()
    }
}

fn environment() -> Facts {
    let facts = [
        ("cpu.model", "Made CPU 3.0 GHz"),
        ("cpu.count", "8"),
        ("kernel.release", "6.12.0"),
        ("storage.path", "/data"),
        ("storage.filesystem", "ext4"),
        ("storage.device", "vda"),
    ];
    facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}
