//! Paging of the host, from `/proc/vmstat`: the second witness of what storage delivered.

use std::io;

use mindful_core::contract::metric::MetricKind::{Counter, Gauge};
use mindful_core::contract::metric::{shared, source};
use mindful_host::Kernel;

use crate::named_values::{Line, NamedValues};

const LINES: [Line; 20] = [
    ("pgpgin", "KiB", Counter, "read from block devices by the whole host"),
    ("pgpgout", "KiB", Counter, "written to block devices by the whole host"),
    (shared::PAGES_SWAPPED_IN.name(), "pages", Counter, "pages brought back from swap"),
    ("pswpout", "pages", Counter, "pages put out to swap"),
    ("pgfault", "1", Counter, "page faults"),
    ("pgmajfault", "1", Counter, "page faults that waited for storage"),
    ("pgscan_kswapd", "pages", Counter, "pages scanned for reclaim in the background"),
    ("pgscan_direct", "pages", Counter, "pages scanned for reclaim by tasks that needed memory at once"),
    ("pgsteal_kswapd", "pages", Counter, "pages reclaimed in the background"),
    ("pgsteal_direct", "pages", Counter, "pages reclaimed by tasks that needed memory at once"),
    ("workingset_refault_file", "pages", Counter, "file pages read again soon after they were dropped"),
    ("nr_dirty", "pages", Gauge, "page cache waiting to be written"),
    ("nr_writeback", "pages", Gauge, "page cache being written"),
    ("nr_dirtied", "pages", Counter, "pages made dirty"),
    ("nr_written", "pages", Counter, "dirty pages written"),
    ("compact_stall", "1", Counter, "waits for memory to be compacted"),
    ("thp_fault_alloc", "1", Counter, "huge pages given at a page fault"),
    ("numa_miss", "pages", Counter, "pages taken from another node than wanted"),
    (shared::PAGE_CACHE_DROPS.name(), "1", Counter, "times somebody dropped the page cache"),
    (shared::OOM_KILLS.name(), "1", Counter, "processes killed for want of memory"),
];

pub(crate) fn open(kernel: &Kernel) -> io::Result<NamedValues> {
    NamedValues::open(source::VMSTAT, kernel.proc.join("vmstat"), &LINES)
}
