//! The instance's own counters of its machine: of a remote host, its files, the disks of ASM.

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, Metric, Scope};

use crate::connect::driver::Row;
use crate::connect::link::{Link, text};
use crate::observe::own::{Views, rows};

/// Statistics of the host, each with its metric: name, unit and help.
const HOST: [(&str, &str, &str, &str); 7] = [
    ("NUM_CPUS", "host_cpus", "1", "CPUs of the instance's host"),
    ("LOAD", "host_load", "1", "Processes of the instance's host that run or wait for a CPU"),
    (BUSY, "host_busy", "us", "Time its CPUs were busy"),
    (IDLE, "host_idle", "us", "Time its CPUs were idle"),
    ("USER_TIME", "host_user", "us", "Time in user mode"),
    ("SYS_TIME", "host_sys", "us", "Time in the kernel"),
    ("IOWAIT_TIME", "host_iowait", "us", "Time idle with I/O under way"),
];
const BUSY: &str = "BUSY_TIME";
const IDLE: &str = "IDLE_TIME";
/// Microseconds in the hundredth of a second that the view counts in.
const OF_HUNDREDTH: f64 = 1e4;

/// Metrics by the columns of a view's only row: name, unit, help, and the factor of the column.
type Columns = [(&'static str, &'static str, &'static str, f64); 6];

const MIB: f64 = (1 << 20) as f64;
const FILES: Columns = [
    ("file_reads", "1", "Read requests to data files, of all sessions", 1.0),
    ("file_read_bytes", "bytes", "Bytes read from data files, of all sessions, in whole MiB", MIB),
    ("file_writes", "1", "Write requests to data files, of all sessions", 1.0),
    ("file_write_bytes", "bytes", "Bytes written to data files, of all sessions, in whole MiB", MIB),
    ("file_single_reads", "1", "Of the reads, those of one block for which a session waited", 1.0),
    ("file_single_read_time", "us", "Time of these, counted in whole ms", 1e3),
];
const DISKS: Columns = [
    ("asm_reads", "1", "Read requests to disks of ASM", 1.0),
    ("asm_read_bytes", "bytes", "Bytes read from them", 1.0),
    ("asm_read_time", "us", "Time of these reads", 1e6),
    ("asm_writes", "1", "Write requests to disks of ASM", 1.0),
    ("asm_write_bytes", "bytes", "Bytes written to them", 1.0),
    ("asm_write_time", "us", "Time of these writes", 1e6),
];

/// Adds the samplers of readable views. The others are findings, except ASM's, which few servers have.
pub(crate) fn add_samplers(views: &mut Views<'_>, link: &Link) -> Result<()> {
    let metrics = |columns: Columns| columns.map(|(name, unit, help, _)| Metric::counter(name, unit, help)).into();
    let sql = include_str!("../../sql/counters/host.sql");
    views.add_rows("v$osstat", Scope::Host, &["V_$OSSTAT"], host_metrics(!link.is_local()), sql, host_values)?;
    let (sql, values) = (include_str!("../../sql/counters/files.sql"), |rows: &[Row]| row_values(rows, &FILES));
    views.add_rows("v$iostat_file", Scope::Host, &["V_$IOSTAT_FILE"], metrics(FILES), sql, values)?;
    let (sql, values) = (include_str!("../../sql/counters/disks.sql"), |rows: &[Row]| row_values(rows, &DISKS));
    match rows(&views.monitors, sql) {
        Ok(rows) if values(&rows).iter().all(Option::is_none) => Ok(()),
        Err(failure) if failure.lacks_right() => Ok(()),
        _ => views.add_rows("v$asm_disk_iostat", Scope::Host, &["V_$ASM_DISK_IOSTAT"], metrics(DISKS), sql, values),
    }
}

/// The host's CPU bears the shared names only where the host is another one: of this host /proc contains more.
fn host_metrics(remote: bool) -> Vec<Metric> {
    let [busy, total] = if remote {
        [Counter::HostCpuBusyUs.name(), Counter::HostCpuTotalUs.name()]
    } else {
        ["instance_host_busy", "instance_host_total"]
    };
    let cpu = [
        Metric::counter(busy, "us", "CPU of the instance's host that was busy, by its own account"),
        Metric::counter(total, "us", "CPU of the instance's host, busy or idle"),
    ];
    let metric = |(_, name, unit, help): (&str, &'static str, &'static str, &str)| match unit {
        "1" => Metric::gauge(name, unit, help),
        _ => Metric::counter(name, unit, help),
    };
    cpu.into_iter().chain(HOST.map(metric)).collect()
}

fn host_values(rows: &[Row]) -> Vec<Option<f64>> {
    let sum = |name: &str| {
        let factor = if name.ends_with("_TIME") { OF_HUNDREDTH } else { 1.0 };
        sum(rows.iter().filter(|row| text(row, 0) == Some(name)).map(|row| float(row, 1))).map(|sum| sum * factor)
    };
    let total = sum(BUSY).zip(sum(IDLE)).map(|(busy, idle)| busy + idle);
    [sum(BUSY), total].into_iter().chain(HOST.map(|(name, ..)| sum(name))).collect()
}

fn row_values(rows: &[Row], columns: &Columns) -> Vec<Option<f64>> {
    let value = |(at, (.., factor)): (usize, &(_, _, _, f64))| {
        sum(rows.iter().map(|row| float(row, at))).map(|sum| sum * factor)
    };
    columns.iter().enumerate().map(value).collect()
}

/// The sum of the known values; `None` if none is known.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(|sum, value| sum + value)
}

fn float(row: &Row, column: usize) -> Option<f64> {
    text(row, column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[&str]) -> Row {
        columns.iter().map(|column| (!column.is_empty()).then(|| (*column).to_owned())).collect()
    }

    #[test]
    fn hundredths_of_all_instances_are_microseconds_of_their_hosts() {
        let rows = [row(&["BUSY_TIME", "100"]), row(&["IDLE_TIME", "300"]), row(&["NUM_CPUS", "4"])];
        let values = host_values(&[rows.clone(), rows].concat());
        assert_eq!(values[..3], [Some(2e6), Some(8e6), Some(8.0)]);
        assert_eq!(values[8], None, "what is not reported is not known");
        assert_eq!(host_metrics(true)[0].name, Counter::HostCpuBusyUs);
        assert!(host_metrics(false).iter().all(|metric| metric.name != Counter::HostCpuBusyUs));
    }

    #[test]
    fn megabytes_and_milliseconds_are_bytes_and_microseconds() {
        let values = row_values(&[row(&["10", "2", "", "", "8", "4"])], &FILES);
        assert_eq!(values, [Some(10.0), Some(2_097_152.0), None, None, Some(8.0), Some(4_000.0)]);
    }
}
