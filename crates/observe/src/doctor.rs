//! Checks of this host, before anything runs, for conditions that would affect a result. They change nothing.
//!
//! Every finding states the condition, its effect on the result, and the remedy. A warning means that a figure would be
//! misleading; conditions that only make a host slower or noisier are information.

mod activity;
#[cfg(test)]
mod catalogue_test;
mod settings;
mod storage;

use std::time::Duration;

use mindful_core::contract::description::HostView;
use mindful_core::result::Finding;
use mindful_host::control_group::{Groups, Limits};
use mindful_host::{Kernel, cpu};

use crate::environment::processor::Processor;
use crate::environment::storage::Storage;
use crate::environment::system::{Memory, hypervisor};
use crate::host::server_pid;
use activity::{Activity, Snapshot};

const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Default)]
pub(crate) struct HostState {
    pub(crate) clock: Option<String>,
    pub(crate) hypervisor: Option<String>,
    pub(crate) processor: Processor,
    pub(crate) memory: Memory,
    pub(crate) limits: Limits,
    pub(crate) storages: Vec<Storage>,
    /// Storage of the log, if it is not among that of the data.
    pub(crate) of_log: Vec<Storage>,
    /// Whether the log has a separate folder.
    pub(crate) log_apart: bool,
    pub(crate) activity: Activity,
}

impl HostState {
    fn all_storages(&self) -> impl Iterator<Item = &Storage> {
        self.storages.iter().chain(&self.of_log)
    }
}

/// Most samples of a busy device below a private server, which may still be settling.
const LOOKS: u32 = 4;

/// Samples the host for half a second, or until it is quiet, and reports conditions that would affect a result. For a
/// remote server it reports only whether this host is free to drive it.
pub fn host_checks(host: &HostView) -> Vec<Finding> {
    let kernel = Kernel::default();
    let server = server_pid(host).filter(|_| host.local);
    let storages = Storage::of_paths(&kernel, &host.data_paths);
    let of_log = of_log(&kernel, host, &storages);
    let mut before = Snapshot::take(&kernel, server);
    let mut activity = Activity::default();
    // Writes of a new private server may still be on their way to the device.
    let looks = if host.private || host.in_process { LOOKS } else { 1 };
    for _ in 0..looks {
        std::thread::sleep(LOOK);
        let after = Snapshot::take(&kernel, server);
        activity = Activity::between(&before, &after);
        if activity::busy_devices(&activity, storages.iter().chain(&of_log)).is_empty() {
            break;
        }
        before = after;
    }
    if !host.local {
        return activity::busy_host(&activity).into_iter().collect();
    }
    let pid = server.unwrap_or_else(std::process::id);
    check(&HostState {
        clock: cpu::clock_source(&kernel),
        hypervisor: hypervisor(&kernel),
        processor: Processor::read(&kernel),
        memory: Memory::read(&kernel),
        limits: Groups::of(&kernel, pid).limits(),
        of_log,
        log_apart: host.log_apart,
        storages,
        activity,
    })
}

/// The file systems of the log that do not hold data.
fn of_log(kernel: &Kernel, host: &HostView, of_data: &[Storage]) -> Vec<Storage> {
    let all = Storage::of_paths(kernel, &host.log_paths).into_iter();
    all.filter(|storage| of_data.iter().all(|data| !data.is_same(&storage.location))).collect()
}

/// A log that does not reach storage.
pub fn log_in_memory(host: &HostView) -> Option<Finding> {
    let all = Storage::of_paths(&Kernel::default(), if host.local { &host.log_paths } else { &[] });
    all.iter().find_map(storage::log_in_memory)
}

fn check(state: &HostState) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(settings::clock(state.clock.as_deref()));
    findings.extend(settings::governor(&state.processor));
    findings.extend(settings::cpu_limit(&state.limits, &state.processor));
    findings.extend(settings::numa(&state.processor));
    findings.extend(settings::thp(&state.memory));
    findings.extend(settings::swap(&state.memory, &state.activity));
    findings.extend(settings::limit(&state.limits));
    findings.extend(state.limits.io.as_deref().map(storage::io_limit));
    findings.extend(state.storages.iter().filter_map(storage::memory));
    if state.log_apart {
        findings.extend(storage::log_beside_data(&state.storages, &state.of_log));
    }
    for storage in state.all_storages() {
        findings.extend(storage::file_system(storage));
        findings.extend(storage::mount_options(storage));
        findings.extend(storage::space(storage));
    }
    let mut seen = Vec::new();
    for device in state.all_storages().flat_map(|storage| &storage.devices) {
        if !seen.contains(&device) {
            seen.push(device);
            findings.extend(storage::device(device, state.hypervisor.is_some()));
        }
    }
    findings.extend(activity::steal(&state.activity));
    findings.extend(activity::busy_host(&state.activity));
    findings.extend(activity::busy_devices(&state.activity, state.all_storages()));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_host_about_which_nothing_is_known_nothing_is_said() {
        assert_eq!(check(&HostState::default()), []);
    }
}
