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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mindful_host::device::{Chain, Location};

    use super::*;
    use crate::doctor::activity::Busiest;

    #[test]
    fn a_quiet_host_is_no_finding_and_a_busy_one_names_the_busiest() {
        let busiest = Busiest { pid: 7, name: "backup".to_owned(), cores: 0.8 };
        let activity = Activity { busy_share: Some(0.4), busiest: Some(busiest), ..Activity::default() };
        assert_eq!(busy_host(&activity).unwrap().evidence, "40 % of the CPU busy; most by backup (pid 7), 0.80 cores");
        assert_eq!(busy_host(&Activity { busy_share: Some(0.05), ..activity }), None);
    }

    #[test]
    fn stolen_time_above_one_percent_is_reported() {
        let share = |share| Activity { steal_share: Some(share), ..Activity::default() };
        assert_eq!(
            (steal(&share(0.01)), steal(&share(0.02)).map(|finding| finding.code)),
            (None, Some("cpu-steal".into()))
        );
    }

    #[test]
    fn only_the_datas_devices_count_and_each_once() {
        let chain = |levels: &[&str]| {
            let levels = levels.iter().map(|name| vec![(*name).to_owned()]).collect();
            Chain { levels, memory: None }
        };
        let storage = |levels: &[&str]| Storage {
            location: Location { path: PathBuf::from("/data"), mount: None, chain: Ok(chain(levels)) },
            size_bytes: None,
            free_bytes: None,
            devices: Vec::new(),
        };
        let traffic = |device: &str| Traffic { device: device.to_owned(), requests_per_s: 500.0, bytes_per_s: 4e6 };
        let activity =
            Activity { traffic: vec![traffic("dm-0"), traffic("sda"), traffic("sdz")], ..Activity::default() };
        let findings = busy_devices(&activity, [storage(&["dm-0", "sda"]), storage(&["sda"])].iter());
        assert_eq!(findings.len(), 1);
        assert!(findings[0].evidence.starts_with("sda: 500 requests/s"), "{}", findings[0].evidence);
        let own = Activity { own_bytes_per_s: 3.9e6, ..activity };
        assert_eq!(busy_devices(&own, [storage(&["dm-0", "sda"])].iter()), [], "the server itself is no neighbour");
    }
}
