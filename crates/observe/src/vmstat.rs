//! Paging of the host, from `/proc/vmstat`: a second measurement of reads from storage.

use std::io;

use mindful_core::contract::metric::MetricKind::{self, Gauge};
use mindful_core::contract::metric::{Counter, HostSource};
use mindful_host::Kernel;

use crate::named_values::{Line, NamedValues};

const LINES: [Line; 20] = [
    ("pgpgin", "KiB", MetricKind::Counter, "read from block devices by the whole host"),
    ("pgpgout", "KiB", MetricKind::Counter, "written to block devices by the whole host"),
    (Counter::PagesSwappedIn.name(), "pages", MetricKind::Counter, "pages read from swap"),
    ("pswpout", "pages", MetricKind::Counter, "pages written to swap"),
    ("pgfault", "1", MetricKind::Counter, "page faults"),
    ("pgmajfault", "1", MetricKind::Counter, "page faults that waited for storage"),
    ("pgscan_kswapd", "pages", MetricKind::Counter, "pages scanned for reclaim in the background"),
    ("pgscan_direct", "pages", MetricKind::Counter, "pages scanned for reclaim by tasks that needed memory at once"),
    ("pgsteal_kswapd", "pages", MetricKind::Counter, "pages reclaimed in the background"),
    ("pgsteal_direct", "pages", MetricKind::Counter, "pages reclaimed by tasks that needed memory at once"),
    ("workingset_refault_file", "pages", MetricKind::Counter, "file pages read again soon after they were dropped"),
    ("nr_dirty", "pages", Gauge, "page cache waiting to be written"),
    ("nr_writeback", "pages", Gauge, "page cache being written"),
    ("nr_dirtied", "pages", MetricKind::Counter, "pages made dirty"),
    ("nr_written", "pages", MetricKind::Counter, "dirty pages written"),
    ("compact_stall", "1", MetricKind::Counter, "waits for memory to be compacted"),
    ("thp_fault_alloc", "1", MetricKind::Counter, "huge pages allocated at a page fault"),
    ("numa_miss", "pages", MetricKind::Counter, "pages allocated on another node than intended"),
    (Counter::PageCacheDrops.name(), "1", MetricKind::Counter, "times the page cache was dropped"),
    (Counter::OomKills.name(), "1", MetricKind::Counter, "processes killed because memory ran out"),
];

pub(crate) fn open(kernel: &Kernel) -> io::Result<NamedValues> {
    NamedValues::open(HostSource::Vmstat.name(), kernel.proc.join("vmstat"), &LINES)
}
