//! Partitions of a real disk: work on one of them is visible, work on its neighbour is not.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mindful_conformance::{LoopDevice, run_as_root, with_tracefs, without_tracefs};
use mindful_core::contract::description::HostView;
use mindful_core::contract::metric::{Counter, Sampler};
use mindful_core::plan::HostFacts;
use mindful_observe::{environment, host_samplers};

const BLOCK: usize = 8192;
const BLOCKS: u64 = 1_024;
const SECTORS: u64 = BLOCKS * BLOCK as u64 / 512;

/// A loop device with two partitions of `BLOCKS` blocks.
struct Disk(LoopDevice);

impl Disk {
    fn new() -> Option<Self> {
        let disk = Self(LoopDevice::among_others(18)?);
        for (number, first) in [("1", 2_048), ("2", 2_048 + SECTORS)] {
            run_as_root("addpart", &[disk.0.name(), number, &first.to_string(), &SECTORS.to_string()])?;
        }
        Some(disk)
    }

    fn partition(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.0.name()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for number in ["1", "2"] {
            let _ = Command::new("delpart").args([self.0.name(), number]).status();
        }
    }
}

/// Reads every block of a device, past the page cache.
fn read_all(device: &PathBuf) {
    let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).expect("a flag of open");
    let file = OpenOptions::new().read(true).custom_flags(direct).open(device).expect("root may read it");
    let mut room = vec![0_u8; BLOCK * 2];
    let begin = room.as_ptr().align_offset(BLOCK);
    for block in 0..BLOCKS {
        file.read_exact_at(&mut room[begin..begin + BLOCK], block * BLOCK as u64).expect("the block is there");
    }
}

fn value(samplers: &mut [Box<dyn Sampler>], source: &str, name: &str) -> Option<f64> {
    let sampler = samplers.iter_mut().find(|sampler| sampler.name() == source)?;
    let at = sampler.metrics().iter().position(|metric| metric.name == name)?;
    sampler.read().expect("it can be read")[at]
}

#[test]
fn reads_of_one_partition_are_timed_and_its_neighbours_are_not() {
    if with_tracefs() {
        hold(true);
    }
}

#[test]
fn without_tracefs_reads_of_a_partition_are_counted_alone() {
    if without_tracefs() {
        hold(false);
    }
}

/// Compares the reads of two partitions with what is counted, and timed if `traced`.
fn hold(traced: bool) {
    let Some(disk) = Disk::new() else { return };
    let data = disk.partition(1);
    let host = HostView {
        local: true,
        server_pid: None,
        data_paths: vec![data.clone()],
        in_process: true,
        ..HostView::default()
    };
    let chain = &environment(&host, HostFacts::Local)["storage.device"];
    assert!(chain.starts_with(&format!("{0}p1 < {0}", disk.0.name().trim_start_matches("/dev/"))), "{chain}");
    let (mut samplers, findings) = host_samplers(&host, true, &[]);
    assert_eq!(
        findings.iter().all(|finding| !finding.evidence.starts_with("device latency: ")),
        traced,
        "{findings:?}"
    );
    assert_eq!(samplers.iter().any(|sampler| sampler.name() == "block_trace"), traced, "{findings:?}");

    let mut seen = |device: &PathBuf| {
        let before =
            value(&mut samplers, "diskstats", Counter::DeviceReads.name()).expect("the partition keeps counters");
        let events = value(&mut samplers, "block_trace", "trace_events");
        read_all(device);
        // Events are fetched a few times a second, later on a busy machine.
        let mut timed = None;
        for _ in 0..10 {
            std::thread::sleep(Duration::from_millis(300));
            timed =
                value(&mut samplers, "block_trace", "trace_events").zip(events).map(|(after, before)| after - before);
            if timed.is_none_or(|timed| timed > 0.0) {
                break;
            }
        }
        let reads = value(&mut samplers, "diskstats", Counter::DeviceReads.name()).expect("known after") - before;
        (reads, timed)
    };
    let (neighbour, none) = seen(&disk.partition(2));
    let (own, timed) = seen(&data);
    assert!(neighbour < 0.1 * BLOCKS as f64, "{neighbour} reads of the neighbour were counted");
    assert!((0.99..1.2).contains(&(own / BLOCKS as f64)), "{own} reads of {BLOCKS} blocks");
    assert_eq!((none.is_some(), timed.is_some()), (traced, traced), "unknown is no number");
    if let (Some(none), Some(timed)) = (none, timed) {
        assert!(none < timed / 2.0 && timed > 0.0, "{none} events of the neighbour, {timed} of the data");
    }
}
