//! CPU and I/O of the server's processes, from `/proc/PID/stat` and `/proc/PID/io`.
//!
//! A reaped process adds its CPU and I/O to its parent (kernel/exit.c). Therefore the sum over a tree of processes only
//! grows, even if processes begin and end in it.

use std::io;

use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};
use mindful_core::{Error, Result};
use mindful_host::Kernel;
use mindful_host::kernel_file::{named_values, record, unreadable};
use mindful_host::process::{self, RECORD_BYTES, Stat, tick_us};

/// Number of walks of a tree if a process leaves it during the walk.
const WALKS: usize = 3;

/// `/proc/PID/io` in the order of [`IO_FIELDS`].
type ProcessIo = [u64; IO_FIELDS.len()];

const IO_FIELDS: [(&str, &str, &str); 7] = [
    ("read_bytes", "bytes", "bytes the server's processes caused to be fetched from storage"),
    (
        "write_bytes",
        "bytes",
        "bytes the server's processes caused to be sent to storage, counted when a page is dirtied",
    ),
    ("cancelled_write_bytes", "bytes", "bytes of write_bytes that were truncated away before they were sent"),
    ("rchar", "bytes", "bytes requested in read calls of the server's processes, page cache and sockets included"),
    ("wchar", "bytes", "bytes passed to write calls of the server's processes"),
    ("syscr", "1", "read calls of the server's processes"),
    ("syscw", "1", "write calls of the server's processes"),
];

/// So many of them, the first, are of storage.
const STORAGE_FIELDS: usize = 3;

/// The lines of the file; `None` unless all are there.
fn parse_io(text: &str) -> Option<ProcessIo> {
    let values = named_values(text);
    let mut io = [0; IO_FIELDS.len()];
    for (slot, (name, ..)) in io.iter_mut().zip(IO_FIELDS) {
        *slot = *values.get(name)?;
    }
    Some(io)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    user_ticks: u64,
    system_ticks: u64,
    major_faults: u64,
    processes: u64,
    /// `None` if one of the processes cannot be read.
    io: Option<ProcessIo>,
}

#[derive(Debug)]
pub(crate) struct Processes {
    kernel: Kernel,
    root: u32,
    started: u64,
    us_per_tick: f64,
    source: SampledSource,
    counted: bool,
    /// The largest values so far: a child between its end and its parent's account must not lower a counter.
    seen: Vec<f64>,
}

impl Processes {
    /// The process `root` and all below it; only that process if it is this one. With `counted` the file system of the
    /// data counts I/O for the requesting process; otherwise the server's part of it is unknown.
    pub(crate) fn open(kernel: &Kernel, root: u32, counted: bool) -> Result<Self> {
        let stat = Stat::read(kernel, root).map_err(|error| {
            let path = process::folder(kernel, root).join("stat");
            Error::run(format!("cannot read {} ({error})", path.display()), "run mindful where the server runs")
        })?;
        let source = SampledSource::new(HostSource::Processes.name(), metrics());
        let seen = vec![0.0; source.metrics.len()];
        let kernel = kernel.clone();
        Ok(Self { kernel, root, started: stat.started, us_per_tick: tick_us(), source, counted, seen })
    }

    fn is_own(&self) -> bool {
        self.root == std::process::id()
    }

    pub(crate) fn sees_io(&self) -> bool {
        self.totals().is_ok_and(|totals| totals.io.is_some())
    }

    fn totals(&self) -> Result<Totals> {
        let mut last = self.walk();
        for _ in 1..WALKS {
            if !matches!(&last, Ok((_, true))) {
                break;
            }
            last = self.walk();
        }
        last.map(|(totals, _)| totals)
    }

    /// The sums, and whether a process left on the way. The list is made before any process is read, so that one that
    /// is not on it has already been added to its parent.
    fn walk(&self) -> Result<(Totals, bool)> {
        let pids = if self.is_own() { vec![self.root] } else { process::descendants(&self.kernel, self.root) };
        let mut totals = Totals { io: Some(ProcessIo::default()), ..Totals::default() };
        let mut left = false;
        for pid in pids {
            let stat = match Stat::read(&self.kernel, pid) {
                Ok(stat) => stat,
                Err(error) if pid == self.root => {
                    return Err(unreadable(&process::folder(&self.kernel, pid), &error));
                }
                Err(_) => {
                    left = true;
                    continue;
                }
            };
            if pid == self.root && stat.started != self.started {
                return Err(Error::run(format!("process {pid} is no longer the server"), "run again"));
            }
            match read_io(&self.kernel, pid) {
                Ok(io) => totals.add_io(&io),
                // Of a process that has ended only root may read it, until its parent has it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !self.ended(pid) => totals.io = None,
                Err(_) => left = true,
            }
            totals.add(&stat, !self.is_own());
        }
        Ok((totals, left))
    }

    fn ended(&self, pid: u32) -> bool {
        Stat::read(&self.kernel, pid).map_or(true, |stat| stat.ended)
    }
}

impl Totals {
    fn add(&mut self, stat: &Stat, with_reaped: bool) {
        self.processes += 1;
        self.user_ticks += stat.user_ticks;
        self.system_ticks += stat.system_ticks;
        self.major_faults += stat.major_faults;
        if with_reaped {
            self.user_ticks += stat.reaped_user_ticks;
            self.system_ticks += stat.reaped_system_ticks;
            self.major_faults += stat.reaped_major_faults;
        }
    }

    fn add_io(&mut self, io: &ProcessIo) {
        if let Some(sums) = &mut self.io {
            for (sum, value) in sums.iter_mut().zip(io) {
                *sum = sum.saturating_add(*value);
            }
        }
    }
}

fn read_io(kernel: &Kernel, pid: u32) -> io::Result<ProcessIo> {
    let mut buffer = [0; RECORD_BYTES];
    let text = record(&process::folder(kernel, pid).join("io"), &mut buffer)?;
    parse_io(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn metrics() -> Vec<Metric> {
    let cpu = |mode| format!("{mode} CPU of the server's processes, those that ended included");
    let mut metrics = vec![
        Metric::counter(Counter::ServerCpuUserUs, "us", &cpu("user")),
        Metric::counter(Counter::ServerCpuSystemUs, "us", &cpu("system")),
        Metric::counter("major_faults", "1", "page faults of the server's processes that had to wait for storage"),
    ];
    for (name, unit, help) in IO_FIELDS {
        let name = match name {
            "read_bytes" => Counter::ProcessReadBytes.name(),
            "write_bytes" => Counter::ProcessWriteBytes.name(),
            name => name,
        };
        metrics.push(Metric::counter(name, unit, help));
    }
    metrics.push(Metric::gauge("processes", "1", "processes of the server"));
    metrics
}

impl Sampler for Processes {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let totals = self.totals()?;
        let mut values = vec![
            Some(totals.user_ticks as f64 * self.us_per_tick),
            Some(totals.system_ticks as f64 * self.us_per_tick),
            Some(totals.major_faults as f64),
        ];
        let known = |index: usize| self.counted || index >= STORAGE_FIELDS;
        let io = (0..IO_FIELDS.len()).map(|index| totals.io.filter(|_| known(index)).map(|io| io[index] as f64));
        values.extend(io);
        for (value, seen) in values.iter_mut().zip(&mut self.seen) {
            if let Some(value) = value {
                *seen = value.max(*seen);
                *value = *seen;
            }
        }
        values.push(Some(totals.processes as f64));
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    #[test]
    fn the_io_of_a_process_is_known_wholly_or_not_at_all() {
        let text = "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 8192\nwrite_bytes: 4096\n\
                    cancelled_write_bytes: 512\n";
        assert_eq!(parse_io(text), Some([8192, 4096, 512, 6976, 1, 10, 2]));
        assert_eq!(parse_io(&text.replace("syscr: 10\n", "")), None);
    }

    #[test]
    fn io_that_another_process_sends_is_unknown_and_never_zero() {
        let mut uncounted = Processes::open(&Kernel::default(), std::process::id(), false).unwrap();
        let read = uncounted.read().unwrap();
        let value = |name: &str| read[uncounted.metrics().iter().position(|metric| metric.name == name).unwrap()];
        assert_eq!((value("process_read_bytes"), value("process_write_bytes")), (None, None));
        assert!(value("rchar").is_some() && value("server_cpu_user").is_some());
    }

    #[test]
    fn a_process_that_does_not_exist_is_an_error_with_the_next_move() {
        let error = Processes::open(&Kernel::default(), u32::MAX, true).unwrap_err();
        assert!(error.to_string().contains("/proc/4294967295/stat"), "{error}");
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("(\\)|\\(|[0-9]+ |-|: |\\PC|read_bytes|\n){0,60}", parse_io);
    }
}
