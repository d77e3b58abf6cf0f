//! Limits that held the storage.

use super::figure::{Figure, Unit};

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step(
        "caps.volume_iops_us",
        Unit::Microseconds,
        "time over the volume's limit of IOPS, as the volume tells it (`DEVICE.over_volume_iops`); the longest of several",
        &[],
        |s| s.summary.caps.volume_iops_us,
    ),
    Figure::of_step(
        "caps.volume_bytes_us",
        Unit::Microseconds,
        "time over the volume's limit of throughput (`DEVICE.over_volume_bytes`); the longest of several volumes",
        &[],
        |s| s.summary.caps.volume_bytes_us,
    ),
    Figure::of_step(
        "caps.instance_iops_us",
        Unit::Microseconds,
        "time over the instance's limit of IOPS (`DEVICE.over_instance_iops`); the longest of several volumes",
        &[],
        |s| s.summary.caps.instance_iops_us,
    ),
    Figure::of_step(
        "caps.instance_bytes_us",
        Unit::Microseconds,
        "time over the instance's limit of throughput (`DEVICE.over_instance_bytes`); the longest of several volumes",
        &[],
        |s| s.summary.caps.instance_bytes_us,
    ),
    Figure::of_step(
        "caps.group_share",
        Unit::Share,
        "I/O of the server's control group a second / what the group may have (`DEVICE.group_reads` by its limit); the \
         largest of requests and bytes, reads and writes",
        &[],
        |s| s.summary.caps.group_share,
    ),
];
