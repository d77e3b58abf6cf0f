//! The server's own counters, under the server's own names; a few under the shared ones.

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Counter, Metric, MetricKind, Phase, SampledSource, Sampler, Scope};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_host::priority::GoingFirst;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

use crate::connect::Connection;
use crate::connect::link::Link;
use crate::error::{Failure, lacks_right};
use crate::names::Namespace;

/// The forms of a statement that returns one row of floats, newest first. Each has the first major version that it is for,
/// the views it reads, and the text. A parameter is the namespace.
type Source = &'static [(u32, &'static str, &'static str)];

fn form(source: Source, major: u32) -> (&'static str, &'static str) {
    source.iter().find(|(since, ..)| major >= *since).map_or(("", ""), |(_, views, sql)| (*views, *sql))
}

/// The condition that restricts a statement to the database of the connection.
const THIS_DATABASE: &str = "= current_database()";

const SOURCES: [Source; 5] = [
    &[
        (18, "pg_stat_io", include_str!("../../sql/stat/io_18.sql")),
        (16, "pg_stat_io", include_str!("../../sql/stat/io_16.sql")),
        (0, "pg_stat_database+pg_stat_bgwriter", include_str!("../../sql/stat/io_15.sql")),
    ],
    &[(0, "pg_stat_database", include_str!("../../sql/stat/database.sql"))],
    &[
        (18, "pg_stat_wal", include_str!("../../sql/stat/wal_18.sql")),
        (0, "pg_stat_wal", include_str!("../../sql/stat/wal_15.sql")),
    ],
    &[
        (17, "pg_stat_checkpointer", include_str!("../../sql/stat/checkpointer_17.sql")),
        (0, "pg_stat_bgwriter", include_str!("../../sql/stat/checkpointer_15.sql")),
    ],
    &[(0, "pg_stat_user_tables", include_str!("../../sql/stat/tables.sql"))],
];

/// Unit and help by column name; other columns are counts.
const COLUMNS: &[(&str, &str, &str)] = &[
    (Counter::LogicalReads.name(), "blocks", "Block requests to shared buffers by this database, hit or miss"),
    (Counter::PhysicalReads.name(), "blocks", "Blocks requested from the operating system"),
    (Counter::PhysicalWrites.name(), "blocks", "Blocks passed to the operating system"),
    (Counter::SessionWrites.name(), "blocks", "Of these, blocks written by sessions"),
    (Counter::CheckpointWrites.name(), "blocks", "Of these, blocks written by checkpoints"),
    (Counter::BackgroundWrites.name(), "blocks", "Of these, blocks written by the background writer"),
    (Counter::LogWrites.name(), "1", "Times WAL was passed to the operating system"),
    (Counter::LogSyncs.name(), "1", "Times WAL was synced to storage by a separate call"),
    (Counter::LogSyncTimeUs.name(), "us", "Time these syncs took; needs track_wal_io_timing"),
    (Counter::LogWriteBytes.name(), "bytes", "Bytes of WAL passed to the operating system, in whole blocks"),
    (Counter::ReadTimeUs.name(), "us", "Time spent waiting for reads of blocks; needs track_io_timing"),
    ("write_time", "us", "Time spent on writes of blocks; needs track_io_timing"),
    ("fsync_time", "us", "Time spent on fsync of data files; needs track_io_timing"),
    ("blk_read_time", "us", "Time this database's backends spent reading; needs track_io_timing"),
    ("read_bytes", "bytes", "Bytes of blocks requested from the operating system"),
    ("write_bytes", "bytes", "Bytes of blocks passed to the operating system"),
    (
        Counter::RingVisits.name(),
        "blocks",
        "Blocks that scans visited through a ring of a few buffers, not through all of the cache",
    ),
    ("temp_bytes", "bytes", "Bytes of temporary files"),
    (Counter::LogBytes.name(), "bytes", "Bytes of WAL"),
    (Counter::Commits.name(), "1", "Transactions committed in this database"),
    (Counter::DatabaseReads.name(), "blocks", "The same, under the name that other engines would use"),
    ("blks_read", "blocks", "Blocks this database had to read"),
    ("blks_hit", "blocks", "Blocks this database found in shared buffers"),
    (Counter::MaintenanceReads.name(), "blocks", "Blocks that autovacuum workers requested from the operating system"),
    (Counter::MaintenanceWrites.name(), "blocks", "Blocks that autovacuum workers passed to the operating system"),
    (Counter::LogRecords.name(), "1", "Records of WAL (wal_records)"),
    (Counter::LogImages.name(), "1", "Full page images in WAL (wal_fpi)"),
    ("n_tup_hot_upd", "1", "Rows of mindful's updated within their block (HOT)"),
    ("n_tup_upd", "1", "Rows of mindful's updated"),
    ("checkpoint_write_time", "us", "Time checkpoints spent writing"),
    ("checkpoint_sync_time", "us", "Time checkpoints spent in fsync"),
];

/// Samplers for every readable view; the others are findings, with the remedy.
pub(crate) fn samplers(
    link: &Arc<Link>,
    namespace: &Namespace,
    major: u32,
    scope: Scope,
    is_private: bool,
    events: &dyn Events,
) -> Result<Vec<Box<dyn Sampler>>> {
    let control = link.control()?;
    link.run("publishing counters", publish(&control))?;
    // A separate link, driven by the reading thread: the sessions' thread may be late after all of their work.
    let link = &Arc::new(link.apart()?);
    let connection = link.connect(0)?;
    link.run("opening the counters", async {
        // Each reading returns the counters of its own moment.
        let own = "SET stats_fetch_consistency = none; SET jit = off; SET application_name = 'mindful counters'";
        connection.batch_execute(own).await?;
        Ok(())
    })?;
    let backend = connection.backend().filter(|_| link.server().host_is_local(0));
    let first = backend.and_then(|backend| GoingFirst::new(backend.pid, "postgres", is_private));
    let reader = Arc::new(Reader { _first: first, connection, link: Arc::clone(link) });
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    for source in SOURCES {
        let (views, _) = form(source, major);
        match link.run(views, View::open(&reader, source, namespace, major, scope))? {
            Some(view) => samplers.push(view.into_sampler()),
            None => events.emit(Event::Finding(unreadable(views))),
        }
    }
    Ok(samplers)
}

/// Makes the server count a connection's work now. Otherwise it would be counted later, and reads of a load or a
/// verification would count as reads of the window.
pub(crate) async fn publish(connection: &Client) -> Result<(), Failure> {
    Ok(connection.batch_execute("SELECT pg_stat_force_next_flush()").await?)
}

fn unreadable(view: &str) -> Finding {
    codes::COUNTERS_DENIED.finding(
        format!("the role may not read {view}, so its figures are missing: grant pg_monitor to the role"),
        view,
    )
}

/// The reading connection. Its server process has raised priority while it reads, but not when a pooler may assign it
/// to others.
struct Reader {
    _first: Option<GoingFirst>,
    connection: Connection,
    /// Dropped after the connection, because it waits for its end.
    link: Arc<Link>,
}

struct View {
    name: &'static str,
    reader: Arc<Reader>,
    statement: Statement,
    namespace: Option<String>,
    source: SampledSource,
}

impl View {
    /// The view, or `None` if the role may not read it.
    async fn open(
        reader: &Arc<Reader>,
        source: Source,
        namespace: &Namespace,
        major: u32,
        scope: Scope,
    ) -> Result<Option<Self>, Failure> {
        let (name, sql) = form(source, major);
        let namespace = sql.contains("$1").then(|| namespace.name.clone());
        // A sum over the rows of one database also sums those of all databases, and of shared objects.
        let (sql, scope) = match scope {
            Scope::Server => (sql.replace(THIS_DATABASE, "IS DISTINCT FROM ''"), scope),
            _ if sql.contains(THIS_DATABASE) || namespace.is_some() => (sql.to_owned(), Scope::Database),
            _ => (sql.to_owned(), Scope::Server),
        };
        let statement = reader.connection.prepare(&sql).await?;
        let metrics: Vec<_> = statement.columns().iter().map(|column| metric(column.name())).collect();
        let source = SampledSource::new(name, metrics).with(scope, Phase::Settled);
        let view = Self { name, reader: Arc::clone(reader), statement, namespace, source };
        match view.values().await {
            Ok(_) => Ok(Some(view)),
            Err(error) if lacks_right(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn values(&self) -> Result<Vec<Option<f64>>, tokio_postgres::Error> {
        let client: &Client = &self.reader.connection;
        let parameters: Vec<&(dyn ToSql + Sync)> = self.namespace.iter().map(|n| n as &(dyn ToSql + Sync)).collect();
        let row = client.query_one(&self.statement, &parameters).await?;
        (0..row.len()).map(|at| row.try_get(at)).collect()
    }

    fn into_sampler(self) -> Box<dyn Sampler> {
        self.source.clone().read_by(move || self.reader.link.run(self.name, async { Ok(self.values().await?) }))
    }
}

fn metric(name: &str) -> Metric {
    let known = COLUMNS.iter().find(|(column, ..)| *column == name);
    let (unit, help) = known.map_or(("1", "As the view of this name counts it"), |(_, unit, help)| (*unit, *help));
    let kind = if name == "n_dead_tup" { MetricKind::Gauge } else { MetricKind::Counter };
    Metric { name: name.to_owned(), unit: unit.to_owned(), kind, help: help.to_owned() }
}
