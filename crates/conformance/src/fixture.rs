//! A fresh target and requests to it.

use std::any::Any;
use std::sync::Arc;
use std::thread;

use mindful_core::Result;
use mindful_core::contract::engine::{Capabilities, Engine};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::workload::{LoopSite, Workload};

pub(crate) const SLICE_US: i64 = 200_000;

pub struct Fixture {
    pub engine: &'static dyn Engine,
    /// URL of a target that holds nothing yet and that no other test uses.
    pub url: String,
    pub settings: Settings,
    pub dataset: DatasetPlan,
    /// Whether a dataset remains when the target is opened again.
    pub persistent: bool,
    /// URLs that must be refused when opened or first used.
    pub bad_urls: Vec<String>,
    guards: Vec<Box<dyn Any>>,
}

impl Fixture {
    /// A fixture with a dataset of two schemas of 500 blocks and scan tables of 16.
    pub fn new(engine: &'static dyn Engine, url: impl Into<String>) -> Self {
        let scan_blocks = if engine.capabilities().scans { 16 } else { 0 };
        let dataset = DatasetPlan { scan_blocks, ..dataset_plan(2, 500) };
        let scheme = engine.facts().schemes[0];
        Self {
            engine,
            url: url.into(),
            settings: Settings::defaults(engine.options()),
            dataset,
            persistent: true,
            bad_urls: vec![format!("{scheme}:///no/such/place/\u{1}")],
            guards: Vec::new(),
        }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.settings.set(key, value, Origin::Flag(format!("--{}", key.replace('_', "-"))));
        self
    }

    /// The same, holding `guard` (a temporary folder, a server) while the fixture exists.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any) -> Self {
        self.guards.push(Box::new(guard));
        self
    }

    pub fn can(&self) -> Capabilities {
        self.engine.capabilities()
    }

    pub fn open(&self) -> Box<dyn Target> {
        self.open_for(&Arc::new(Silent))
    }

    pub fn open_for(&self, events: &Arc<impl Events + 'static>) -> Box<dyn Target> {
        self.try_open(events).unwrap_or_else(|error| panic!("open {}: {error}", self.url))
    }

    pub fn try_open(&self, events: &Arc<impl Events + 'static>) -> Result<Box<dyn Target>> {
        let events: Arc<dyn Events> = events.clone();
        self.engine.parse_options(&self.url, &self.settings).and_then(|options| options.open(0, &events))
    }

    pub fn loaded(&self) -> Opened {
        let target = self.open();
        if self.can().loads {
            target.load(&self.dataset, &Silent, &StopFlag::default()).unwrap();
        }
        Opened { target }
    }

    /// Only reads of 8 blocks, in the first loop that the engine has.
    pub fn workload(&self) -> Workload {
        let of = &self.dataset;
        Workload { seed: 11, loop_site: self.loops()[0], ..Workload::reads_only(of.schemas, of.blocks_per_schema, 8) }
    }

    pub fn loops(&self) -> Vec<LoopSite> {
        let all = [(LoopSite::Server, self.can().server_side_loop), (LoopSite::Client, self.can().client_side_loop)];
        let has: Vec<LoopSite> = all.into_iter().filter(|(_, has)| *has).map(|(looping, _)| looping).collect();
        assert!(!has.is_empty(), "an engine needs a loop, in the server or in the client");
        has
    }

    pub fn applies(&self, has: bool, what: &str) -> bool {
        if !has {
            #[expect(clippy::print_stderr, reason = "the suite prints which properties do not apply")]
            {
                eprintln!("not applicable to {}: its capabilities say it has no {what}", self.engine.name());
            }
        }
        has
    }
}

pub struct Opened {
    pub target: Box<dyn Target>,
}

impl Opened {
    pub fn session(&self, workload: &Workload, session: u32, sessions: u32) -> Box<dyn Session> {
        self.target.prepare(workload, sessions).unwrap();
        let placement = Placement { session, sessions, schema: session % workload.schemas + 1, endpoint: 0 };
        self.target.session(workload, placement).unwrap_or_else(|error| panic!("session {session}: {error}"))
    }

    /// Orders for slices one after the other, the first soon.
    pub fn orders(&self) -> Orders {
        let now = self.target.clock_us().unwrap();
        Orders { next: SliceOrder { index: 0, begin_us: now + 20_000, end_us: 0, first_op: 0, max_ops: None } }
    }

    /// One session's reports of `slices` slices, the operations counted on from one to the next.
    pub fn work(&self, workload: &Workload, slices: u32) -> Vec<SliceReport> {
        self.work_ops(workload, slices, None)
    }

    /// The same with `ops` operations in each slice and no other end.
    pub fn work_ops(&self, workload: &Workload, slices: u32, ops: Option<u64>) -> Vec<SliceReport> {
        let mut session = self.session(workload, 0, 1);
        let mut orders = self.orders();
        let mut reports: Vec<SliceReport> = Vec::new();
        for _ in 0..slices {
            let first_op = reports.iter().map(SliceReport::total_ops).sum();
            let order = orders.next(first_op, ops);
            reports.push(session.run_slice(&order).unwrap());
        }
        reports
    }
}

pub struct Orders {
    next: SliceOrder,
}

impl Orders {
    /// The next order; a fixed amount of work has enough time.
    pub fn next(&mut self, first_op: u64, max_ops: Option<u64>) -> SliceOrder {
        let length = if max_ops.is_some() { 60_000_000 } else { SLICE_US };
        let order = SliceOrder { end_us: self.next.begin_us + length, first_op, max_ops, ..self.next };
        self.next.index += 1;
        // A fixed amount of work ends long before its time: the next slice may begin at any time.
        self.next.begin_us = if max_ops.is_some() { order.begin_us } else { order.end_us };
        order
    }
}

/// A slice of so many microseconds that begins now.
pub fn slice_of(target: &dyn Target, us: i64) -> SliceOrder {
    let begin_us = target.clock_us().unwrap();
    SliceOrder { index: 0, begin_us, end_us: begin_us + us, first_op: 0, max_ops: None }
}

/// Reports of `sessions` that work in parallel, each for `us` microseconds.
pub fn work_side_by_side(target: &dyn Target, workload: &Workload, sessions: u32, us: i64) -> Vec<Result<SliceReport>> {
    side_by_side(target, workload, sessions, |session| session.run_slice(&slice_of(target, us)))
}

/// Results of `work` for each session, each on a separate thread.
pub(crate) fn side_by_side<T: Send>(
    target: &dyn Target,
    workload: &Workload,
    sessions: u32,
    work: impl Fn(&mut dyn Session) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    target.prepare(workload, sessions).unwrap();
    let work = &work;
    thread::scope(|scope| {
        let one = |session| {
            let placement = Placement { session, sessions, schema: session % workload.schemas + 1, endpoint: 0 };
            scope.spawn(move || work(&mut *target.session(workload, placement)?))
        };
        let threads: Vec<_> = (0..sessions).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("a session panicked"))).collect()
    })
}

/// Opens `url` with some options of `engine`, for `events`.
pub fn open_with(
    engine: &dyn Engine,
    url: &str,
    options: &[(&str, &str)],
    events: &Arc<dyn Events>,
) -> Result<Box<dyn Target>> {
    let mut settings = Settings::defaults(engine.options());
    for (name, value) in options {
        settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
    }
    engine.parse_options(url, &settings).and_then(|options| options.open(0, events))
}

/// Incompressible rows of a seed, and no scan tables.
pub fn dataset_plan(schemas: u32, blocks: u64) -> DatasetPlan {
    DatasetPlan {
        schemas,
        blocks_per_schema: blocks,
        scan_blocks: 0,
        content: Content::INCOMPRESSIBLE,
        seed: 7,
        load_streams: 2,
    }
}
