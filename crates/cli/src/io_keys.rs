//! Keys of `mindful raw` that describe a job on files.

use std::time::Duration;

use mindful_core::plan::settings::Key;
use mindful_core::plan::{Bound, units};

const LOAD: Bound = Bound::Count(0, 1 << 20);

pub(crate) const KEYS: &[Key] = &[
    Key::unset(
        "preset",
        "JOB",
        "Orion's oltp, dss, simple, normal or advanced; calibrate: most IOPS within --limit; commits: synced writes",
    ),
    Key::unset("matrix", "PART", "Small and large loads to combine: point, row, col, max, basic or detailed"),
    Key::unset("num_disks", "N", "Disks behind the files; loads rise in multiples (default: number of files)")
        .bounded(LOAD),
    Key::unset("num_small", "N", "Small I/Os in flight: fixed, or the highest").bounded(LOAD),
    Key::unset("num_large", "N", "Large reads in flight: fixed, or the highest").bounded(LOAD),
    Key::unset("limit", "TIME", "Highest mean latency of small I/Os in a calibration (default: 20ms)")
        .bounded(Bound::Time(Duration::from_micros(1), units::LONGEST)),
    Key::unset("spans", "LIST", "Measure parts of the files in turn: outer,inner,mix,full or 10%..20%").one_value(),
    Key::unset("csv", "PREFIX", "Write PREFIX_iops.csv, _lat.csv, _mbps.csv and _hist.csv").place(),
];
