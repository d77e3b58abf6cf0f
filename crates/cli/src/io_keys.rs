//! Keys of `mindful raw`: what a job on files measures.

use std::time::Duration;

use mindful_core::plan::bound::Bound;
use mindful_core::plan::settings::Key;
use mindful_core::plan::units;

/// I/Os in flight, or disks.
const LOAD: Bound = Bound::Count(0, 1 << 20);

/// All keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    Key::unset(
        "preset",
        "JOB",
        "oltp (small, rising), dss (large, rising), simple (both), normal (all pairs), advanced (see --matrix), or \
         calibrate (most IOPS within --limit); without one: a single step",
    ),
    Key::unset("matrix", "PART", "Pairs of small and large load: point, row, col, max, basic or detailed"),
    Key::unset("num_disks", "N", "Disks behind the files: loads rise in multiples of it (default: the files named)")
        .bounded(LOAD),
    Key::unset("num_small", "N", "Small I/Os in flight: fixed, or the highest").bounded(LOAD),
    Key::unset("num_large", "N", "Large reads in flight: fixed, or the highest").bounded(LOAD),
    Key::unset("limit", "TIME", "Highest mean latency of small I/Os in a calibration, such as 500us (default: 20ms)")
        .bounded(Bound::Time(Duration::from_micros(1), units::LONGEST)),
    Key::unset("spans", "LIST", "Measure these parts of the files in turn: outer,inner,mix,full or 10%..20%")
        .one_value(),
    Key::unset("csv", "PREFIX", "Write PREFIX_iops.csv, PREFIX_lat.csv, PREFIX_mbps.csv and PREFIX_hist.csv").place(),
];
