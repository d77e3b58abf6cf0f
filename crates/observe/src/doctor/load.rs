//! Checks of clock, CPU and memory, and of other activity of the host.

use std::path::Path;

use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::result::finding::{OTHERS_BUSY, codes};
use mindful_core::result::{Finding, Severity};
use mindful_host::control_group::Limits;

use super::activity::{Activity, Traffic};
use crate::environment::processor::Processor;
use crate::environment::storage::Storage;
use crate::environment::system::Memory;

/// Clocks that are read outside the kernel in some tens of nanoseconds.
const FAST_CLOCKS: [&str; 6] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource"];

pub(super) fn clock(source: Option<&str>) -> Option<Finding> {
    let source = source.filter(|source| !FAST_CLOCKS.contains(source))?;
    Some(codes::CLOCK_SLOW.finding(
        "Reading this clock takes a system call, which slows each operation and each I/O and lengthens their \
         measured times. If the CPU's own clock is reliable: echo tsc > \
         /sys/devices/system/clocksource/clocksource0/current_clocksource",
        format!("clock source {source}"),
    ))
}

pub(super) fn governor(processor: &Processor) -> Option<Finding> {
    let slow: Vec<&str> =
        processor.governors.iter().map(String::as_str).filter(|name| *name != "performance").collect();
    if slow.is_empty() {
        return None;
    }
    let frequency = match (processor.frequency_mhz, processor.frequency_max_mhz) {
        (Some(now), Some(max)) => format!(", now {now:.0} of {max:.0} MHz"),
        _ => String::new(),
    };
    Some(codes::HOST_SETTING.finding(
        "The CPUs change their frequency with the load, so CPU per operation and latency at low load differ from \
         those at full load. To fix the frequency: cpupower frequency-set -g performance",
        format!("governor {}{frequency}", slow.join(" ")),
    ))
}

pub(super) fn cpu_limit(limits: &Limits, processor: &Processor) -> Option<Finding> {
    let (limit, file) = limits.cpus.as_ref()?;
    if processor.cpus.is_some_and(|cpus| *limit >= cpus as f64) {
        return None;
    }
    let of = processor.cpus.map_or_else(String::new, |cpus| format!(" of {cpus} CPUs"));
    Some(codes::HOST_SETTING.finding(
        format!(
            "A control group limits the server's CPU. The server works in bursts and stops for the rest of each \
             period, which appears as latency. On the host: {}, or for a container: docker update --cpus N",
            without_limit(file)
        ),
        format!("{limit:.2}{of} by {}", file.display()),
    ))
}

pub(super) fn numa(processor: &Processor) -> Option<Finding> {
    let nodes = processor.numa_nodes.filter(|nodes| *nodes > 1)?;
    Some(codes::HOST_SETTING.finding(
        "Memory of another node is slower, so cached reads depend on where sessions and cache are placed. Start the \
         server with: numactl --interleave=all",
        format!("{nodes} NUMA nodes"),
    ))
}

/// The command that removes the limit in the `file` of a control group; version 1 has no word for "none".
fn without_limit(file: &Path) -> String {
    let version_1 = file.ends_with("cpu.cfs_quota_us") || file.ends_with("memory.limit_in_bytes");
    format!("echo {} > {}", if version_1 { "-1" } else { "max" }, file.display())
}

pub(super) fn thp(memory: &Memory) -> Option<Finding> {
    let always = memory.thp.as_deref().filter(|thp| *thp == "always")?;
    Some(codes::HOST_SETTING.finding(
        "The kernel compacts memory into huge pages while sessions work, which stalls \
                                      single operations and takes CPU. Turn it off: echo madvise > \
                                      /sys/kernel/mm/transparent_hugepage/enabled",
        format!("transparent huge pages: {always}"),
    ))
}

pub(super) fn swap(memory: &Memory, activity: &Activity) -> Option<Finding> {
    let used = memory.meminfo.swap_used_bytes.filter(|used| *used > 0)?;
    let now = activity
        .swapped_per_s
        .map_or_else(String::new, |pages| format!(", {} pages/s right now", format_rounded(pages)));
    Some(codes::HOST_SETTING.finding(
        "Memory is swapped out. If pages of the database's cache are swapped out, a cached read waits for storage. \
         Free memory, then: swapoff -a && swapon -a",
        format!("{} in swap{now}", format_bytes(used)),
    ))
}

pub(super) fn limit(limits: &Limits) -> Option<Finding> {
    let (bytes, file) = limits.memory.as_ref()?;
    Some(codes::HOST_SETTING.finding(
        format!(
            "A control group limits the server's memory, including the page cache. Compare the dataset with this \
             limit, not with the host's memory. To remove it, on the host: {}, or for a container: docker update \
             --memory SIZE",
            without_limit(file)
        ),
        format!("{} by {}", format_bytes(*bytes), file.display()),
    ))
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
    let mut lowest: Vec<&str> = storages
        .filter_map(|storage| storage.location.chain.as_ref().ok()?.levels.last())
        .flatten()
        .map(String::as_str)
        .collect();
    lowest.sort_unstable();
    lowest.dedup();
    // The server's own reads and writes, such as of its catalogue and after a load, are not foreign.
    let of_others = |traffic: &Traffic| {
        let share = 1.0 - (activity.own_bytes_per_s / traffic.bytes_per_s.max(1.0)).min(1.0);
        Traffic {
            device: traffic.device.clone(),
            requests_per_s: traffic.requests_per_s * share,
            bytes_per_s: traffic.bytes_per_s * share,
        }
    };
    let at_data = activity.traffic.iter().filter(|traffic| lowest.contains(&traffic.device.as_str()));
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
