//! The opened null engine: a dataset that is only remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mindful_core::contract::clock::Clock;
use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::contract::{DatasetStore, OwnedObject};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof, SchemaProof};
use mindful_core::workload::draw::Permutation;
use mindful_core::workload::{OpKind, Workload};
use mindful_core::{Error, Result};

use crate::counters::{self, BLOCK_BYTES, Counters};
use crate::interrupts::Interrupts;
use crate::options::Options;
use crate::orders::Orders;
use crate::session::{NullSession, Shared};
use crate::wrong_clock::WrongClock;

pub(crate) struct NullTarget {
    options: Options,
    dataset: Mutex<Option<Dataset>>,
    counters: Arc<Counters>,
    interrupts: Arc<Interrupts>,
    orders: Arc<Orders>,
    clock: Arc<WrongClock>,
}

impl NullTarget {
    pub(crate) fn new(options: Options, clock: Arc<dyn Clock>) -> Self {
        let clock = Arc::new(WrongClock::new(clock, options.clock_offset.as_micros() as i64, options.clock_step));
        let orders = Arc::new(Orders::new(options.order));
        Self { options, dataset: Mutex::default(), counters: Arc::default(), interrupts: Arc::default(), orders, clock }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<Dataset>> {
        self.dataset.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded(&self) -> Result<Dataset> {
        self.held().clone().ok_or_else(|| Error::target("nothing is loaded into the null engine", "load first"))
    }
}

impl DatasetStore for NullTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        Ok(self.held().clone())
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        let mut held = self.held();
        let before = held.as_ref().map_or(0, |dataset| dataset.schemas);
        if let Some(dataset) = held.as_ref() {
            refuse_another(dataset, plan)?;
        }
        let a_schema = (plan.blocks_per_schema + plan.scan_blocks) * BLOCK_BYTES;
        let all = u64::from(plan.schemas) * a_schema;
        for schema in before..plan.schemas {
            stop.refuse("the load was stopped")?;
            *held = Some(dataset(plan, schema + 1));
            let done = u64::from(schema + 1) * a_schema;
            events.emit(Event::Progress { what: "loading".to_owned(), done, of: all, unit: "bytes".to_owned() });
        }
        held.clone().ok_or_else(|| Error::plan("a dataset without schemas", "pass --schemas 1 or more"))
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        let dataset = self.loaded()?;
        let layout = |schema| {
            let limit = LayoutProof::MAX_CORRELATION;
            Permutation::layout(dataset.blocks_per_schema, dataset.seed, schema, limit)
        };
        let (mut schemas, mut cross_correlation) = (Vec::new(), None);
        for schema in 1..=dataset.schemas {
            stop.refuse("the proof was stopped")?;
            let rows = dataset.blocks_per_schema;
            let own = layout(schema);
            let rank_correlation = correlation(rows, |i| (i, own.get(i)));
            schemas.push(SchemaProof { schema, rows, distinct_blocks: rows, rank_correlation, sample: None });
            if schema > 1 {
                let other = layout(schema - 1);
                let rho = correlation(rows, |i| (other.get(i), own.get(i))).abs();
                cross_correlation = Some(cross_correlation.map_or(rho, |most: f64| most.max(rho)));
            }
        }
        Ok(LayoutProof { schemas, cross_correlation, proven_at_us: self.clock.host().now_us() })
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        Ok(self.held().iter().map(|d| owned("the imagined dataset", d.bytes)).collect())
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let removed = self.inventory()?;
        *self.held() = None;
        Ok(removed)
    }
}

impl Target for NullTarget {
    fn describe(&self) -> Result<Description> {
        let facts = [("latency", format!("{:?}", self.options.latency)), ("spread", self.options.spread.to_string())];
        Ok(Description {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            block_bytes: BLOCK_BYTES,
            endpoints: 1,
            facts: facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect::<BTreeMap<_, _>>(),
            simulated: true,
            ..Description::default()
        })
    }

    fn clock_us(&self) -> Result<i64> {
        Ok(self.clock.now_us())
    }

    fn host_view(&self) -> HostView {
        HostView::default()
    }

    fn prepare(&self, workload: &Workload, _sessions: u32) -> Result<Vec<AccessPath>> {
        workload.refuse_more_than_loaded(Some(&self.loaded()?))?;
        let runs = |kind: &OpKind| match kind {
            OpKind::Select => true,
            OpKind::Update => !workload.update_pct.is_none(),
            OpKind::Scan => !workload.scan_pct.is_none(),
        };
        let detail = "the null engine waits instead of reading";
        let shape = |kind: OpKind| AccessPath::new(kind.name(), "imagined", true, detail);
        Ok(OpKind::ALL.into_iter().filter(runs).map(shape).collect())
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let shared = Shared {
            counters: Arc::clone(&self.counters),
            interrupts: Arc::clone(&self.interrupts),
            scan_blocks: self.loaded()?.scan_blocks,
            orders: Arc::clone(&self.orders),
            clock: Arc::clone(&self.clock),
        };
        Ok(Box::new(NullSession::connect(&self.options, workload, placement, shared)?))
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        Ok(vec![counters::sampler(&self.counters, &self.options, self.clock.host())])
    }

    fn interrupt(&self) {
        self.interrupts.interrupt();
    }
}

fn owned(name: &str, bytes: u64) -> OwnedObject {
    OwnedObject { name: name.to_owned(), bytes: Some(bytes), kept_because: None }
}

fn dataset(plan: &DatasetPlan, schemas: u32) -> Dataset {
    Dataset {
        schemas,
        blocks_per_schema: plan.blocks_per_schema,
        scan_blocks: plan.scan_blocks,
        block_bytes: BLOCK_BYTES,
        bytes: u64::from(schemas) * (plan.blocks_per_schema + plan.scan_blocks) * BLOCK_BYTES,
        index_bytes: None,
        seed: plan.seed,
        content: plan.content,
    }
}

fn refuse_another(loaded: &Dataset, plan: &DatasetPlan) -> Result<()> {
    let same = loaded.blocks_per_schema == plan.blocks_per_schema
        && loaded.scan_blocks == plan.scan_blocks
        && loaded.seed == plan.seed
        && loaded.content == plan.content;
    if same {
        return Ok(());
    }
    Err(Error::plan(
        format!("a dataset of {} blocks a schema, seed {}, is loaded", loaded.blocks_per_schema, loaded.seed),
        "`mindful cleanup` first, or load with the same parameters",
    ))
}

/// Largest number of positions for a correlation: more do not improve it.
const POSITIONS: u64 = 250_000;

/// Correlation of two numbers of each of `rows` positions, over all of them or an evenly spread sample. Over all
/// positions of permutations it is Spearman's rank correlation.
fn correlation(rows: u64, pair: impl Fn(u64) -> (u64, u64)) -> f64 {
    let count = rows.min(POSITIONS);
    let middle = (rows as f64 - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, (0.0, 0.0));
    for k in 0..count {
        let (x, y) = pair((u128::from(k) * u128::from(rows) / u128::from(count)) as u64);
        let (x, y) = (x as f64 - middle, y as f64 - middle);
        products += x * y;
        squares = (squares.0 + x * x, squares.1 + y * y);
    }
    if products == 0.0 { 0.0 } else { products / (squares.0 * squares.1).sqrt() }
}
