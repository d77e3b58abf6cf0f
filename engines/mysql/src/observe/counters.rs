//! The server's own counters, under the server's own names; a few under the shared ones.

use std::sync::{Arc, Mutex, PoisonError};

use mindful_core::Result;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Counter, Metric, MetricKind, Phase, SampledSource, Sampler, Scope};
use mindful_core::result::finding::codes;

use crate::connect::link::{Link, Open};
use crate::observe::status;
use crate::work::commit::Committed;

struct Column {
    variables: &'static [&'static str],
    name: &'static str,
    unit: &'static str,
    kind: MetricKind,
    help: &'static str,
}

const fn counter(
    variables: &'static [&'static str],
    name: &'static str,
    unit: &'static str,
    help: &'static str,
) -> Column {
    Column { variables, name, unit, kind: MetricKind::Counter, help }
}

const fn own(variables: &'static [&'static str], unit: &'static str, help: &'static str) -> Column {
    counter(variables, variables[0], unit, help)
}

const fn gauge(variables: &'static [&'static str], unit: &'static str, help: &'static str) -> Column {
    Column { variables, name: variables[0], unit, kind: MetricKind::Gauge, help }
}

const COLUMNS: &[Column] = &[
    counter(
        &["Innodb_buffer_pool_read_requests"],
        Counter::LogicalReads.name(),
        "blocks",
        "Page requests to the buffer pool, hit or miss (Innodb_buffer_pool_read_requests)",
    ),
    counter(
        &["Innodb_pages_read"],
        Counter::PhysicalReads.name(),
        "blocks",
        "Pages requested from the operating system (Innodb_pages_read)",
    ),
    counter(
        &["Innodb_data_reads"],
        Counter::ReadRequests.name(),
        "1",
        "Read requests for these pages (Innodb_data_reads)",
    ),
    counter(
        &["Innodb_pages_written"],
        Counter::PhysicalWrites.name(),
        "blocks",
        "Pages passed to the operating system, without their copies in the doublewrite area (Innodb_pages_written)",
    ),
    counter(
        &["Innodb_data_writes"],
        Counter::WriteRequests.name(),
        "1",
        "Write requests for these pages (Innodb_data_writes)",
    ),
    counter(
        &["Innodb_lsn_current", "Innodb_redo_log_current_lsn"],
        Counter::LogBytes.name(),
        "bytes",
        "Bytes of redo, by the log sequence number (Innodb_lsn_current, Innodb_redo_log_current_lsn)",
    ),
    counter(
        &["Innodb_log_writes"],
        Counter::LogWrites.name(),
        "1",
        "Times redo was passed to the operating system (Innodb_log_writes)",
    ),
    own(&["Innodb_buffer_pool_reads"], "blocks", "Page requests that had to read"),
    own(&["Innodb_buffer_pool_read_ahead"], "blocks", "Pages read by linear read-ahead"),
    own(&["Innodb_buffer_pool_read_ahead_rnd"], "blocks", "Pages read by random read-ahead"),
    own(&["Innodb_buffer_pool_wait_free"], "1", "Times a session had to wait for a free page"),
    own(&["Innodb_data_read"], "bytes", "Bytes read from data files"),
    own(&["Innodb_data_written"], "bytes", "Bytes written to data files, the doublewrite area and the log"),
    counter(
        &["Innodb_data_fsyncs"],
        Counter::Syncs.name(),
        "1",
        "Calls of fsync for all files of InnoDB (Innodb_data_fsyncs)",
    ),
    counter(
        &["Innodb_os_log_fsyncs"],
        Counter::LogSyncs.name(),
        "1",
        "Calls of fsync for the log; MySQL only (Innodb_os_log_fsyncs)",
    ),
    own(&["Innodb_os_log_written"], "bytes", "Bytes written to the log; MySQL includes padding"),
    own(&["Innodb_dblwr_pages_written"], "blocks", "Pages written to the doublewrite area"),
    own(&["Innodb_log_waits"], "1", "Times a session had to wait for space in the log buffer"),
    own(&["Innodb_row_lock_waits"], "1", "Times a session had to wait for a row lock"),
    own(&["Innodb_row_lock_time"], "ms", "Time spent waiting for row locks"),
    own(&["Handler_read_key"], "1", "Searches of an index, by all sessions"),
    own(&["Binlog_commits"], "1", "Transactions committed to the binary log; MariaDB only"),
    own(&["Binlog_group_commits"], "1", "Groups in which they were committed; MariaDB only"),
    gauge(&["Innodb_buffer_pool_pages_dirty"], "blocks", "Changed pages that are not yet written back"),
    gauge(&["Innodb_history_list_length"], "1", "Transactions that purge has not processed; MariaDB only"),
];

pub(crate) fn samplers(link: &Arc<Link>, events: &dyn Events) -> Result<Vec<Box<dyn Sampler>>> {
    let connection = Arc::new(Mutex::new(link.connect()?));
    let mut samplers = vec![status(Arc::clone(link), Arc::clone(&connection))];
    match look_for_times(link, &connection)? {
        Readable::Yes => samplers.push(times(Arc::clone(link), connection)),
        Readable::Denied => events.emit(Event::Finding(codes::COUNTERS_DENIED.finding(
            "the role may not read the duration of reads of data files, so read times are missing: \
             GRANT SELECT ON performance_schema.* to the role",
            FILE_TIMES,
        ))),
        Readable::Off => {}
    }
    Ok(samplers)
}

type Shared = Arc<Mutex<Open>>;

fn sampler(
    name: &'static str,
    metrics: Vec<Metric>,
    read: impl FnMut() -> Result<Vec<Option<f64>>> + Send + 'static,
) -> Box<dyn Sampler> {
    SampledSource::new(name, metrics).with(Scope::Server, Phase::Boundary).read_by(read)
}

fn status(link: Arc<Link>, connection: Shared) -> Box<dyn Sampler> {
    let metric = |column: &Column| Metric {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
        kind: column.kind,
        help: column.help.to_owned(),
    };
    let variables: Vec<_> = COLUMNS.iter().flat_map(|column| column.variables).copied().collect();
    sampler("innodb_status", COLUMNS.iter().map(metric).collect(), move || {
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let values =
            link.run_on(&mut connection, "reading SHOW GLOBAL STATUS", |conn| status::read(conn, &variables))?;
        let first = |column: &Column| column.variables.iter().find_map(|name| values.get(*name).copied());
        Ok(COLUMNS.iter().map(first).collect())
    })
}

/// Commits of sessions, as they publish them when a slice ends.
pub(crate) fn commits(committed: &Arc<Committed>) -> Box<dyn Sampler> {
    let help = "Transactions that mindful's sessions committed; the server counts statements, not these";
    let source = SampledSource::new("sessions", [Metric::counter(Counter::Commits, "1", help)]);
    let committed = Arc::clone(committed);
    source.with(Scope::Host, Phase::Settled).read_by(move || Ok(vec![Some(committed.count() as f64)]))
}

/// The view with the time of file reads.
const FILE_TIMES: &str = "performance_schema.file_summary_by_event_name";

enum Readable {
    Yes,
    Denied,
    Off,
}

fn look_for_times(link: &Link, connection: &Shared) -> Result<Readable> {
    let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
    link.run_on(&mut connection, "reading the performance schema", |conn| {
        if conn.query_first::<bool>("SELECT @@GLOBAL.performance_schema = 1")? != Some(true) {
            return Ok(Readable::Off);
        }
        match conn.query_first::<Option<String>>(include_str!("../../sql/file_times_on.sql")) {
            Err(failure) if failure.lacks_right() => Ok(Readable::Denied),
            Err(failure) => Err(failure),
            Ok(Some(Some(enabled))) if enabled == "YES" => Ok(Readable::Yes),
            Ok(_) => Ok(Readable::Off),
        }
    })
}

fn times(link: Arc<Link>, connection: Shared) -> Box<dyn Sampler> {
    let help = "Time that reads of data files took (file_summary_by_event_name of the performance schema)";
    let metrics = vec![
        Metric::counter(Counter::ReadTimeUs, "us", help),
        Metric::counter("file_reads", "1", "Reads of data files that were timed"),
    ];
    sampler("file_summary", metrics, move || {
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let file_times = link.run_on(&mut connection, "reading file times", |conn| {
            conn.query_first::<(f64, f64)>(include_str!("../../sql/file_times.sql"))
        })?;
        let (us, reads) = file_times.unzip();
        Ok(vec![us, reads])
    })
}
