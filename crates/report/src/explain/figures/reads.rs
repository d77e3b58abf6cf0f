//! Reads, from the database to the device.

use mindful_core::metric::shared;

use super::{Figure, GROWTH};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "blocks_visited_per_s",
        formula: "blocks that operations of the window visited, as sessions counted them / duration_s",
        sources: &[],
        value: |s| s.summary.blocks_visited_per_s,
    },
    Figure {
        name: "logical_reads_per_s",
        formula: GROWTH,
        sources: &[shared::LOGICAL_READS],
        value: |s| s.summary.logical_reads_per_s,
    },
    Figure {
        name: "physical_reads_per_s",
        formula: GROWTH,
        sources: &[shared::PHYSICAL_READS],
        value: |s| s.summary.physical_reads_per_s,
    },
    Figure {
        name: "read_requests_per_s",
        formula: GROWTH,
        sources: &[shared::READ_REQUESTS],
        value: |s| s.summary.read_requests_per_s,
    },
    Figure {
        name: "process_reads_per_s",
        formula: "growth of the counter by time, by the length of a block",
        sources: &[shared::PROCESS_READ_BYTES],
        value: |s| s.summary.process_reads_per_s,
    },
    Figure {
        name: "device_reads_per_s",
        formula: GROWTH,
        sources: &[shared::DEVICE_READS],
        value: |s| s.summary.device_reads_per_s,
    },
    Figure {
        name: "page_cache_share",
        formula: "1 - process reads / physical reads",
        sources: &[shared::PROCESS_READ_BYTES, shared::PHYSICAL_READS],
        value: |s| s.summary.page_cache_share,
    },
    Figure {
        name: "foreign_share",
        formula: "1 - bytes read by the server's processes / bytes read by the device",
        sources: &[shared::PROCESS_READ_BYTES, shared::DEVICE_READ_BYTES],
        value: |s| s.gates.foreign_share,
    },
    Figure {
        name: "method_yield",
        formula: "physical reads / blocks visited",
        sources: &[shared::PHYSICAL_READS],
        value: |s| s.gates.method_yield,
    },
    Figure {
        name: "hit_ratio",
        formula: "1 - physical reads / logical reads",
        sources: &[shared::PHYSICAL_READS, shared::LOGICAL_READS],
        value: |s| s.summary.hit_ratio,
    },
    Figure {
        name: "scan_direct_share",
        formula: "blocks visited through the ring of a scan / blocks that scans visited, at most 1",
        sources: &[shared::RING_VISITS],
        value: |s| s.summary.scan_direct_share,
    },
    Figure {
        name: "read_latency_mean_us",
        formula: "time the database waited for reads / physical reads; only where every read fetches one block",
        sources: &[shared::READ_TIME_US, shared::PHYSICAL_READS],
        value: |s| s.summary.read_latency_mean_us,
    },
];
