//! Memory of the host, from `/proc/meminfo`.

use std::io;

use mindful_core::contract::metric::HostSource;
use mindful_core::contract::metric::MetricKind::Gauge;
use mindful_host::Kernel;

use crate::named_values::{Line, NamedValues};

const LINES: [Line; 12] = [
    ("MemFree", "KiB", Gauge, "memory that is not used"),
    ("MemAvailable", "KiB", Gauge, "memory available without swapping"),
    ("Buffers", "KiB", Gauge, "page cache of block devices"),
    ("Cached", "KiB", Gauge, "page cache of files, shared memory included"),
    ("Dirty", "KiB", Gauge, "page cache waiting to be written"),
    ("Writeback", "KiB", Gauge, "page cache being written"),
    ("AnonPages", "KiB", Gauge, "memory of processes that no file backs"),
    ("Mapped", "KiB", Gauge, "files mapped into processes"),
    ("Shmem", "KiB", Gauge, "shared memory and tmpfs"),
    ("SwapFree", "KiB", Gauge, "swap that is free"),
    ("AnonHugePages", "KiB", Gauge, "memory of processes in transparent huge pages"),
    ("HugePages_Free", "pages", Gauge, "reserved huge pages that are not used"),
];

pub(crate) fn open(kernel: &Kernel) -> io::Result<NamedValues> {
    NamedValues::open(HostSource::Meminfo.name(), kernel.proc.join("meminfo"), &LINES)
}
