//! Checks of other activity of the host.

use mindful_core::plan::units;
use mindful_core::result::finding::{OTHERS_BUSY, codes};
use mindful_core::result::{Finding, Severity};

use super::activity::{Activity, Traffic};
use crate::environment::storage::Storage;

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
                units::format_rounded(traffic.requests_per_s),
                units::format_bytes(traffic.bytes_per_s as u64)
            ),
        )
    })
    .collect()
}
