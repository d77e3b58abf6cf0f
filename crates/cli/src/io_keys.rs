//! Keys of `mindful raw`: what a job on files measures.

use mindful_core::settings::{Key, Trust};

const fn unset(name: &'static str, value: &'static str, help: &'static str) -> Key {
    Key { name, value, default: None, help, trust: Trust::Value }
}

/// All keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    unset(
        "preset",
        "JOB",
        "oltp (small, rising), dss (large, rising), simple (both), normal (all pairs), advanced (see --matrix), or \
         calibrate (most IOPS within --limit); without one: a single step",
    ),
    unset("matrix", "PART", "Pairs of small and large load: point, row, col, max, basic or detailed"),
    unset("num_disks", "N", "Disks behind the files: loads rise in multiples of it (default: the files named)"),
    unset("num_small", "N", "Small I/Os in flight: fixed, or the highest"),
    unset("num_large", "N", "Large reads in flight: fixed, or the highest"),
    unset("limit", "TIME", "Highest mean latency of small I/Os in a calibration, such as 500us (default: 20ms)"),
    unset("spans", "LIST", "Measure these parts of the files in turn: outer,inner,mix,full or 10%..20%"),
    unset("csv", "PREFIX", "Write PREFIX_iops.csv, PREFIX_lat.csv, PREFIX_mbps.csv and PREFIX_hist.csv").place(),
];
