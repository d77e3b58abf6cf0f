//! Present activity of the host: two readings, their difference, and its checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::result::finding::{OTHERS_BUSY, codes};
use mindful_core::result::{Finding, Severity};
use mindful_host::Kernel;
use mindful_host::kernel_file::named_values;
use mindful_host::process::{self, tick_us};

use crate::cpu::{CpuTicks, HostStat};
use crate::diskstats;
use crate::environment::storage::Storage;

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

/// Stolen time above this share is worth a word.
const STEAL_SHARE: f64 = 0.01;
/// Traffic of the data's device before anything runs.
const REQUESTS_PER_S: f64 = 20.0;

pub(super) fn steal(activity: &Activity) -> Option<Finding> {
    let share = activity.steal_share.filter(|share| *share > STEAL_SHARE)?;
    Some(Finding::new(
        codes::CPU_STEAL,
        Severity::Info,
        "The hypervisor gives this guest's CPU to other guests, so operations take longer than their work. Use \
         another host or a dedicated machine type. To watch it: vmstat 1 (column st)",
        format!("{:.1} % stolen", share * 100.0),
    ))
}

pub(super) fn busy_host(activity: &Activity) -> Option<Finding> {
    let share = activity.busy_share.filter(|share| *share > OTHERS_BUSY)?;
    let busiest = activity.busiest.as_ref().map_or_else(String::new, |busiest| {
        format!("; most by {} (pid {}), {:.2} cores", busiest.name, busiest.pid, busiest.cores)
    });
    Some(codes::BUSY_HOST.finding(
        "Other processes use the CPU before the run starts, and the host's figures would include them. Wait until \
         they end, or find them: top -b -n 1",
        format!("{:.0} % of the CPU busy{busiest}", share * 100.0),
    ))
}

/// The devices of data and log that are not quiet. The lowest device of a chain counts for those above it.
pub(super) fn busy_devices<'a>(activity: &Activity, storages: impl Iterator<Item = &'a Storage>) -> Vec<Finding> {
    let lowest = storages.filter_map(|storage| storage.location.chain.as_ref().ok()?.levels.last()).flatten();
    let lowest: BTreeSet<&String> = lowest.collect();
    // The server's own reads and writes, such as of its catalogue and after a load, are not foreign.
    let of_others = |traffic: &Traffic| {
        let share = 1.0 - (activity.own_bytes_per_s / traffic.bytes_per_s.max(1.0)).min(1.0);
        Traffic {
            device: traffic.device.clone(),
            requests_per_s: traffic.requests_per_s * share,
            bytes_per_s: traffic.bytes_per_s * share,
        }
    };
    let at_data = activity.traffic.iter().filter(|traffic| lowest.contains(&traffic.device));
    let busy = at_data.map(of_others).filter(|traffic| traffic.requests_per_s > REQUESTS_PER_S);
    busy.map(|traffic| {
        codes::BUSY_DEVICE.finding(
            "Other processes use a device of the run before it starts. They share its figures and its bandwidth. Wait \
             until they end, or find them: iotop -b -o -n 1",
            format!(
                "{}: {} requests/s, {}/s",
                traffic.device,
                format_rounded(traffic.requests_per_s),
                format_bytes(traffic.bytes_per_s as u64)
            ),
        )
    })
    .collect()
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
