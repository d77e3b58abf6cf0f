//! The load: one transaction a table, so that an interrupted table does not exist.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::SinkExt;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::{Error, Result};
use mindful_sql::dataset::load_queue::LoadQueue;
use mindful_sql::dataset::table_registry::{self, Table, missing_tables};
use tokio_postgres::Client;

use crate::checks::connection_limit;
use crate::connect::link::Link;
use crate::dataset::layout::{NARROW, SHAPED, Shape};
use crate::dataset::registry::{self, Entry};
use crate::dataset::row::{self, Rows};
use crate::dataset::space;
use crate::dataset::verify::{self, Sampled};
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::observe::counters;
use crate::options::Options;
use crate::template::{quote_ident, render};
use crate::work::settle;

const CHUNK_BYTES: usize = 1 << 20;

/// Whether all of the dataset exists already; refuses foreign objects, or another dataset.
pub(crate) fn is_complete(link: &Link, options: &Options, plan: &DatasetPlan) -> Result<bool> {
    let control = link.control()?;
    let namespace = &options.namespace;
    let found = link.run("looking for the dataset", registry::find(&control, namespace))?;
    let Some((_, entries)) = found else { return Ok(false) };
    refuse_other(namespace, &entries, plan, shape(options, &entries, plan)?)?;
    Ok(missing_tables(registry::data(&entries), plan).is_empty())
}

/// Refuses a load of all of `plan` that does not fit.
pub(crate) fn check_room(link: &Link, options: &Options, plan: &DatasetPlan, events: &dyn Events) -> Result<()> {
    let row_bytes = shape(options, &[], plan)?.tuple_bytes() as u64;
    space::check(link, options.tablespace.as_deref(), plan.blocks(), row_bytes, events)
}

/// Makes the missing parts of the dataset. Returns its samples of the schemas it made.
pub(crate) fn load(
    link: &Link,
    options: &Options,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<Sampled> {
    let control = link.control()?;
    let entries = link.run("preparing the load", async {
        refuse_read_only(&control).await?;
        registry::ensure(&control, &options.namespace).await
    })?;
    let shape = shape(options, &entries, plan)?;
    refuse_other(&options.namespace, &entries, plan, shape)?;
    let missing = missing_tables(registry::data(&entries), plan);
    if missing.is_empty() {
        return Ok(Sampled::default());
    }
    table_registry::note_resumed(&missing, plan, events);
    let queue = LoadQueue::new(missing);
    space::check(link, options.tablespace.as_deref(), queue.blocks(), shape.tuple_bytes() as u64, events)?;
    connection_limit::check(link, plan.load_streams.max(1), "load streams", "--load-streams", 0)?;
    let work = Work {
        link,
        options,
        plan,
        shape,
        events,
        stop,
        queue,
        sample: verify::sample_size_for(plan.schemas, plan.blocks_per_schema, plan.seed),
        hold: Mutex::default(),
        looking_us: AtomicU64::new(0),
    };
    let began = Instant::now();
    work.queue.run_streams(plan.load_streams, |first| work.stream(first))?;
    settle::after_load(link, events)?;
    work.tell_looking(began.elapsed());
    Ok(Sampled { drawn: work.sample, hold: work.hold.into_inner().unwrap_or_else(PoisonError::into_inner) })
}

struct Work<'a> {
    link: &'a Link,
    options: &'a Options,
    plan: &'a DatasetPlan,
    shape: Shape,
    events: &'a dyn Events,
    stop: &'a StopFlag,
    queue: LoadQueue,
    sample: u64,
    hold: Mutex<BTreeSet<u32>>,
    /// Time all streams together spent on samples, us.
    looking_us: AtomicU64,
}

impl Work<'_> {
    fn stream(&self, first: Table) -> Result<()> {
        let client = self.link.connect(0)?;
        self.link.run("beginning a load stream", async {
            client.batch_execute(include_str!("../../sql/load_session.sql")).await?;
            // Only a server on the same system's page cache benefits, and only some systems support it.
            let _ = client.batch_execute("SET backend_flush_after = '1MB'").await;
            Ok(())
        })?;
        self.queue.make_tables(first, |table| {
            let place = format!("loading {}", self.options.namespace.table(table.kind, table.schema));
            self.link.run_on_tables(&place, self.make(&client, table))
        })?;
        // Its end would add them at some later moment: reads of a load must not pass for reads of a window.
        self.link.run("publishing counters", counters::publish(&client))
    }

    /// Reports the proof's share of a load of `elapsed`: time of a stream by the total time of all.
    fn tell_looking(&self, elapsed: Duration) {
        let looking_s = self.looking_us.load(Ordering::Relaxed) as f64 / 1e6;
        let share = looking_s / (elapsed.as_secs_f64() * f64::from(self.plan.load_streams.max(1)));
        emit_note(
            self.events,
            format!("proof by sample: {looking_s:.2} s of the load streams' time, {:.1} %", share * 100.0),
        );
    }

    async fn make(&self, client: &Client, table: Table) -> Result<(), Failure> {
        client.batch_execute("BEGIN").await?;
        let made = self.make_in_transaction(client, table).await;
        let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = client.batch_execute(end).await;
        made?;
        Ok(ended?)
    }

    async fn make_in_transaction(&self, client: &Client, table: Table) -> Result<(), Failure> {
        let namespace = &self.options.namespace;
        let name = namespace.table(table.kind, table.schema);
        let place = |keyword: &str| match &self.options.tablespace {
            Some(space) => format!("{keyword} {}", quote_ident(space)),
            None => String::new(),
        };
        let create = render(
            include_str!("../../sql/create_table.sql"),
            &[("table", &name), ("tablespace", &place("TABLESPACE"))],
        );
        client.batch_execute(&create).await?;
        self.copy(client, table, &name).await?;
        if table.kind == TableKind::Blocks {
            let index = quote_ident(&format!("{}_k", Namespace::table_name(table.kind, table.schema)));
            let values = [("index", index.as_str()), ("table", &name), ("tablespace", &place("TABLESPACE"))];
            client.batch_execute(&render(include_str!("../../sql/create_index.sql"), &values)).await?;
        }
        client.batch_execute(&format!("ANALYZE {name}")).await?;
        // Here, while the blocks are in memory; a schema that fails is checked as a whole when the load is done.
        if table.kind == TableKind::Blocks {
            let began = Instant::now();
            if verify::sample_holds(client, namespace, table.schema, table.blocks, self.sample, self.plan.seed).await? {
                self.hold.lock().unwrap_or_else(PoisonError::into_inner).insert(table.schema);
            }
            self.looking_us.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        }
        self.register(client, table, &name).await
    }

    /// Rows in the order of their blocks, frozen at once.
    async fn copy(&self, client: &Client, table: Table, name: &str) -> Result<(), Failure> {
        // Scan tables have separate layouts, numbered beyond those of all schemas.
        let layout = if table.kind == TableKind::Scan { table.schema + (1 << 16) } else { table.schema };
        let mut rows = Rows::new(table.blocks, self.plan.seed, layout, self.shape);
        let sink = client.copy_in(&render(include_str!("../../sql/copy_in.sql"), &[("table", name)])).await?;
        let mut sink = pin!(sink);
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        chunk.extend_from_slice(row::HEADER);
        loop {
            self.stop.refuse("the load was stopped; load again to complete it")?;
            let written = rows.fill(&mut chunk, CHUNK_BYTES);
            if written == 0 {
                break;
            }
            sink.send(Cursor::new(std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK_BYTES)))).await?;
            self.queue.emit_progress(written, space::BLOCK_BYTES, self.events);
        }
        sink.send(Cursor::new(row::TRAILER.to_vec())).await?;
        sink.finish().await?;
        Ok(())
    }

    async fn register(&self, client: &Client, table: Table, qualified: &str) -> Result<(), Failure> {
        let namespace = self.options.namespace.quoted();
        let sql = render(include_str!("../../sql/register.sql"), &[("namespace", &namespace)]);
        let content = serde_json::to_string(&self.plan.content).unwrap_or_default();
        let name = Namespace::table_name(table.kind, table.schema);
        let (kind, seed) = (table.kind.word(), self.plan.seed.to_string());
        let (schema, blocks) = (table.schema as i32, table.blocks as i64);
        client
            .execute(&sql, &[&name, &kind, &qualified, &schema, &blocks, &seed, &content, &self.shape.number])
            .await?;
        Ok(())
    }
}

async fn refuse_read_only(client: &Client) -> Result<(), Failure> {
    let row = client.query_one("SELECT pg_is_in_recovery(), current_setting('transaction_read_only')", &[]).await?;
    if row.get::<_, bool>(0) || row.get::<_, &str>(1) == "on" {
        return Err(Error::target("the server is read-only", "name the primary in the URL").into());
    }
    Ok(())
}

/// Rows shaped for the compress ratio if it is set; else as existing ones, or narrow.
fn shape(options: &Options, entries: &[Entry], plan: &DatasetPlan) -> Result<Shape> {
    let loaded = registry::data(entries).find(|table| table.stands).map_or(NARROW, |table| table.shape);
    Shape::new(if options.shaped { SHAPED } else { loaded }, plan.content)
}

fn refuse_other(namespace: &Namespace, entries: &[Entry], plan: &DatasetPlan, shape: Shape) -> Result<()> {
    table_registry::refuse_other(registry::data(entries), plan, shape.number, |name| namespace.qualified(name))
}
