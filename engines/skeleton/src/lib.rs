//! A skeleton: the smallest engine that passes the conformance suite, to be copied for a new database.
//!
//! Its database is a map in the memory of mindful: each schema has rows, and each row is in a block of its own.
//! Comments that begin with `HERE` describe the work of a real engine at that place. To make an engine of it:
//!
//! 1. Copy the folder to `engines/NAME`, and rename the package, the types and the URL scheme.
//! 2. Run `cargo test -p mindful-NAME`. Replace one part at a time, and keep the suite green: open, load, session, counters.
//! 3. Register the engine in `crates/cli/src/registry.rs` and `crates/cli/Cargo.toml`. The binary does not contain the skeleton.
//!
//! An engine has four parts:
//!
//! - [`Engine`] is a static value. It parses URLs and options, and the parsed options open targets.
//! - [`Target`] is the opened database, shared by all threads.
//! - [`DatasetStore`] is the part of the target that loads and removes the dataset.
//! - [`Session`] is one connection on its own thread. Its only method runs a slice of about a second.
//!
//! When a file grows, give each part its own module. The engines for SQL databases show the folders.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::engine::{Capabilities, Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::contract::{DatasetStore, OwnedObject, clock};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof, SchemaProof};
use mindful_core::plan::settings::Settings;
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::draw::Permutation;
use mindful_core::workload::{Commit, LoopSite, Op, OpKind, Workload};
use mindful_core::{Error, Result};

/// The registry of the binary holds one such value for each engine.
pub static ENGINE: Skeleton = Skeleton;

/// HERE: the size of a block, if the database has one size for all. Otherwise ask the server in `describe`.
const BLOCK_BYTES: u64 = 8192;

pub struct Skeleton;

impl Engine for Skeleton {
    /// HERE: options of the engine, with names that begin with its own, such as `skeleton_cache`; see [`EngineFacts`]
    /// for the other facts. A plan that needs more than the capabilities is refused before anything runs, and the suite
    /// tests these claims.
    fn facts(&self) -> EngineFacts {
        let can = Capabilities {
            scans: false,
            // The loop runs in mindful. HERE: true as well if the database can run a loop itself, such as in PL/pgSQL.
            server_side_loop: false,
            commit_modes: false,
            ..Capabilities::CLIENT_LOOP
        };
        EngineFacts::new("skeleton", &["skeleton"], "rows in mindful's own memory: an engine to copy", can)
    }

    /// HERE: remove the password.
    fn redact(&self, url: &str) -> String {
        url.to_owned()
    }

    /// HERE: parse the URL and the options into types, and open nothing. Later parts use only the types.
    fn parse_options(&self, url: &str, _settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        if url == "skeleton:" {
            return Ok(Arc::new(SkeletonOptions));
        }
        Err(Error::plan(format!("`{url}` is not a target of the skeleton"), "write skeleton: and nothing more"))
    }
}

/// The parsed options. HERE: host, port, user, and the settings of a private server.
struct SkeletonOptions;

impl EngineOptions for SkeletonOptions {
    /// HERE: connect. An error contains what failed, on what, and the remedy.
    fn open(&self, _sessions: u32, _events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        Ok(Box::new(OpenedSkeleton { database: Arc::default() }))
    }
}

/// The database. HERE: it lives in another process; the target holds a control connection instead.
#[derive(Default)]
struct Database {
    tables: Mutex<Option<(DatasetPlan, Vec<Schema>)>>,
    logical_reads: AtomicU64,
    commits: AtomicU64,
    /// Tells all sessions to end their work.
    interrupted: AtomicBool,
}

/// The rows of a schema by key, from 1.
type Schema = Arc<Vec<Row>>;

struct Row {
    /// The block that contains the row.
    block: u64,
    updates: AtomicU64,
}

impl Database {
    fn tables(&self) -> MutexGuard<'_, Option<(DatasetPlan, Vec<Schema>)>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded(&self) -> Result<(DatasetPlan, Vec<Schema>)> {
        self.tables().clone().ok_or_else(|| Error::target("nothing is loaded", "`mindful load` first"))
    }
}

/// The opened target. Dropping it undoes the effects of opening it.
struct OpenedSkeleton {
    database: Arc<Database>,
}

impl DatasetStore for OpenedSkeleton {
    /// HERE: read the parameters that `load` stored with the tables. A half loaded schema does not count.
    fn dataset(&self) -> Result<Option<Dataset>> {
        Ok(self.database.tables().as_ref().map(|(plan, schemas)| describe_dataset(plan, schemas.len() as u32)))
    }

    /// One row fills one block, and rows are in the blocks in random order: then each operation visits the number of
    /// blocks in the plan, and no reading ahead helps. Schemas are loaded one after the other, so that a stopped load
    /// can be completed.
    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        let mut tables = self.database.tables();
        let (loaded_plan, schemas) = tables.get_or_insert_with(|| (plan.clone(), Vec::new()));
        let same = (loaded_plan.blocks_per_schema, loaded_plan.seed, loaded_plan.content)
            == (plan.blocks_per_schema, plan.seed, plan.content);
        if !same {
            return Err(Error::plan(
                format!("a dataset of {} blocks a schema is loaded", loaded_plan.blocks_per_schema),
                "`mindful cleanup` first, or load with the same parameters",
            ));
        }
        for number in schemas.len() as u32 + 1..=plan.schemas {
            if stop.is_requested() {
                break;
            }
            schemas.push(Arc::new(load_schema(plan, number)));
            let (done, of) = (u64::from(number), u64::from(plan.schemas));
            events.emit(Event::Progress { what: "loading".to_owned(), done, of, unit: "schemas".to_owned() });
        }
        let loaded = schemas.len() as u32;
        let dataset = describe_dataset(loaded_plan, loaded);
        if loaded == 0 {
            *tables = None;
        }
        if loaded < plan.schemas { Err(Error::interrupted("the load was stopped")) } else { Ok(dataset) }
    }

    /// Proves the promise of `load` from the stored rows, not from the plan. HERE: a query that returns key and block
    /// of each row, such as by `ctid` or `ROWID`. A database that does not show where rows are cannot prove its layout,
    /// and reports this.
    fn verify(&self, _stop: &StopFlag) -> Result<LayoutProof> {
        let (_, schemas) = self.database.loaded()?;
        let blocks: Vec<Vec<u64>> = schemas.iter().map(|rows| rows.iter().map(|row| row.block).collect()).collect();
        let prove = |(schema, blocks): (u32, &Vec<u64>)| {
            let keys: Vec<u64> = (0..blocks.len() as u64).collect();
            let mut distinct = blocks.clone();
            distinct.sort_unstable();
            distinct.dedup();
            SchemaProof {
                schema,
                rows: blocks.len() as u64,
                distinct_blocks: distinct.len() as u64,
                rank_correlation: correlation(&keys, blocks),
                sample: None,
            }
        };
        let neighbours = blocks.windows(2).map(|pair| correlation(&pair[0], &pair[1]).abs());
        Ok(LayoutProof {
            schemas: (1..).zip(&blocks).map(prove).collect(),
            cross_correlation: neighbours.reduce(f64::max),
            proven_at_us: clock::now_us(),
        })
    }

    /// HERE: list the objects that `load` created, and similar ones of other owners, with the reason to keep those.
    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        let object = |dataset: Dataset| OwnedObject::new("the rows in memory".to_owned(), Some(dataset.bytes), None);
        Ok(self.dataset()?.map(object).into_iter().collect())
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let removed = self.inventory()?;
        *self.database.tables() = None;
        Ok(removed)
    }
}

impl Target for OpenedSkeleton {
    /// HERE: the version, the settings that matter, the size of the cache.
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            block_bytes: BLOCK_BYTES,
            endpoints: 1,
            simulated: true,
            ..Description::default()
        })
    }

    /// HERE: the process of the server and its data folder, if they are on this host. Then its CPU and its device are sampled.
    fn host_view(&self) -> HostView {
        HostView::default()
    }

    /// HERE: query the database's plan of each statement (`EXPLAIN`), and refuse a plan that does not visit blocks one
    /// by one through the index.
    fn prepare(&self, workload: &Workload, _sessions: u32) -> Result<Vec<AccessPath>> {
        let (plan, schemas) = self.database.loaded()?;
        let refuse = |what: &str| Err(Error::plan(format!("the skeleton cannot {what}"), "change the plan"));
        if workload.schemas > schemas.len() as u32 || workload.scale > plan.blocks_per_schema {
            return Err(Error::plan("the workload is larger than the dataset", "load more, or run on less"));
        }
        if workload.loop_site == LoopSite::Server {
            return refuse("loop on the server side");
        }
        if !workload.scan_pct.is_none() {
            return refuse("scan tables");
        }
        if workload.commit != Commit::Each || !workload.commit_wait {
            return refuse("choose when to commit");
        }
        let runs = |kind: &OpKind| *kind == OpKind::Select || !workload.update_pct.is_none();
        let detail = "each key is an index into the rows";
        let path = |kind: OpKind| AccessPath::new(kind.name(), "lookup by key", true, detail);
        Ok([OpKind::Select, OpKind::Update].into_iter().filter(runs).map(path).collect())
    }

    /// Called on the thread of the session. HERE: connect, prepare the statements, and run each once, so that the first slice begins
    /// without delay.
    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        self.database.interrupted.store(false, Ordering::SeqCst);
        let connection = Connection {
            database: Arc::clone(&self.database),
            schemas: self.database.loaded()?.1,
            session: placement.session,
            visited: 0,
            commits: 0,
        };
        Ok(Box::new(SkeletonSession { client: ClientLoop::new(workload, placement), connection }))
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        // A `Counter` is one that figures are made of. Other names are recorded and shown as they are.
        let metrics = [
            Metric::counter(Counter::LogicalReads, "blocks", "Blocks visited by all sessions"),
            Metric::counter(Counter::Commits, "1", "Transactions committed"),
        ];
        // Sessions publish when a slice ends, so the counters are read in the middle of the next one.
        let source = SampledSource::new("skeleton", metrics).with(Scope::Database, Phase::Settled);
        let database = Arc::clone(&self.database);
        // HERE: one query for all of them, over a separate connection. One value for each metric, in their order; `None`
        // if it is unknown, never 0.
        let count = |counter: &AtomicU64| Some(counter.load(Ordering::Acquire) as f64);
        Ok(vec![source.read_by(move || Ok(vec![count(&database.logical_reads), count(&database.commits)]))])
    }

    /// HERE: cancel the statements of all sessions over a separate connection.
    fn interrupt(&self) {
        self.database.interrupted.store(true, Ordering::SeqCst);
    }
}

/// One connection. `ClientLoop` draws the operations, waits for the slice, times each operation and makes the report; the
/// connection only carries operations out. HERE: an engine with a loop in the server runs the whole slice in one call instead.
struct SkeletonSession {
    client: ClientLoop,
    connection: Connection,
}

impl Session for SkeletonSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.client.run_slice(order, &mut self.connection)
    }
}

struct Connection {
    database: Arc<Database>,
    schemas: Vec<Schema>,
    session: u32,
    /// Not yet added to the counters.
    visited: u64,
    commits: u64,
}

impl Operator for Connection {
    /// HERE: execute the prepared statement of `op.kind` for the keys from `op.first_key` on. Return the number of rows
    /// that the database reports as visited, not `op.blocks`: a difference is an error that mindful reports.
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        if self.interrupted() {
            return Err(Error::interrupted(format!("{} was interrupted", session_name(self.session))));
        }
        let first = op.first_key as usize - 1;
        let rows =
            self.schemas.get(op.schema as usize - 1).and_then(|rows| rows.get(first..first + op.blocks as usize));
        let rows = rows.ok_or_else(|| Error::run("a key is outside the dataset", "load the dataset again"))?;
        if op.kind == OpKind::Update {
            for row in rows {
                row.updates.fetch_add(1, Ordering::Relaxed);
            }
            self.commits += 1;
        }
        self.visited += rows.len() as u64;
        Ok(rows.len() as u64)
    }

    fn interrupted(&self) -> bool {
        self.database.interrupted.load(Ordering::SeqCst)
    }

    /// Counters are exact at the end of each slice. HERE: make the server publish this session's counts, if it does so
    /// only occasionally.
    fn end_slice(&mut self) -> Result<()> {
        self.database.logical_reads.fetch_add(std::mem::take(&mut self.visited), Ordering::Release);
        self.database.commits.fetch_add(std::mem::take(&mut self.commits), Ordering::Release);
        Ok(())
    }
}

fn describe_dataset(plan: &DatasetPlan, schemas: u32) -> Dataset {
    DatasetPlan { schemas, scan_blocks: 0, ..plan.clone() }.expected(BLOCK_BYTES)
}

/// HERE: create the table, insert the rows in the order of their blocks, then build the index and collect statistics.
fn load_schema(plan: &DatasetPlan, schema: u32) -> Vec<Row> {
    // The order is drawn from the seed: the same for every engine, and another one for each schema.
    let order = Permutation::layout(plan.blocks_per_schema, plan.seed, schema, LayoutProof::MAX_CORRELATION);
    let row = |key| Row { block: order.get(key), updates: AtomicU64::new(0) };
    (0..plan.blocks_per_schema).map(row).collect()
}

/// Correlation of two permutations of the same numbers, which is Spearman's rank correlation.
fn correlation(one: &[u64], other: &[u64]) -> f64 {
    let middle = (one.len() as f64 - 1.0) / 2.0;
    let centred = |number: &u64| *number as f64 - middle;
    let covariance: f64 = one.iter().zip(other).map(|(x, y)| centred(x) * centred(y)).sum();
    let variance: f64 = one.iter().map(|x| centred(x).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}
