//! Ranks visit the same keys as one process with as many sessions: each operation of each session, in its order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::clock::Time;
use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::engine::{Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::contract::{DatasetStore, OwnedObject};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::plan::settings::Settings;
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, Workload};
use mindful_null::{Null, SimulatedClock};

use crate::job::{Given, Job};

const TIME: Duration = Duration::from_millis(5);

/// Operations by session, in the order in which they were carried out.
type Visits = BTreeMap<u32, Vec<Op>>;

/// The null engine, with sessions that record their orders.
struct Scribe {
    null: Null,
    clock: SimulatedClock,
    visits: Arc<Mutex<Visits>>,
}

impl Scribe {
    fn new() -> &'static Self {
        let clock = SimulatedClock::default();
        Box::leak(Box::new(Self { null: Null::simulated(clock.clone()), clock, visits: Arc::default() }))
    }

    fn visits(&self) -> Visits {
        std::mem::take(&mut *self.visits.lock().unwrap())
    }
}

impl Engine for Scribe {
    fn facts(&self) -> EngineFacts {
        self.null.facts()
    }

    fn redact(&self, url: &str) -> String {
        self.null.redact(url)
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        let (null, visits) = (self.null.parse_options(url, settings)?, Arc::clone(&self.visits));
        Ok(Arc::new(ScribeOptions { null, clock: self.clock.clone(), visits }))
    }
}

struct ScribeOptions {
    null: Arc<dyn EngineOptions>,
    clock: SimulatedClock,
    visits: Arc<Mutex<Visits>>,
}

impl EngineOptions for ScribeOptions {
    fn open(&self, sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        let (null, visits) = (self.null.open(sessions, events)?, Arc::clone(&self.visits));
        Ok(Box::new(Written { null, clock: self.clock.clone(), visits }))
    }
}

struct Written {
    null: Box<dyn Target>,
    clock: SimulatedClock,
    visits: Arc<Mutex<Visits>>,
}

impl DatasetStore for Written {
    fn dataset(&self) -> Result<Option<Dataset>> {
        self.null.dataset()
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        self.null.load(plan, events, stop)
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.null.verify(stop)
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        self.null.inventory()
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        self.null.cleanup()
    }
}

impl Target for Written {
    fn describe(&self) -> Result<Description> {
        // Several endpoints, so that placement over them is compared too.
        Ok(Description { endpoints: 3, ..self.null.describe()? })
    }

    fn clock_us(&self) -> Result<i64> {
        self.null.clock_us()
    }

    fn host_view(&self) -> HostView {
        self.null.host_view()
    }

    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>> {
        self.null.prepare(workload, sessions)
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let (clock, visits) = (self.clock.clone(), Arc::clone(&self.visits));
        let client = ClientLoop::with_time(clock.clone(), workload, placement);
        Ok(Box::new(Writing { client, pen: Pen { session: placement.session, clock, visits } }))
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        self.null.samplers()
    }

    fn interrupt(&self) {
        self.null.interrupt();
    }
}

struct Writing {
    client: ClientLoop<SimulatedClock>,
    pen: Pen,
}

impl Session for Writing {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.client.run_slice(order, &mut self.pen)
    }
}

struct Pen {
    session: u32,
    clock: SimulatedClock,
    visits: Arc<Mutex<Visits>>,
}

impl Operator for Pen {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        self.visits.lock().unwrap().entry(self.session).or_default().push(*op);
        self.clock.sleep_unless(self.clock.now_us() + TIME.as_micros() as i64, &|| false);
        Ok(op.blocks)
    }
}

/// All settings that decide keys, kinds, schemas and pauses, each at least once.
const PLANS: [Given<'_>; 4] = [
    &[("schemas", "4")],
    &[("schemas", "5"), ("update_pct", "33"), ("update_work_unit", "2"), ("seed", "7")],
    &[("schemas", "8"), ("hot_spot_size", "1MiB"), ("hot_spot_share", "30"), ("hot_schema", "20"), ("scan_pct", "10")],
    &[("schemas", "3"), ("skew", "zipf:0.9"), ("think_time", "1ms..9ms"), ("update_pct", "10")],
];

#[test]
fn four_ranks_of_eight_visit_the_same_keys_as_one_of_thirty_two() {
    for plan in PLANS {
        let base: Given<'_> = &[
            ("ops", "40"),
            ("scan_table", "1MiB"),
            ("work_unit", "4"),
            ("sessions", "32"),
            ("update_pct", "0"),
            ("null_latency", "10ms"),
        ];
        let given = [base, plan].concat();
        let alone = Scribe::new();
        Job::on(alone.clock.clone(), alone).alone(&given);
        let shared = Scribe::new();
        let job = Job::on(shared.clock.clone(), shared);
        for came in job.ranks(4, &[0, 1, 2, 3].map(|rank| (rank, &*given, "1"))) {
            came.unwrap();
        }
        let (one, four) = (alone.visits(), shared.visits());
        assert_eq!(one.len(), 32);
        assert!(one.values().all(|ops| ops.len() == 40), "each did its work");
        assert_eq!(one, four, "{plan:?}");
    }
}
