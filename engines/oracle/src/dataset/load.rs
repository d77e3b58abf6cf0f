//! The load: a CREATE TABLE AS SELECT a table, several side by side. A table that was begun and cut off is known by its
//! entry in the registry, and made again.

use std::sync::{Mutex, PoisonError};

use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::plan::units::format_bytes;
use mindful_core::{Error, Result};
use mindful_sql::dataset::load_queue::LoadQueue;
use mindful_sql::dataset::table_registry::{self, RegisteredTable, Table};

use crate::connect::driver::{Bind, Connection};
use crate::connect::link::{HEAVY, Link, number, text};
use crate::connect::{Doing, explain};
use crate::dataset::registry::{self, Entry};
use crate::names::TableKind;
use crate::options::Options;
use crate::work::ops;
use crate::work::statement;

/// Fewest bytes of a block that the row's columns are made for.
const LEAST_BLOCK_BYTES: u64 = 2_048;

/// The tables of `plan` that are not whole; refuses another dataset.
pub(crate) fn missing(options: &Options, entries: &[Entry], plan: &DatasetPlan) -> Result<Vec<Table>> {
    for table in registry::data(entries).filter(|table| table.stands) {
        let blocks = if table.kind == Some(TableKind::Scan) { plan.scan_blocks } else { plan.blocks_per_schema };
        let same = table.blocks == blocks && table.seed == plan.seed && table.content == Some(plan.content);
        if table.kind.is_none() || table.shape != registry::SHAPE || !same {
            let (registry, RegisteredTable { name, blocks, seed, .. }) = (options.namespace.registry(), table);
            return Err(Error::plan(
                format!("{registry} holds another dataset: {name} has {blocks} blocks, seed {seed}"),
                "load with the same parameters, choose another --namespace, or `mindful cleanup` first",
            ));
        }
    }
    Ok(table_registry::missing_tables(registry::data(entries), plan))
}

pub(crate) fn refuse_impossible(plan: &DatasetPlan) -> Result<()> {
    if i32::try_from(plan.blocks_per_schema.max(plan.scan_blocks)).is_err() {
        return Err(ops::too_large());
    }
    plan.content.refuse_repeated("blocks", "block of Oracle's has an address of its own in it")
}

pub(crate) fn load(
    link: &Link,
    options: &Options,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<()> {
    refuse_impossible(plan)?;
    let entries = registry::entries(link, &options.namespace)?.unwrap_or_default();
    let missing = missing(options, &entries, plan)?;
    if missing.is_empty() {
        return Ok(());
    }
    let queue = LoadQueue::new(missing);
    let room = FreeSpace::read(link, options)?;
    room.check(queue.blocks(), options, events)?;
    registry::ensure(link, &options.namespace)?;
    let work = Work { link, options, plan, block_bytes: room.block_bytes, events, stop, queue, done: Mutex::new(0) };
    work.progress(0);
    work.queue.run_streams(plan.load_streams, |first| work.stream(first))
}

struct Work<'a> {
    link: &'a Link,
    options: &'a Options,
    plan: &'a DatasetPlan,
    block_bytes: u64,
    events: &'a dyn Events,
    stop: &'a StopFlag,
    queue: LoadQueue,
    done: Mutex<u64>,
}

impl Work<'_> {
    fn stream(&self, first: Table) -> Result<()> {
        let mut connection = self.link.connect(0, "load")?;
        self.queue.make_tables(first, |table| {
            self.make(&mut *connection, table)?;
            self.progress(table.blocks);
            Ok(())
        })
    }

    /// Under a lock, so that reported progress never falls.
    fn progress(&self, blocks: u64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += blocks;
        let (of, unit) = (self.queue.blocks(), "blocks".to_owned());
        self.events.emit(Event::Progress { what: "load".to_owned(), done: *done, of, unit });
    }

    fn make(&self, connection: &mut dyn Connection, table: Table) -> Result<()> {
        self.stop.refuse("the load was stopped; complete tables stay, and the next load makes the rest")?;
        let (namespace, storage) = (&self.options.namespace, &self.options.storage);
        let name = namespace.table(table.kind, table.schema);
        registry::register_begun(self.link, namespace, table, self.plan)?;
        let layout = statement::layout(self.plan, table.blocks, table.schema);
        let (indexed, parallel) = (table.kind == TableKind::Blocks, storage.parallel > 1);
        let mut sqls = vec![statement::blocks(&name, &layout, self.plan, table.schema, self.block_bytes, storage)];
        sqls.extend(indexed.then(|| statement::index(&name, storage)));
        // A table keeps the degree it was made with, and its reads would be parallel.
        let of_table = |template| statement::of_table(template, &name);
        sqls.extend(parallel.then(|| of_table(include_str!("../../sql/load/serial.sql"))));
        sqls.extend((parallel && indexed).then(|| of_table(include_str!("../../sql/load/serial_index.sql"))));
        for sql in sqls {
            let place = format!("loading {name}");
            let done = connection.execute(&sql, &[], HEAVY);
            done.map_err(|failure| explain(&failure, Doing::Prepare, &place))?;
        }
        registry::register_whole(self.link, namespace, table)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FreeSpace {
    pub tablespace: String,
    pub block_bytes: u64,
    /// All changes in it are logged, even of a NOLOGGING table.
    pub force_logging: bool,
    /// Bytes that the account may still use; `None` without limit.
    pub quota: Option<u64>,
    /// Bytes free in its files, before they extend themselves.
    pub free: Option<u64>,
    pub creates: bool,
    pub online: bool,
}

impl FreeSpace {
    /// The free space of the tablespace in `options`, or the account's own.
    pub(crate) fn read(link: &Link, options: &Options) -> Result<Self> {
        let named = options.storage.tablespace.clone().unwrap_or_default();
        let sql = include_str!("../../sql/load/room.sql").trim_end();
        let rows = link.query("looking for room", sql, &[("tablespace", Bind::Text(named.clone()))])?;
        let Some(row) = rows.first() else {
            return Err(Error::target(
                format!("account {} sees no tablespace {named}", link.user()),
                "name one with --tablespace on which it has a quota",
            ));
        };
        let used = number(row, 4).unwrap_or(0);
        let unlimited = number(row, 7) > Some(0) || text(row, 5).is_some_and(|most| most.starts_with('-'));
        let quota = if unlimited { None } else { Some(number(row, 5).unwrap_or(0).saturating_sub(used)) };
        Ok(Self {
            tablespace: text(row, 0).unwrap_or_default().to_owned(),
            block_bytes: number(row, 1).unwrap_or(8_192),
            force_logging: text(row, 2) == Some("YES"),
            online: text(row, 3) == Some("ONLINE"),
            quota,
            free: number(row, 6),
            creates: number(row, 8) > Some(0),
        })
    }

    /// Refuses `blocks` that do not fit, before the first is made.
    pub(crate) fn check(&self, blocks: u64, options: &Options, events: &dyn Events) -> Result<()> {
        let place = |what: String| format!("tablespace {}: {what}", self.tablespace);
        if !self.creates {
            return Err(Error::target("the account may not create tables", "GRANT CREATE TABLE TO it"));
        }
        if !self.online {
            return Err(Error::target(place("it is not open for writes".to_owned()), "name another by --tablespace"));
        }
        if self.block_bytes < LEAST_BLOCK_BYTES {
            return Err(Error::target(place(format!("blocks of {} bytes", self.block_bytes)), "name another"));
        }
        let needed = blocks.saturating_mul(statement::stored_bytes(self.block_bytes));
        if self.quota.is_some_and(|quota| quota < needed) {
            let left = format_bytes(self.quota.unwrap_or(0));
            return Err(Error::target(
                place(format!("the load needs {}, the account's quota leaves {left}", format_bytes(needed))),
                format!("ALTER USER the account QUOTA UNLIMITED ON {}, or load less", self.tablespace),
            ));
        }
        if let Some(free) = self.free.filter(|free| *free < needed) {
            let (free, needed) = (format_bytes(free), format_bytes(needed));
            emit_note(
                events,
                place(format!("{free} are free, the load needs {needed}: its files have to extend themselves")),
            );
        }
        if options.storage.nologging && self.force_logging {
            emit_note(events, place("it forces logging, so --nologging changes nothing".to_owned()));
        } else if options.storage.nologging {
            emit_note(events, "loading without redo: the data is lost in recovery and on a standby".to_owned());
        }
        Ok(())
    }
}
