//! Limits that held the storage back: of a cloud volume that reports its throttled time, and of the server's control
//! group.

use mindful_core::contract::metric::{GROUP_LIMITS, HostSource, LIMIT_SUFFIX, VOLUME_LIMITS};
use mindful_core::result::CapSummary;

use crate::figures::counters::{Change, Counters};

/// Share of the window that a volume's limit may hold before it is reported, as of a stall.
pub(crate) const REPORTED_SHARE: f64 = 0.05;
/// Share of the window from which a limit decides the verdict, as for the log by database time.
pub(crate) const HELD_SHARE: f64 = 0.25;
/// Share of a control group's limit from which on the group is at it.
pub(crate) const AT_LIMIT: f64 = 0.95;
/// And up to which: a group that does more is not held by this limit.
pub(crate) const BEYOND_LIMIT: f64 = 1.2;
/// Accepted excess of a time over the window, s: a volume updates its times once a second.
const SLACK_S: f64 = 1.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Cap {
    pub device: String,
    /// Share of the window that it held, or use by limit.
    share: f64,
    /// Whether it is reported, and whether it decides the verdict.
    pub(crate) tells: bool,
    pub(crate) holds: bool,
    pub(crate) in_words: String,
    /// Of a volume: one of [`VOLUME_LIMITS`], and the time that it held, us.
    volume: Option<(usize, f64)>,
}

impl Cap {
    /// All reported limits, those of volumes first.
    pub(crate) fn all(counters: &Counters) -> Vec<Self> {
        let volumes = changes_by_source(counters, HostSource::VolumeCaps.name()).filter_map(|change| {
            let (device, name) = change.name.rsplit_once('.')?;
            let limit = VOLUME_LIMITS.iter().position(|(known, _)| *known == name)?;
            let seconds = change.seconds;
            let us = change.delta.filter(|us| *us <= (seconds + SLACK_S) * 1e6)?;
            let share = (us / 1e6 / seconds).min(1.0);
            let in_words = format!("{} held {device} for {:.1} of {seconds:.1} s", VOLUME_LIMITS[limit].1, us / 1e6);
            let (tells, holds) = (share >= REPORTED_SHARE, share >= HELD_SHARE);
            Some(Self { device: device.to_owned(), share, tells, holds, in_words, volume: Some((limit, us)) })
        });
        let groups = changes_by_source(counters, HostSource::Cgroup.name()).filter_map(|change| {
            let (device, name) = change.name.rsplit_once('.')?;
            let (_, what) = GROUP_LIMITS.iter().find(|(known, _)| *known == name)?;
            let limit = changes_by_source(counters, HostSource::Cgroup.name())
                .find(|limit| limit.name == format!("{device}.{name}{LIMIT_SUFFIX}"))?;
            let may = limit.readings[1].filter(|may| *may > 0.0)?;
            let per_s = change.rate()?;
            let share = per_s / may;
            let in_words = format!("the control group's {what} at {device} were {per_s:.0}/s, of {may:.0}/s allowed");
            let held = (AT_LIMIT..BEYOND_LIMIT).contains(&share);
            Some(Self { device: device.to_owned(), share, tells: held, holds: held, in_words, volume: None })
        });
        volumes.chain(groups).collect()
    }
}

fn changes_by_source<'a>(counters: &'a Counters, source: &'a str) -> impl Iterator<Item = &'a Change> {
    counters.0.iter().filter(move |change| change.source == source)
}

/// The limits in figures: of several devices the one that was held longest.
pub(crate) fn summary(caps: &[Cap]) -> CapSummary {
    let longest = |limit: usize| {
        caps.iter().filter_map(|cap| cap.volume).filter(|(of, _)| *of == limit).map(|(_, us)| us).reduce(f64::max)
    };
    let groups = caps.iter().filter(|cap| cap.volume.is_none());
    CapSummary {
        volume_iops_us: longest(0),
        volume_bytes_us: longest(1),
        instance_iops_us: longest(2),
        instance_bytes_us: longest(3),
        group_share: groups.map(|cap| cap.share).reduce(f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_that_was_throttled_longest_represents_all() {
        let of = |name: &str, us: f64| Change::over_ten_seconds(HostSource::VolumeCaps.name(), name, [5e6, 5e6 + us]);
        let counters = Counters(vec![
            of("nvme1n1.over_volume_iops", 9.8e6),
            of("nvme2n1.over_volume_iops", 1e6),
            of("nvme1n1.over_instance_bytes", 0.4e6),
        ]);
        let caps = Cap::all(&counters);
        let figures = summary(&caps);
        assert_eq!((figures.volume_iops_us, figures.instance_bytes_us), (Some(9.8e6), Some(0.4e6)));
        assert_eq!((figures.volume_bytes_us, figures.group_share), (None, None));
        assert_eq!(caps[0].in_words, "the volume's limit of IOPS held nvme1n1 for 9.8 of 10.0 s");
        assert!(caps[0].holds && caps[1].tells && !caps[1].holds && !caps[2].tells);
    }

    #[test]
    fn times_that_fall_or_outlast_the_window_are_unknown() {
        let counters = Counters(vec![
            Change::over_ten_seconds(HostSource::VolumeCaps.name(), "nvme1n1.over_volume_iops", [9e6, 1e6]),
            Change::over_ten_seconds(HostSource::VolumeCaps.name(), "nvme1n1.over_volume_bytes", [0.0, 1e18]),
            Change::over_ten_seconds(HostSource::VolumeCaps.name(), "nvme1n1.over_the_moon", [0.0, 1e6]),
            Change::over_ten_seconds(HostSource::VolumeCaps.name(), "over_volume_iops", [0.0, 1e6]),
        ]);
        assert_eq!(summary(&Cap::all(&counters)), CapSummary::default());
    }

    #[test]
    fn a_group_is_at_its_limit_by_its_own_io() {
        let group = |done: f64, may: f64| {
            let counter =
                Change::over_ten_seconds(HostSource::Cgroup.name(), "vda.group_reads", [100.0, 100.0 + done * 10.0]);
            Cap::all(&Counters(vec![
                counter,
                Change::over_ten_seconds(HostSource::Cgroup.name(), "vda.group_reads_limit", [may, may]),
            ]))
        };
        let held = group(1_490.0, 1_500.0);
        assert!(held[0].holds);
        assert_eq!(held[0].in_words, "the control group's read requests at vda were 1490/s, of 1500/s allowed");
        assert!(!group(1_200.0, 1_500.0)[0].tells && group(1.0, 0.0).is_empty());
        // A limit that was exceeded three times over limits nothing.
        assert!(!group(4_500.0, 1_500.0)[0].tells && !group(4_500.0, 1_500.0)[0].holds);
    }
}
