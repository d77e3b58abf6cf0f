//! The load: tables side by side, each from its first page to its last. A table that was begun and broken is in no
//! registry; the next load makes it anew.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::dataset::DatasetPlan;
use mindful_core::engine::Stop;
use mindful_core::event::{Event, Events, note};
use mindful_core::{Error, Result};
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler, Value};

use crate::error::Failure;
use crate::flavor::Flavor;
use crate::layout::{self, FILLER_BYTES, FILLERS, PAGE_BYTES, Row, Rows};
use crate::link::Link;
use crate::names::{BEGUN, Kind, Namespace, SHAPE};
use crate::options::Options;
use crate::registry::{self, Entry, Found};
use crate::settle;
use crate::storage::Storage;

/// Pages that a statement loads: about 32 MiB.
const PAGES_AT_A_TIME: u64 = 2_048;
/// Pages of a statement of prepared rows.
const PAGES_PREPARED: u64 = 32;
/// Bytes that a page's two entries take in an index whose pages inserts in random order left two thirds full.
const INDEXED_BYTES: u64 = 80;
/// Bytes handed to the server at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// One table to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    kind: Kind,
    schema: u32,
    blocks: u64,
}

/// Whether all of the dataset stands already; refuses what is not ours, or another one.
pub fn is_complete(link: &Link, options: &Options, plan: &DatasetPlan) -> Result<bool> {
    layout::refuse_impossible(plan.content)?;
    match registry::find(link, &options.namespace)? {
        Found::Nothing => Ok(false),
        Found::Foreign(why) => Err(why),
        Found::Ours { entries } => {
            refuse_other(&options.namespace, &entries, plan)?;
            Ok(missing(&entries, plan).is_empty())
        }
    }
}

/// Makes what is missing of the dataset.
pub fn load(
    link: &Link,
    options: &Options,
    private: bool,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &Stop,
) -> Result<()> {
    let entries = registry::ensure(link, &options.namespace)?;
    refuse_other(&options.namespace, &entries, plan)?;
    let missing = missing(&entries, plan);
    if missing.len() < wanted(plan).len() {
        note(events, format!("resuming the load: {} of {} tables are missing", missing.len(), wanted(plan).len()));
    }
    let blocks: u64 = missing.iter().map(|table| table.blocks).sum();
    let way = Way::of(link)?;
    if let Way::Prepared { reported: Some(why) } = &way {
        note(events, format!("loading by INSERT: {why}"));
    }
    let made: Vec<String> = missing.iter().map(|t| options.namespace.table(t.kind, t.schema)).collect();
    let work = Work {
        link,
        namespace: &options.namespace,
        plan,
        events,
        stop,
        storage: link.storage()?,
        way,
        indexed_first: indexed_first(link, plan.load_streams)?,
        queue: Mutex::new(missing),
        done: AtomicU64::new(0),
        blocks,
    };
    work.all()?;
    if *work.storage != Storage::InnoDb {
        return Ok(());
    }
    settle::before_reads(link, &made, private, events, stop)
}

/// How rows get into the server.
enum Way {
    /// `LOAD DATA LOCAL`.
    Streamed,
    /// Prepared `INSERT` of many rows; why, where someone could change it.
    Prepared { reported: Option<&'static str> },
}

impl Way {
    /// Streamed where it is allowed and the faster way: MySQL takes more CPU for it than for prepared rows.
    fn of(link: &Link) -> Result<Self> {
        if link.version()?.flavor == Flavor::MySql || *link.storage()? != Storage::InnoDb {
            return Ok(Self::Prepared { reported: None });
        }
        let allowed: Option<bool> =
            link.run("asking for local_infile", |conn| Ok(conn.query_first("SELECT @@GLOBAL.local_infile = 1")?))?;
        Ok(match allowed {
            Some(true) => Self::Streamed,
            _ => Self::Prepared { reported: Some("SET GLOBAL local_infile = ON makes loads about twice as fast") },
        })
    }
}

/// An index that stays in the buffer pool while rows come in any order of their keys costs less with them than by a second
/// read of the table; tells up to how many pages that is so, with a quarter of the pool for the indexes of all streams.
fn indexed_first(link: &Link, streams: u32) -> Result<u64> {
    if *link.storage()? != Storage::InnoDb {
        return Ok(u64::MAX);
    }
    let pool: Option<u64> = link.run("asking for the size of the buffer pool", |conn| {
        Ok(conn.query_first("SELECT @@GLOBAL.innodb_buffer_pool_size")?)
    })?;
    Ok(pool.unwrap_or(0) / 4 / u64::from(streams.max(1)) / INDEXED_BYTES)
}

struct Work<'a> {
    link: &'a Link,
    namespace: &'a Namespace,
    plan: &'a DatasetPlan,
    events: &'a dyn Events,
    stop: &'a Stop,
    storage: &'a Storage,
    way: Way,
    /// Most pages of a table whose index is there before its rows.
    indexed_first: u64,
    queue: Mutex<Vec<Table>>,
    done: AtomicU64,
    blocks: u64,
}

impl Work<'_> {
    /// Streams over one queue: none waits for another's table.
    fn all(&self) -> Result<()> {
        let streams = self.plan.load_streams.max(1);
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..streams).map(|_| scope.spawn(|| self.stream())).collect();
            let broken = |_| Err(Error::run("a load stream broke down", "load again"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(broken)).collect()
        });
        // The first failure empties the queue, so that the other streams end with their table.
        results.into_iter().collect()
    }

    fn stream(&self) -> Result<()> {
        let Some(first) = self.queue().pop() else { return Ok(()) };
        let mut conn = self.link.connect()?;
        let mut table = Some(first);
        while let Some(current) = table {
            let place = format!("loading {}", self.namespace.table(current.kind, current.schema));
            let made = self.link.run_on(&mut conn, &place, |conn| self.make(conn, current));
            if made.is_err() {
                self.queue().clear();
            }
            made?;
            table = self.queue().pop();
        }
        Ok(())
    }

    fn queue(&self) -> MutexGuard<'_, Vec<Table>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, conn: &mut Conn, table: Table) -> Result<(), Failure> {
        let name = self.namespace.table(table.kind, table.schema);
        self.drop_begun(conn, table, &name)?;
        let storage = self.storage.clause("ROW_FORMAT = DYNAMIC STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0");
        let create = include_str!("../sql/create_table.sql").replace("{{table}}", &name);
        let create = create.replace("{{storage}}", &storage);
        conn.query_drop(format!("{create} COMMENT = '{BEGUN}'"))?;
        let (visited, first) = (table.kind == Kind::Blocks, table.blocks <= self.indexed_first);
        let index = format!("ALTER TABLE {name} ADD UNIQUE INDEX k (k)");
        if visited && first {
            conn.query_drop(&index)?;
        }
        let rows = Rows::new(table.blocks, self.plan.seed, table.schema, table.kind == Kind::Scan, self.plan.content);
        match self.way {
            Way::Streamed => self.streamed(conn, &name, rows)?,
            Way::Prepared { .. } => self.prepared(conn, &name, rows)?,
        }
        if visited && !first {
            conn.query_drop(&index)?;
        }
        if *self.storage == Storage::InnoDb {
            conn.query_drop(format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}"))?;
        }
        conn.query_drop(format!("ALTER TABLE {name} COMMENT = ''"))?;
        self.register(conn, table)
    }

    /// Removes what a load before this one began and did not finish; refuses a table that no load made.
    fn drop_begun(&self, conn: &mut Conn, table: Table, name: &str) -> Result<(), Failure> {
        let sql = "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
        let bare = Namespace::table_name(table.kind, table.schema);
        match conn.exec_first::<String, _, _>(sql, (&self.namespace.name, bare))? {
            None => Ok(()),
            Some(comment) if comment == BEGUN => Ok(conn.query_drop(format!("DROP TABLE {name}"))?),
            Some(_) => Err(Error::target(
                format!("{name} is there and no load of mindful's made it"),
                "left untouched; see who did that, or choose another --namespace",
            )
            .into()),
        }
    }

    /// Rows in the order of their primary keys, some pages a statement.
    fn streamed(&self, conn: &mut Conn, name: &str, rows: Rows) -> Result<(), Failure> {
        let rows = Arc::new(Mutex::new(rows));
        let written = Arc::new(AtomicU64::new(0));
        let (source, count) = (Arc::clone(&rows), Arc::clone(&written));
        conn.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, sink| {
            let mut rows = source.lock().unwrap_or_else(PoisonError::into_inner);
            count.store(write_pages(&mut rows, sink)?, Ordering::SeqCst);
            Ok(())
        })));
        let load = include_str!("../sql/load_data.sql").replace("{{file}}", "mindful").replace("{{table}}", name);
        let done = loop {
            if let Err(stopped) = self.refuse_stopped() {
                break Err(stopped.into());
            }
            if let Err(error) = conn.query_drop(&load) {
                break Err(error.into());
            }
            match written.swap(0, Ordering::SeqCst) {
                0 => break Ok(()),
                pages => self.progress(pages),
            }
        };
        conn.set_local_infile_handler(None);
        done
    }

    /// The same by a prepared statement.
    fn prepared(&self, conn: &mut Conn, name: &str, mut rows: Rows) -> Result<(), Failure> {
        loop {
            self.refuse_stopped()?;
            let mut pages = 0;
            let mut values = Vec::new();
            while pages < PAGES_PREPARED && rows.page(|row| push_values(row, &mut values)) {
                pages += 1;
            }
            if pages == 0 {
                return Ok(());
            }
            let one = format!("({}?)", "?, ".repeat(FILLERS + 5));
            let all = vec![one; 2 * pages as usize].join(", ");
            // The statement of a full count is kept by the connection.
            conn.exec_drop(format!("INSERT INTO {name} VALUES {all}"), values)?;
            self.progress(pages);
        }
    }

    fn refuse_stopped(&self) -> Result<()> {
        if self.stop.requested() {
            return Err(Error::interrupted("the load was stopped; load again to complete it"));
        }
        Ok(())
    }

    fn progress(&self, written: u64) {
        let done = self.done.fetch_add(written, Ordering::Relaxed) + written;
        self.events.emit(Event::Progress {
            what: "loading".to_owned(),
            done: done * PAGE_BYTES,
            of: self.blocks * PAGE_BYTES,
            unit: "bytes".to_owned(),
        });
    }

    fn register(&self, conn: &mut Conn, table: Table) -> Result<(), Failure> {
        let Table { kind, schema, blocks } = table;
        registry::register(conn, self.namespace, kind, schema, blocks, self.plan)
    }
}

/// Writes the next pages as text; tells how many.
fn write_pages(rows: &mut Rows, sink: &mut impl Write) -> std::io::Result<u64> {
    let (mut pages, mut text) = (0, Vec::with_capacity(CHUNK_BYTES + (64 << 10)));
    while pages < PAGES_AT_A_TIME && rows.page(|row| row.text(&mut text)) {
        pages += 1;
        if text.len() >= CHUNK_BYTES {
            sink.write_all(&text)?;
            text.clear();
        }
    }
    sink.write_all(&text)?;
    Ok(pages)
}

fn push_values(row: &Row<'_>, values: &mut Vec<Value>) {
    let (key, place) = row.visited.unzip();
    values.extend([row.id.into(), key.into(), place.into()]);
    values.extend(row.fillers.chunks(FILLER_BYTES).map(|filler| Value::Bytes(filler.to_vec())));
    values.extend([Value::Bytes(row.pad.to_vec()), 0_u64.into(), row.tail.into()]);
}

fn wanted(plan: &DatasetPlan) -> Vec<Table> {
    let kinds = [(Kind::Blocks, plan.blocks_per_schema), (Kind::Scan, plan.scan_blocks)];
    let of = |schema| kinds.map(|(kind, blocks)| Table { kind, schema, blocks });
    (1..=plan.schemas).rev().flat_map(of).filter(|table| table.blocks > 0).collect()
}

fn missing(entries: &[Entry], plan: &DatasetPlan) -> Vec<Table> {
    let stands =
        |table: &Table| entries.iter().any(|e| e.exists && e.kind == Some(table.kind) && e.schema == table.schema);
    wanted(plan).into_iter().filter(|table| !stands(table)).collect()
}

/// What stands must be part of what is asked for.
fn refuse_other(namespace: &Namespace, entries: &[Entry], plan: &DatasetPlan) -> Result<()> {
    for entry in entries.iter().filter(|entry| entry.exists) {
        let blocks = if entry.kind == Some(Kind::Scan) { plan.scan_blocks } else { plan.blocks_per_schema };
        let mut differs = Vec::new();
        if entry.blocks != blocks && blocks != 0 {
            differs.push(format!("{} blocks instead of {blocks}", entry.blocks));
        }
        if entry.seed != plan.seed {
            differs.push(format!("seed {} instead of {}", entry.seed, plan.seed));
        }
        if entry.content != Some(plan.content) {
            differs.push("other content".to_owned());
        }
        if entry.shape != SHAPE {
            differs.push(format!("row shape {} instead of {}", entry.shape, SHAPE));
        }
        if !differs.is_empty() {
            return Err(Error::plan(
                format!("{} is loaded with {}", namespace.qualified(&entry.name), differs.join(", ")),
                "give the same --seed, --scale and content, remove it with `mindful cleanup`, or name another --namespace",
            ));
        }
    }
    Ok(())
}
