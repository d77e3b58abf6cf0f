//! The instance's own counters of its machine: of a remote host, its files, the disks of ASM.

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::{Counter, Metric, Sampler, Scope};

use crate::codes::denied;
use crate::connect::driver::{Failure, Row};
use crate::connect::link::{Link, QUESTION, text};
use crate::observe::own::{Monitors, held, view_sampler};

#[derive(Clone, Copy)]
struct View {
    name: &'static str,
    sql: &'static str,
    grant: &'static str,
    metrics: fn(remote: bool) -> Vec<Metric>,
    add: fn(rows: &[Row], values: &mut [Option<f64>]),
}

const HOST: View = View {
    name: "v$osstat",
    sql: include_str!("../../sql/counters/host.sql"),
    grant: "V_$OSSTAT",
    metrics: host_metrics,
    add: add_host,
};

const FILES: View = View {
    name: "v$iostat_file",
    sql: include_str!("../../sql/counters/files.sql"),
    grant: "V_$IOSTAT_FILE",
    metrics: file_metrics,
    add: add_files,
};

const DISKS: View = View {
    name: "v$asm_disk_iostat",
    sql: include_str!("../../sql/counters/disks.sql"),
    grant: "V_$ASM_DISK_IOSTAT",
    metrics: disk_metrics,
    add: add_disks,
};

/// The samplers of readable views. The others are findings, except ASM's, which few servers have.
pub(crate) fn samplers(link: &Arc<Link>, monitors: &Monitors, events: &dyn Events) -> Result<Vec<Box<dyn Sampler>>> {
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    for view in [HOST, FILES, DISKS] {
        let metrics = (view.metrics)(!link.is_local());
        let (monitors, count) = (Arc::clone(monitors), metrics.len());
        let read = move || values(view, &monitors, count);
        match read() {
            Ok(values) if view.name == DISKS.name && values.iter().all(Option::is_none) => {}
            Ok(_) => samplers.push(view_sampler(view.name, Scope::Host, metrics, read)),
            Err(failure) if view.name == DISKS.name && failure.lacks_right() => {}
            Err(failure) => events.emit(denied(&failure, view.name, &[view.grant])?),
        }
    }
    Ok(samplers)
}

fn values(view: View, monitors: &Monitors, metrics: usize) -> Result<Vec<Option<f64>>, Failure> {
    let mut values = vec![None; metrics];
    for monitor in held(monitors).iter_mut() {
        (view.add)(&monitor.connection.query(view.sql.trim_end(), &[], QUESTION)?, &mut values);
    }
    Ok(values)
}

/// Statistics of the host by name, in the order of its metrics after the first two.
const OF_HOST: [&str; 7] = ["NUM_CPUS", "LOAD", "BUSY_TIME", "IDLE_TIME", "USER_TIME", "SYS_TIME", "IOWAIT_TIME"];
/// Microseconds in the hundredth of a second that the view counts in.
const OF_HUNDREDTH: f64 = 1e4;

/// The host's CPU bears the shared names only where the host is another one: of this host /proc contains more.
fn host_metrics(remote: bool) -> Vec<Metric> {
    let [busy, total] = if remote {
        [Counter::HostCpuBusyUs.name(), Counter::HostCpuTotalUs.name()]
    } else {
        ["instance_host_busy", "instance_host_total"]
    };
    vec![
        Metric::counter(busy, "us", "CPU of the instance's host that was busy, by its own account"),
        Metric::counter(total, "us", "CPU of the instance's host, busy or idle"),
        Metric::gauge("host_cpus", "1", "CPUs of the instance's host"),
        Metric::gauge("host_load", "1", "Processes of the instance's host that run or wait for a CPU"),
        Metric::counter("host_busy", "us", "Time its CPUs were busy"),
        Metric::counter("host_idle", "us", "Time its CPUs were idle"),
        Metric::counter("host_user", "us", "Time in user mode"),
        Metric::counter("host_sys", "us", "Time in the kernel"),
        Metric::counter("host_iowait", "us", "Time idle with I/O under way"),
    ]
}

fn add_host(rows: &[Row], values: &mut [Option<f64>]) {
    for row in rows {
        let (Some(name), Some(value)) = (text(row, 0), float(row, 1)) else { continue };
        if let Some(at) = OF_HOST.iter().position(|known| *known == name) {
            let value = if name.ends_with("_TIME") { value * OF_HUNDREDTH } else { value };
            add(&mut values[2 + at], Some(value));
            if name == "BUSY_TIME" {
                add(&mut values[0], Some(value));
            }
        }
    }
    values[1] = values[4].zip(values[5]).map(|(busy, idle)| busy + idle);
}

fn file_metrics(_: bool) -> Vec<Metric> {
    vec![
        Metric::counter("file_reads", "1", "Read requests to data files, of all sessions"),
        Metric::counter("file_read_bytes", "bytes", "Bytes read from data files, of all sessions, in whole MiB"),
        Metric::counter("file_writes", "1", "Write requests to data files, of all sessions"),
        Metric::counter("file_write_bytes", "bytes", "Bytes written to data files, of all sessions, in whole MiB"),
        Metric::counter("file_single_reads", "1", "Of the reads, those of one block for which a session waited"),
        Metric::counter("file_single_read_time", "us", "Time of these, counted in whole ms"),
    ]
}

fn add_files(rows: &[Row], values: &mut [Option<f64>]) {
    let Some(row) = rows.first() else { return };
    let mib = f64::from(1 << 20);
    for (at, factor) in [1.0, mib, 1.0, mib, 1.0, 1e3].into_iter().enumerate() {
        add(&mut values[at], float(row, at).map(|value| value * factor));
    }
}

fn disk_metrics(_: bool) -> Vec<Metric> {
    vec![
        Metric::counter("asm_reads", "1", "Read requests to disks of ASM"),
        Metric::counter("asm_read_bytes", "bytes", "Bytes read from them"),
        Metric::counter("asm_read_time", "us", "Time of these reads"),
        Metric::counter("asm_writes", "1", "Write requests to disks of ASM"),
        Metric::counter("asm_write_bytes", "bytes", "Bytes written to them"),
        Metric::counter("asm_write_time", "us", "Time of these writes"),
    ]
}

fn add_disks(rows: &[Row], values: &mut [Option<f64>]) {
    let Some(row) = rows.first() else { return };
    for (at, factor) in [1.0, 1.0, 1e6, 1.0, 1.0, 1e6].into_iter().enumerate() {
        add(&mut values[at], float(row, at).map(|value| value * factor));
    }
}

fn add(sum: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value {
        *sum.get_or_insert(0.0) += value;
    }
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
        let mut values = vec![None; host_metrics(true).len()];
        add_host(&rows, &mut values);
        add_host(&rows, &mut values);
        assert_eq!(values[..3], [Some(2e6), Some(8e6), Some(8.0)]);
        assert_eq!(values[8], None, "what is not reported is not known");
        assert_eq!(host_metrics(true)[0].name, Counter::HostCpuBusyUs);
        assert!(host_metrics(false).iter().all(|metric| metric.name != Counter::HostCpuBusyUs));
    }

    #[test]
    fn megabytes_and_milliseconds_are_bytes_and_microseconds() {
        let mut values = vec![None; 6];
        add_files(&[row(&["10", "2", "", "", "8", "4"])], &mut values);
        assert_eq!(values, [Some(10.0), Some(2_097_152.0), None, None, Some(8.0), Some(4_000.0)]);
    }
}
