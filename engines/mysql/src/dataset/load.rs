//! The load: tables side by side, each from its first page to its last. A table that was begun and broken is in no
//! registry; the next load makes it again.

use mindful_core::contract::description::HostView;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::{Error, Result};
use mindful_sql::connect::abort::Patience;
use mindful_sql::dataset::load_queue::LoadQueue;
use mindful_sql::dataset::table_registry::{self, Table, missing_tables};
use mysql_common::value::Value;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::dataset::layout::{FILLER_BYTES, FILLERS, INDEXED_BYTES, PAGE_BYTES, Rows, StoredRow, check_room};
use crate::dataset::registry::{self, Entry};
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::flavor::Flavor;
use crate::names::{BEGUN, Namespace, SHAPE, TableKind};
use crate::options::Options;
use crate::work::settle;

const PAGES_AT_A_TIME: u64 = 2_048;
const PAGES_PREPARED: u64 = 32;
const CHUNK_BYTES: usize = 256 << 10;

const STOPPED: &str = "the load was stopped; load again to complete it";

/// Whether all of the dataset exists already; refuses foreign objects, or another dataset.
pub(crate) fn is_complete(link: &Link, options: &Options, plan: &DatasetPlan) -> Result<bool> {
    plan.content.refuse_repeated("pages", "page of InnoDB has a number, key and log position of its own")?;
    let Some(entries) = registry::find(link, &options.namespace)? else { return Ok(false) };
    refuse_other(&options.namespace, &entries, plan)?;
    Ok(missing_tables(registry::data(&entries), plan).is_empty())
}

pub(crate) fn load(
    link: &Link,
    options: &Options,
    host: &HostView,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<()> {
    let entries = registry::ensure(link, &options.namespace)?;
    refuse_other(&options.namespace, &entries, plan)?;
    let missing = missing_tables(registry::data(&entries), plan);
    table_registry::note_resumed(&missing, plan, events);
    let blocks = missing.iter().map(|table| table.blocks).sum();
    if *link.storage()? == Storage::InnoDb {
        host.data_paths.first().map_or(Ok(()), |data| check_room(data, blocks))?;
    }
    let way = Way::choose(link)?;
    if let Way::Prepared { why: Some(why) } = &way {
        emit_note(events, format!("loading by INSERT: {why}"));
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
        queue: LoadQueue::new(missing),
    };
    work.queue.run_streams(plan.load_streams, |first| work.stream(first))?;
    if *work.storage != Storage::InnoDb {
        return Ok(());
    }
    settle::before_reads(link, &made, host.private, events, stop)
}

enum Way {
    /// `LOAD DATA LOCAL`.
    Streamed,
    /// Prepared `INSERT` of many rows; why, where someone could change it.
    Prepared { why: Option<&'static str> },
}

impl Way {
    /// Streamed if it is allowed and faster: MySQL takes more CPU for it than for prepared rows.
    fn choose(link: &Link) -> Result<Self> {
        if link.version()?.flavor == Flavor::MySql || *link.storage()? != Storage::InnoDb {
            return Ok(Self::Prepared { why: None });
        }
        let allowed: Option<bool> =
            link.run("asking for local_infile", |conn| conn.query_first("SELECT @@GLOBAL.local_infile = 1"))?;
        Ok(match allowed {
            Some(true) => Self::Streamed,
            _ => Self::Prepared { why: Some("SET GLOBAL local_infile = ON makes loads about twice as fast") },
        })
    }
}

/// An index that fits the buffer pool is cheaper to fill with the rows than by a second read of the table, in any key
/// order. Returns the most pages for which that holds, with a quarter of the pool for the indexes of all streams.
fn indexed_first(link: &Link, streams: u32) -> Result<u64> {
    if *link.storage()? != Storage::InnoDb {
        return Ok(u64::MAX);
    }
    let pool: Option<u64> = link.run("asking for the size of the buffer pool", |conn| {
        conn.query_first("SELECT @@GLOBAL.innodb_buffer_pool_size")
    })?;
    Ok(pool.unwrap_or(0) / 4 / u64::from(streams.max(1)) / INDEXED_BYTES)
}

struct Work<'a> {
    link: &'a Link,
    namespace: &'a Namespace,
    plan: &'a DatasetPlan,
    events: &'a dyn Events,
    stop: &'a StopFlag,
    storage: &'a Storage,
    way: Way,
    /// Most pages of a table with an index made before its rows.
    indexed_first: u64,
    queue: LoadQueue,
}

impl Work<'_> {
    fn stream(&self, first: Table) -> Result<()> {
        let mut conn = self.link.connect()?;
        conn.set_limit(self.link.server().limit(Patience::Tables));
        self.queue.make_tables(first, |table| {
            let place = format!("loading {}", self.namespace.table(table.kind, table.schema));
            self.link.run_on(&mut conn, &place, |conn| self.make(conn, table))
        })
    }

    fn make(&self, conn: &mut Conn, table: Table) -> Result<(), Failure> {
        let name = self.namespace.table(table.kind, table.schema);
        self.drop_begun(conn, table, &name)?;
        let storage = self.storage.clause("ROW_FORMAT = DYNAMIC STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0");
        let create = include_str!("../../sql/create_table.sql").replace("{{table}}", &name);
        let create = create.replace("{{storage}}", &storage);
        conn.query_drop(format!("{create} COMMENT = '{BEGUN}'"))?;
        let (visited, first) = (table.kind == TableKind::Blocks, table.blocks <= self.indexed_first);
        let index = format!("ALTER TABLE {name} ADD UNIQUE INDEX k (k)");
        if visited && first {
            conn.query_drop(&index)?;
        }
        let rows =
            Rows::new(table.blocks, self.plan.seed, table.schema, table.kind == TableKind::Scan, self.plan.content);
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
        registry::register(conn, self.namespace, table, self.plan)
    }

    /// Removes the unfinished table of an earlier load; refuses a table that no load created.
    fn drop_begun(&self, conn: &mut Conn, table: Table, name: &str) -> Result<(), Failure> {
        let sql = "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
        let bare = Namespace::table_name(table.kind, table.schema);
        match conn.exec_first::<String>(sql, (&self.namespace.name, bare))? {
            None => Ok(()),
            Some(comment) if comment == BEGUN => conn.query_drop(format!("DROP TABLE {name}")),
            Some(_) => Err(Error::target(
                format!("{name} exists, but was not made by a load of mindful"),
                "left untouched; another version of mindful or another user changed it: choose another --namespace",
            )
            .into()),
        }
    }

    /// Rows in the order of their primary keys, some pages a statement.
    fn streamed(&self, conn: &mut Conn, name: &str, mut rows: Rows) -> Result<(), Failure> {
        let load = include_str!("../../sql/load_data.sql").replace("{{file}}", "mindful").replace("{{table}}", name);
        loop {
            self.stop.refuse(STOPPED)?;
            let mut pages = 0;
            conn.load(&load, |part| {
                while pages < PAGES_AT_A_TIME && part.len() < CHUNK_BYTES && rows.page(|row| row.text(part)) {
                    pages += 1;
                }
            })?;
            if pages == 0 {
                return Ok(());
            }
            self.queue.emit_progress(pages, PAGE_BYTES, self.events);
        }
    }

    fn prepared(&self, conn: &mut Conn, name: &str, mut rows: Rows) -> Result<(), Failure> {
        let row = format!("({}?)", "?, ".repeat(FILLERS + 5));
        let insert =
            |pages: u64| format!("INSERT INTO {name} VALUES {}", vec![row.as_str(); 2 * pages as usize].join(", "));
        let whole = conn.prep(insert(PAGES_PREPARED))?;
        loop {
            self.stop.refuse(STOPPED)?;
            let (mut pages, mut values) = (0, Vec::new());
            while pages < PAGES_PREPARED && rows.page(|row| push_values(row, &mut values)) {
                pages += 1;
            }
            match pages {
                0 => return conn.close(&whole),
                PAGES_PREPARED => drop(conn.execute(&whole, &values)?),
                _ => conn.exec_drop(&insert(pages), values)?,
            }
            self.queue.emit_progress(pages, PAGE_BYTES, self.events);
        }
    }
}

fn push_values(row: &StoredRow<'_>, values: &mut Vec<Value>) {
    let (key, place) = row.visited.unzip();
    values.extend([row.id.into(), key.into(), place.into()]);
    values.extend(row.fillers.chunks(FILLER_BYTES).map(|filler| Value::Bytes(filler.to_vec())));
    values.extend([Value::Bytes(row.pad.to_vec()), 0_u64.into(), row.tail.into()]);
}

fn refuse_other(namespace: &Namespace, entries: &[Entry], plan: &DatasetPlan) -> Result<()> {
    table_registry::refuse_other(registry::data(entries), plan, SHAPE, |name| namespace.qualified(name))
}
