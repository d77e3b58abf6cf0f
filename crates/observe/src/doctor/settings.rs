//! Checks of the clock, the CPUs and the memory.

use std::path::Path;

use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_host::control_group::Limits;

use super::activity::Activity;
use crate::environment::processor::Processor;
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
        "The kernel compacts memory into huge pages while sessions work, which stalls single operations and takes CPU. \
         Turn it off: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
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
