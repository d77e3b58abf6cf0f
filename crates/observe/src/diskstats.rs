//! I/O of the devices that contain the data, from `/proc/diskstats`.
//!
//! Fields are as in the kernel's Documentation/admin-guide/iostats.rst. A sector is 512 bytes for every device.
//! Requests are counted when they complete and after merging. Times have 32 bits of milliseconds and wrap: with 100
//! requests outstanding, within half a day.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use mindful_core::contract::metric::{Counter, HostSource, Metric, MetricFamily, SECTOR_BYTES, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::device::{self, Chain};
use mindful_host::kernel_file::{KernelFile, value};

/// Name, unit and meaning of every field in the kernel's order.
const FIELDS: [(MetricFamily, &str, &str); 17] = [
    (MetricFamily::ReadsCompleted, "1", "read requests completed"),
    (MetricFamily::Field("reads_merged"), "1", "reads merged into a neighbouring request before it was issued"),
    (MetricFamily::SectorsRead, "sectors", "sectors of 512 bytes read"),
    (MetricFamily::Field("read_ms"), "ms", "time all reads took"),
    (MetricFamily::Field("writes_completed"), "1", "write requests completed"),
    (MetricFamily::Field("writes_merged"), "1", "writes merged into a neighbouring request before it was issued"),
    (MetricFamily::Field("sectors_written"), "sectors", "sectors of 512 bytes written"),
    (MetricFamily::Field("write_ms"), "ms", "time all writes took"),
    (MetricFamily::Field("in_flight"), "1", "requests issued and not yet completed"),
    (
        MetricFamily::Field("io_ms"),
        "ms",
        "time with at least one request in flight; a parallel device may have room while it is 100 %",
    ),
    (MetricFamily::Field("weighted_io_ms"), "ms", "time all requests took together"),
    (MetricFamily::Field("discards_completed"), "1", "discard requests completed"),
    (MetricFamily::Field("discards_merged"), "1", "discards merged"),
    (MetricFamily::Field("sectors_discarded"), "sectors", "sectors of 512 bytes discarded"),
    (MetricFamily::DiscardMs, "ms", "time all discards took"),
    (MetricFamily::FlushesCompleted, "1", "flush requests completed"),
    (MetricFamily::Field("flush_ms"), "ms", "time all flushes took"),
];
const READS: usize = 0;
const SECTORS_READ: usize = 2;
const READ_MS: usize = 3;
const WRITES: usize = 4;
const SECTORS_WRITTEN: usize = 6;
const IN_FLIGHT: usize = 8;
const WEIGHTED_MS: usize = 10;
const FLUSHES: usize = 15;
const FLUSH_MS: usize = 16;
/// Fewest fields of a line with times: kernels before 4.18.
const LEAST_FIELDS: usize = 11;
const US_PER_MS: f64 = 1000.0;

pub(crate) fn parse(text: &str) -> BTreeMap<&str, Vec<u64>> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(&str, Vec<u64>)> {
    let mut words = line.split_ascii_whitespace();
    let name = words.nth(2)?;
    let fields: Vec<u64> = words.take(FIELDS.len()).map_while(|word| word.parse().ok()).collect();
    (fields.len() >= LEAST_FIELDS).then_some((name, fields))
}

/// The level of the chain to count at: the highest that has counters. Counting at two levels would count each request
/// twice.
///
/// Zeros may mean that a device counts nothing. An idle device still counts if its driver takes requests from the
/// kernel's queues, which count them, and a partition if its disk has counted.
pub(crate) fn counted_level(kernel: &Kernel, chain: &Chain, text: &str) -> Option<usize> {
    let stats = parse(text);
    let has_counted = |name: &str| stats.get(name).is_some_and(|fields: &Vec<u64>| fields[READS] + fields[WRITES] > 0);
    let counts = |name: &String| {
        let (folder, disk) = (disk_folder(kernel, name), device::disk_of(kernel, name));
        let queued = folder.join("mq").exists();
        let fresh = stats.contains_key(name.as_str()) && (queued || disk.is_some_and(|disk| has_counted(&disk)));
        !is_off(&folder.join(IOSTATS)) && (has_counted(name) || fresh)
    };
    chain.levels.iter().position(|level| level.iter().all(counts))
}

/// Whether the kernel counts the flushes of a device: flushes of a partition are counted at its disk.
pub(crate) fn counts_flushes(kernel: &Kernel, name: &str) -> bool {
    let folder = kernel.sys.join("class/block").join(name);
    folder.join("mq").exists() && !is_off(&folder.join(IOSTATS))
}

/// The file, in a disk's folder, that shows whether the disk counts.
const IOSTATS: &str = "queue/iostats";

/// The folder of the disk that `name` is, or lies on.
fn disk_folder(kernel: &Kernel, name: &str) -> PathBuf {
    let folder = kernel.sys.join("class/block").join(name);
    if device::disk_of(kernel, name).is_some() { folder.join("..") } else { folder }
}

fn is_off(iostats: &Path) -> bool {
    value(iostats).is_some_and(|on| on == "0")
}

/// A counter of 32 bits, continued when it wraps.
#[derive(Debug, Clone, Copy, Default)]
struct Unwrapped {
    last: u64,
    carry: u64,
}

impl Unwrapped {
    fn advance(&mut self, raw: u64) -> u64 {
        // Only a fall from the upper half is a wrap; any other is a device that was added again.
        let from_upper_half = (1 << 31..1 << 32).contains(&self.last);
        if raw < self.last && from_upper_half {
            self.carry += 1 << 32;
        }
        self.last = raw;
        self.carry + raw
    }
}

/// Devices by the kind of counted I/O.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedDevices {
    /// Devices of the dataset: their reads are counted.
    pub(crate) read: Vec<String>,
    /// Devices of dataset and log with counted writes.
    pub(crate) written: Vec<String>,
    /// Devices of the log with counted writes.
    pub(crate) logged: Vec<String>,
    /// Devices of the log, or below them, with counted flushes.
    pub(crate) flushed: Vec<String>,
    /// All of all chains.
    pub(crate) all: Vec<String>,
}

/// A device that is watched.
struct Watched {
    name: String,
    iostats: PathBuf,
    /// Whether it stopped counting at some time: later values lack that time.
    frozen: bool,
    fields: usize,
    times: [Unwrapped; FIELDS.len()],
}

impl Watched {
    /// Its fields with continuous times; `None` if the device is gone, or did not count for a while.
    fn advance(&mut self, stats: &BTreeMap<&str, Vec<u64>>) -> Option<Vec<f64>> {
        self.frozen |= is_off(&self.iostats);
        if self.frozen {
            return None;
        }
        let fields = stats.get(self.name.as_str()).filter(|fields| fields.len() >= self.fields)?;
        let continuous = fields.iter().take(self.fields).enumerate().map(|(index, raw)| {
            let is_time = FIELDS[index].1 == "ms";
            (if is_time { self.times[index].advance(*raw) } else { *raw }) as f64
        });
        Some(continuous.collect())
    }
}

/// Samples `devices`; all are recorded under their own names.
pub(crate) fn diskstats(kernel: &Kernel, devices: CountedDevices) -> io::Result<Box<dyn Sampler>> {
    let mut file = KernelFile::open(kernel.proc.join("diskstats"))?;
    let stats = parse(file.text()?);
    let watched = devices.all.iter().filter_map(|name| {
        Some(Watched {
            name: name.clone(),
            iostats: disk_folder(kernel, name).join(IOSTATS),
            frozen: false,
            fields: stats.get(name.as_str())?.len(),
            times: Default::default(),
        })
    });
    let mut watched: Vec<Watched> = watched.collect();
    let source = SampledSource::new(HostSource::Diskstats.name(), metrics(&watched));
    Ok(source.read_by(move || {
        let stats = parse(file.read()?);
        Ok(values(&mut watched, &devices, &stats))
    }))
}

fn metrics(watched: &[Watched]) -> Vec<Metric> {
    let mut metrics = vec![
        Metric::counter(Counter::DeviceReads, "1", "read requests the devices of the data completed"),
        Metric::counter(Counter::DeviceReadBytes, "bytes", "bytes the devices of the data read"),
        Metric::counter(
            Counter::DeviceReadTimeUs,
            "us",
            "time reads took at the devices of the data, queueing included",
        ),
        Metric::counter(Counter::DeviceWrites, "1", "write requests the devices of data and log completed"),
        Metric::counter(Counter::DeviceWriteBytes, "bytes", "bytes the devices of data and log wrote"),
        Metric::counter(
            Counter::DeviceQueueTimeUs,
            "us",
            "time all requests took together; by elapsed time: the queue",
        ),
        Metric::counter(Counter::LogDeviceWrites, "1", "write requests the devices of the log completed"),
        Metric::counter(Counter::LogDeviceWriteBytes, "bytes", "bytes the devices of the log wrote"),
        Metric::counter(Counter::LogDeviceFlushes, "1", "flush requests the devices of the log completed"),
        Metric::counter(Counter::LogDeviceFlushTimeUs, "us", "time these flushes took, queueing included"),
    ];
    for device in watched {
        for (index, (name, unit, help)) in FIELDS.iter().enumerate().take(device.fields) {
            let metric: fn(String, &str, &str) -> Metric =
                if index == IN_FLIGHT { Metric::gauge } else { Metric::counter };
            metrics.push(metric(name.metric_name(&device.name), unit, help));
        }
    }
    metrics
}

/// The values in the order of [`metrics`].
fn values(watched: &mut [Watched], devices: &CountedDevices, stats: &BTreeMap<&str, Vec<u64>>) -> Vec<Option<f64>> {
    let advanced: Vec<Option<Vec<f64>>> = watched.iter_mut().map(|device| device.advance(stats)).collect();
    let all = || watched.iter().zip(&advanced);
    let sum = |names: &[String], index: usize, factor: f64| {
        let fields = all().filter(|(device, _)| names.contains(&device.name));
        let fields = fields.map(|(_, fields)| fields.as_ref()?.get(index).copied());
        let fields: Vec<f64> = fields.collect::<Option<_>>()?;
        (!fields.is_empty()).then(|| fields.iter().sum::<f64>() * factor)
    };
    let mut values = vec![
        sum(&devices.read, READS, 1.0),
        sum(&devices.read, SECTORS_READ, SECTOR_BYTES),
        sum(&devices.read, READ_MS, US_PER_MS),
        sum(&devices.written, WRITES, 1.0),
        sum(&devices.written, SECTORS_WRITTEN, SECTOR_BYTES),
        sum(&devices.read, WEIGHTED_MS, US_PER_MS),
        sum(&devices.logged, WRITES, 1.0),
        sum(&devices.logged, SECTORS_WRITTEN, SECTOR_BYTES),
        sum(&devices.flushed, FLUSHES, 1.0),
        sum(&devices.flushed, FLUSH_MS, US_PER_MS),
    ];
    values.extend(
        all().flat_map(|(device, fields)| (0..device.fields).map(move |at| fields.as_ref().map(|fields| fields[at]))),
    );
    values
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;
    use crate::data_devices::tests::chain;

    const TEXT: &str = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 49866 7196 3576002 38865 828024 60038 329106568 3258077 0 151472 3341616 71009 68 270650720 43638 27848 1034
   8       0 sda 10 1 80 4 20 2 160 9 1 7 13
   8       1 sda1 1 2 3 4
 253       0 dm-0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";

    fn written(folder: &std::path::Path, text: &str) -> Kernel {
        std::fs::write(folder.join("diskstats"), text).unwrap();
        Kernel { proc: folder.to_owned(), sys: PathBuf::from("/nonexistent") }
    }

    #[test]
    fn lines_of_old_and_new_kernels_are_read() {
        let stats = parse(TEXT);
        assert_eq!(stats.keys().copied().collect::<Vec<_>>(), ["dm-0", "loop0", "sda", "vda"]);
        assert_eq!((stats["vda"].len(), stats["vda"][16], stats["sda"].len()), (17, 1034, 11));
    }

    #[test]
    fn requests_are_counted_at_the_highest_level_and_only_once() {
        let kernel = Kernel { proc: PathBuf::from("/proc"), sys: PathBuf::from("/nonexistent") };
        let plain = chain(&[&["vda"], &["sda"]]);
        assert_eq!(counted_level(&kernel, &plain, TEXT), Some(0));
        let silent_top = chain(&[&["dm-0"], &["vda", "sda"]]);
        assert_eq!(counted_level(&kernel, &silent_top, TEXT), Some(1));
        assert_eq!(counted_level(&kernel, &chain(&[&["dm-0"], &["nosuch"]]), TEXT), None);
    }

    #[test]
    fn an_untouched_device_counts_if_it_has_queues_and_is_on() {
        let sys = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: PathBuf::from("/proc"), sys: sys.path().to_owned() };
        let disk = sys.path().join("class/block/loop0");
        let level = || counted_level(&kernel, &chain(&[&["loop0"]]), TEXT);
        assert_eq!(level(), None);
        std::fs::create_dir_all(disk.join("mq")).unwrap();
        std::fs::create_dir(disk.join("queue")).unwrap();
        assert_eq!(level(), Some(0));
        std::fs::write(disk.join("queue/iostats"), "0\n").unwrap();
        assert_eq!(level(), None);
    }

    #[test]
    fn a_lost_device_makes_the_sums_over_devices_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = written(folder.path(), TEXT);
        let mut sampler = opened(&kernel, &["vda", "sda"], &["vda", "sda"]);
        let values = sampler.read().unwrap();
        assert_eq!(values.len(), sampler.metrics().len());
        assert_eq!(values[0], Some(49876.0));
        assert_eq!(values[1], Some((3_576_002.0 + 80.0) * 512.0));
        assert_eq!(values[5], Some((3_341_616.0 + 13.0) * 1000.0));
        written(folder.path(), TEXT.replace("sda", "sdb").as_str());
        let values = sampler.read().unwrap();
        assert_eq!(values[0], None);
        let vda_reads = sampler.metrics().iter().position(|metric| metric.name == "vda.reads_completed").unwrap();
        assert_eq!(values[vda_reads], Some(49866.0));
    }

    fn opened(kernel: &Kernel, read: &[&str], written: &[&str]) -> Box<dyn Sampler> {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (all, read, written, log) = (named(&["loop0", "sda", "vda"]), named(read), named(written), named(&["vda"]));
        let devices = CountedDevices { all, read, written, logged: log.clone(), flushed: log };
        diskstats(kernel, devices).unwrap()
    }

    #[test]
    fn reads_are_those_of_the_dataset_and_writes_of_the_log_too() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = written(folder.path(), TEXT);
        let values = opened(&kernel, &["vda"], &["sda", "vda"]).read().unwrap();
        assert_eq!((values[0], values[3]), (Some(49_866.0), Some(828_044.0)));
        let log = [828_024.0, 329_106_568.0 * 512.0, 27_848.0, 1_034_000.0];
        assert_eq!(values[6..10], log.map(Some), "writes, bytes, flushes and their time at the device of the log");
    }

    /// Uncounted I/O is missing in the sums, and in all later values.
    #[test]
    fn a_device_that_stopped_counting_stays_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel { sys: folder.path().to_owned(), ..written(folder.path(), TEXT) };
        let queue = folder.path().join("class/block/vda/queue");
        std::fs::create_dir_all(&queue).unwrap();
        let mut sampler = opened(&kernel, &["vda"], &["vda"]);
        let mut reads = |iostats: &str| {
            std::fs::write(queue.join("iostats"), iostats).unwrap();
            sampler.read().unwrap()[0]
        };
        assert_eq!([reads("1\n"), reads("0\n"), reads("1\n")], [Some(49_866.0), None, None]);
    }

    #[test]
    fn a_time_that_wraps_continues_but_a_restarted_one_does_not() {
        let mut time = Unwrapped::default();
        assert_eq!(time.advance(u64::from(u32::MAX) - 5), u64::from(u32::MAX) - 5);
        assert_eq!(time.advance(4), (1 << 32) + 4);
        assert_eq!(time.advance(10), (1 << 32) + 10);
        assert_eq!(time.advance(3), (1 << 32) + 3);
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("([0-9]+ |vda|\\PC| |\n){0,80}", |text| {
            assert!(parse(text).values().all(|fields| fields.len() >= LEAST_FIELDS));
        });
    }
}
