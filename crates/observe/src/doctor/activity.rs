//! Present activity of the host: two readings and their difference.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use mindful_host::Kernel;
use mindful_host::kernel_file::named_values;
use mindful_host::process::{self, tick_us};

use crate::cpu::{CpuTicks, HostStat};
use crate::diskstats;

pub(crate) struct Snapshot {
    at: Instant,
    cpu: HostStat,
    /// Requests and sectors completed, by device.
    devices: BTreeMap<String, (u64, u64)>,
    swapped: Option<u64>,
    /// Bytes that the server's processes fetched from storage and sent there.
    own_bytes: u64,
    /// Ticks of CPU and name, by process, without our own.
    processes: BTreeMap<u32, (u64, String)>,
}

impl Snapshot {
    pub(crate) fn take(kernel: &Kernel, server: Option<u32>) -> Self {
        let text = |name: &str| fs::read_to_string(kernel.proc.join(name)).unwrap_or_default();
        let devices = diskstats::parse(&text("diskstats"))
            .into_iter()
            .map(|(name, fields)| (name.to_owned(), (fields[0] + fields[4], fields[2] + fields[6])))
            .collect();
        let vmstat = text("vmstat");
        let vmstat = named_values(&vmstat);
        Self {
            at: Instant::now(),
            cpu: HostStat::parse(&text("stat")),
            devices,
            swapped: vmstat.get("pswpin").zip(vmstat.get("pswpout")).map(|(pages_in, pages_out)| pages_in + pages_out),
            own_bytes: server.map_or(0, |server| storage_bytes(kernel, server)),
            processes: processes(kernel),
        }
    }
}

fn storage_bytes(kernel: &Kernel, server: u32) -> u64 {
    let bytes =
        process::descendants(kernel, server).into_iter().filter_map(|pid| process::storage_bytes(kernel, pid).ok());
    bytes.flatten().fold(0, u64::saturating_add)
}

fn processes(kernel: &Kernel) -> BTreeMap<u32, (u64, String)> {
    let pids = process::all(kernel).into_iter().filter(|pid| *pid != std::process::id());
    let used = pids.filter_map(|pid| {
        let stat = process::Stat::read(kernel, pid).ok()?;
        Some((pid, (stat.user_ticks + stat.system_ticks, stat.name)))
    });
    used.collect()
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) device: String,
    pub(crate) requests_per_s: f64,
    pub(crate) bytes_per_s: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Busiest {
    pub(crate) pid: u32,
    pub(crate) name: String,
    pub(crate) cores: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Activity {
    pub(crate) busy_share: Option<f64>,
    /// Share that the hypervisor gave to somebody else.
    pub(crate) steal_share: Option<f64>,
    pub(crate) swapped_per_s: Option<f64>,
    pub(crate) traffic: Vec<Traffic>,
    /// Bytes of it that the server itself caused, per second.
    pub(crate) own_bytes_per_s: f64,
    pub(crate) busiest: Option<Busiest>,
}

impl Activity {
    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let seconds = (after.at - before.at).as_secs_f64();
        let per_s = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let share = |part: fn(&CpuTicks) -> u64| {
            let (before, after) = (before.cpu.all.as_ref()?, after.cpu.all.as_ref()?);
            let total = after.total().saturating_sub(before.total());
            (total > 0).then(|| part(after).saturating_sub(part(before)) as f64 / total as f64)
        };
        let traffic = after.devices.iter().filter_map(|(device, (requests, sectors))| {
            let (requests_before, sectors_before) = before.devices.get(device)?;
            Some(Traffic {
                device: device.clone(),
                requests_per_s: per_s(*requests_before, *requests),
                bytes_per_s: per_s(*sectors_before, *sectors) * 512.0,
            })
        });
        let ticks_per_s = 1e6 / tick_us();
        let busiest = after.processes.iter().filter_map(|(pid, (ticks, name))| {
            let cores = per_s(before.processes.get(pid)?.0, *ticks) / ticks_per_s;
            Some(Busiest { pid: *pid, name: name.clone(), cores })
        });
        Self {
            busy_share: share(CpuTicks::busy),
            steal_share: share(|ticks| ticks.steal),
            swapped_per_s: before.swapped.zip(after.swapped).map(|(before, after)| per_s(before, after)),
            traffic: traffic.collect(),
            own_bytes_per_s: per_s(before.own_bytes, after.own_bytes),
            busiest: busiest
                .max_by(|one, other| one.cores.total_cmp(&other.cores))
                .filter(|busiest| busiest.cores > 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn snapshot(at: Instant, cpu: &str, requests: u64, ticks: u64) -> Snapshot {
        Snapshot {
            at,
            cpu: HostStat::parse(cpu),
            devices: BTreeMap::from([("vda".to_owned(), (requests, requests * 16))]),
            swapped: Some(0),
            own_bytes: 0,
            processes: BTreeMap::from([(7, (ticks, "backup".to_owned()))]),
        }
    }

    #[test]
    fn shares_and_rates_are_of_the_time_between_samples() {
        let begin = Instant::now();
        let before = snapshot(begin, "cpu 100 0 0 100 0 0 0 0\n", 1000, 500);
        let after = snapshot(begin + Duration::from_millis(500), "cpu 120 0 10 160 0 0 0 10\n", 1100, 525);
        let activity = Activity::between(&before, &after);
        assert_eq!((activity.busy_share, activity.steal_share), (Some(0.3), Some(0.1)));
        assert_eq!((activity.traffic[0].requests_per_s, activity.traffic[0].bytes_per_s), (200.0, 200.0 * 8192.0));
        let busiest = activity.busiest.unwrap();
        assert_eq!((busiest.pid, busiest.name.as_str()), (7, "backup"));
        let ticks_per_s = 1e6 / tick_us();
        assert!((busiest.cores - 50.0 / ticks_per_s).abs() < 1e-9);
    }

    #[test]
    fn without_counters_everything_is_unknown() {
        let now = Instant::now();
        let empty = |at| Snapshot {
            at,
            cpu: HostStat::default(),
            devices: BTreeMap::new(),
            swapped: None,
            own_bytes: 0,
            processes: BTreeMap::new(),
        };
        let activity = Activity::between(&empty(now), &empty(now + Duration::from_millis(1)));
        assert_eq!(activity, Activity::default());
    }
}
