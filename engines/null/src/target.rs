//! The opened null engine: a dataset that is only remembered.

use std::sync::Arc;

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

use crate::counters::{self, BLOCK_BYTES};
use crate::server::Server;
use crate::session::NullSession;

pub(crate) struct NullTarget(pub Arc<Server>);

impl DatasetStore for NullTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        Ok(self.0.held().clone())
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        let mut held = self.0.held();
        let before = held.as_ref().map_or(0, |dataset| dataset.schemas);
        if let Some(Dataset { schemas, blocks_per_schema, seed, .. }) = held.clone()
            && *held != Some(DatasetPlan { schemas, ..plan.clone() }.expected(BLOCK_BYTES))
        {
            return Err(Error::plan(
                format!("a dataset of {blocks_per_schema} blocks a schema, seed {seed}, is loaded"),
                "`mindful cleanup` first, or load with the same parameters",
            ));
        }
        let a_schema = (plan.blocks_per_schema + plan.scan_blocks) * BLOCK_BYTES;
        let all = u64::from(plan.schemas) * a_schema;
        for schema in before..plan.schemas {
            stop.refuse("the load was stopped")?;
            *held = Some(DatasetPlan { schemas: schema + 1, ..plan.clone() }.expected(BLOCK_BYTES));
            let done = u64::from(schema + 1) * a_schema;
            events.emit(Event::Progress { what: "loading".to_owned(), done, of: all, unit: "bytes".to_owned() });
        }
        held.clone().ok_or_else(|| Error::plan("a dataset without schemas", "pass --schemas 1 or more"))
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        let Dataset { schemas, blocks_per_schema: rows, seed, .. } = self.0.loaded()?;
        let refuse = || stop.refuse("the proof was stopped");
        let layout = |schema| refuse().map(|()| Permutation::layout(rows, seed, schema, LayoutProof::MAX_CORRELATION));
        let layouts = (1..=schemas).map(layout).collect::<Result<Vec<_>>>()?;
        let prove = |(schema, own): (u32, &Permutation)| {
            refuse()?;
            let rank_correlation = correlation(rows, |i| (i, own.get(i)));
            Ok(SchemaProof { schema, rows, distinct_blocks: rows, rank_correlation, sample: None })
        };
        let across =
            |pair: &[Permutation]| refuse().map(|()| correlation(rows, |i| (pair[0].get(i), pair[1].get(i))).abs());
        Ok(LayoutProof {
            schemas: (1..).zip(&layouts).map(prove).collect::<Result<_>>()?,
            cross_correlation: layouts.windows(2).map(across).collect::<Result<Vec<_>>>()?.into_iter().reduce(f64::max),
            proven_at_us: self.0.clock.host().now_us(),
        })
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        let object = |dataset: &Dataset| OwnedObject::new("the imagined dataset".to_owned(), Some(dataset.bytes), None);
        Ok(self.0.held().iter().map(object).collect())
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let removed = self.inventory()?;
        *self.0.held() = None;
        Ok(removed)
    }
}

impl Target for NullTarget {
    fn describe(&self) -> Result<Description> {
        let options = &self.0.options;
        let facts = [("latency", format!("{:?}", options.latency)), ("spread", options.spread.to_string())];
        Ok(Description {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            block_bytes: BLOCK_BYTES,
            endpoints: 1,
            facts: facts.map(|(name, fact)| (name.to_owned(), fact)).into(),
            simulated: true,
            ..Description::default()
        })
    }

    fn clock_us(&self) -> Result<i64> {
        Ok(self.0.clock.now_us())
    }

    fn host_view(&self) -> HostView {
        HostView::default()
    }

    fn prepare(&self, workload: &Workload, _sessions: u32) -> Result<Vec<AccessPath>> {
        workload.refuse_more_than_loaded(Some(&self.0.loaded()?))?;
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
        Ok(Box::new(NullSession::connect(&self.0, workload, placement)?))
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        Ok(vec![counters::sampler(&self.0)])
    }

    fn interrupt(&self) {
        self.0.interrupts.interrupt();
    }
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
