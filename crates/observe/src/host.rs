//! Which sources of this host describe the system under test.

use std::fmt::Display;

use mindful_core::contract::description::HostView;
use mindful_core::contract::metric::{Counter, HostSource, Sampler};
use mindful_core::contract::session::SESSION_THREAD;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_host::device::locate;
use mindful_host::mounts::Mount;
use mindful_host::{Kernel, process, session_threads};

use crate::block_trace;
use crate::cgroup::cgroup;
use crate::client::{client, settled_client};
use crate::cpu::host_cpu;
use crate::data_devices::DataDevices;
use crate::diskstats::diskstats;
use crate::named_values::{meminfo, vmstat};
use crate::neighbours::Neighbours;
use crate::network::network;
use crate::pressure::pressure;
use crate::processes::Processes;
use crate::volume_caps::volume_caps;

/// The samplers of this host for a system under test, and findings about counters that are invisible here and not
/// provided by `of_target`. For a remote system only mindful's own CPU and the network of its host are visible. Single
/// requests at the device are timed only `with_trace`.
pub fn host_samplers(
    host: &HostView,
    with_trace: bool,
    of_target: &[Box<dyn Sampler>],
) -> (Vec<Box<dyn Sampler>>, Vec<Finding>) {
    let kernel = Kernel::default();
    let mut found = HostSamplers::default();
    if host.local {
        let device = found.devices(&kernel, host);
        found.processes(&kernel, host, teller(of_target, Counter::ServerCpuUs));
        if device && with_trace {
            found.trace(&kernel, host);
        }
        found.sources(&kernel);
        if host.in_process {
            let proc = kernel.clone();
            found.samplers.push(session_threads(kernel.clone(), move || own_session_threads(&proc)));
        }
        found.samplers.extend(server_pid(host).and_then(|pid| cgroup(&kernel, pid)));
    } else {
        let text = match teller(of_target, Counter::HostCpuBusyUs) {
            Some(source) => format!(
                "The server runs on another host. Its processes and its device are unknown; its CPU is reported by {source}."
            ),
            None => "The server runs on another host. Its CPU, its processes and its device are unknown.".to_owned(),
        };
        found.unseen("host", text, "the server's address does not belong to this host");
    }
    found.samplers.extend([client(&kernel), settled_client()]);
    found.samplers.extend(network(&kernel));
    (found.samplers, found.findings)
}

/// The threads of this process that do the sessions' work, by their names.
fn own_session_threads(kernel: &Kernel) -> Vec<u32> {
    let all = process::threads(kernel, std::process::id()).unwrap_or_default().into_iter();
    let is_session = |id: &u32| process::name(kernel, *id).is_some_and(|name| name.starts_with(SESSION_THREAD));
    all.filter(is_session).collect()
}

fn teller(samplers: &[Box<dyn Sampler>], counter: Counter) -> Option<&str> {
    let tells = |sampler: &&dyn Sampler| sampler.metrics().iter().any(|metric| metric.name == counter);
    samplers.iter().map(AsRef::as_ref).find(tells).map(Sampler::name)
}

pub(crate) fn server_pid(host: &HostView) -> Option<u32> {
    if host.in_process { Some(std::process::id()) } else { host.server_pid }
}

#[derive(Default)]
struct HostSamplers {
    samplers: Vec<Box<dyn Sampler>>,
    findings: Vec<Finding>,
}

impl HostSamplers {
    /// Adds a finding; the evidence names `source`, the invisible one.
    fn unseen(&mut self, source: &str, text: impl Into<String>, reason: impl Display) {
        self.findings.push(codes::NOT_SEEN.finding(text, format!("{source}: {reason}")));
    }

    /// The device comes first: its counters are compared with everybody else's. Whether one holds the data.
    fn devices(&mut self, kernel: &Kernel, host: &HostView) -> bool {
        let text = std::fs::read_to_string(kernel.proc.join("diskstats")).unwrap_or_default();
        let devices = DataDevices::find(kernel, &host.data_paths, &host.log_paths, &text);
        for (path, reason) in &devices.unseen {
            let text = format!(
                "The counters of the device that holds {} cannot be read, so its figures are unknown.",
                path.display()
            );
            self.unseen("device", text, reason);
        }
        if host.data_paths.is_empty() && !host.in_process {
            let text = "The server's data directory is unknown, so the figures of its device are unknown.";
            self.unseen("device", text, "the server does not show its data directory to this role");
        }
        if devices.counted.all.is_empty() {
            return false;
        }
        let (caps, why_not) = volume_caps(kernel, &devices.counted.all);
        self.samplers.extend(caps);
        if !why_not.is_empty() {
            let text = "It is unknown whether a limit of the volume or of the instance was reached. Only root \
                        (CAP_SYS_ADMIN) can ask the volume, through its device in /dev.";
            self.unseen("volume limits", text, why_not.join("; "));
        }
        let holds_data = !devices.counted.read.is_empty();
        match diskstats(kernel, devices.counted) {
            Ok(diskstats) => self.samplers.push(diskstats),
            Err(error) => {
                let text = "The counters of the device cannot be read, so its figures are unknown.";
                self.unseen("device", text, format_args!("/proc/diskstats: {error}"));
            }
        }
        holds_data
    }

    /// After the processes: reading it takes so long that their counters would be late.
    fn trace(&mut self, kernel: &Kernel, host: &HostView) {
        match block_trace::open(kernel, host) {
            Ok(trace) => self.samplers.extend(trace.map(|trace| Box::new(trace) as Box<dyn Sampler>)),
            Err(reason) => {
                let text = "Single requests at the device cannot be timed, so only the mean of their latency is known.";
                self.unseen("device latency", text, reason);
            }
        }
    }

    /// `reported`: the server's own source of its CPU, if it has one.
    fn processes(&mut self, kernel: &Kernel, host: &HostView, cpu_source: Option<&str>) {
        let Some(root) = server_pid(host) else {
            let text = match cpu_source {
                Some(source) => format!(
                    "The server's processes are unknown, and so is their share of the device. Their CPU is reported by \
                     {source}."
                ),
                None => {
                    "The server's processes are unknown, and so are their CPU and their share of the device.".to_owned()
                }
            };
            return self.unseen("processes", text, "the server's process id is unknown");
        };
        let mut mounts = host.data_paths.iter().filter_map(|path| locate(kernel, path).mount);
        let served = mounts.find(Mount::is_served_by_a_process);
        match Processes::open(kernel, root, served.is_none()) {
            Ok(processes) => {
                if let Some(mount) = served {
                    self.unseen(
                        "process I/O",
                        "A process serves the file system of the data, and the kernel does not count its I/O for the server. \
                         What the server read from storage and from the page cache is unknown.",
                        format_args!("{} at {}", mount.fs_type, mount.point.display()),
                    );
                } else if !processes.sees_io() {
                    self.unseen(
                        "process I/O",
                        "The I/O counters of the server's processes cannot be read, so page cache and storage cannot be \
                         distinguished. Run mindful as the server's user or as root. In a container, root needs \
                         --cap-add SYS_PTRACE, or run the container as one plain user (--user 1000).",
                        "permission denied on /proc/PID/io",
                    );
                }
                self.samplers.push(Box::new(processes));
                let neighbours = Neighbours::open(kernel, host.server_pid.filter(|_| !host.in_process));
                self.samplers.extend(neighbours.map(|neighbours| Box::new(neighbours) as Box<dyn Sampler>));
            }
            Err(error) => {
                self.unseen("processes", "The counters of the server's processes cannot be read.", error);
            }
        }
    }

    fn sources(&mut self, kernel: &Kernel) {
        let sources = [
            (HostSource::Stat, host_cpu(kernel)),
            (HostSource::Vmstat, vmstat(kernel)),
            (HostSource::Meminfo, meminfo(kernel)),
        ];
        for (source, opened) in sources {
            match opened {
                Ok(sampler) => self.samplers.push(sampler),
                Err(error) => {
                    let file = format!("/proc/{}", source.name());
                    self.unseen(&file, format!("{file} cannot be read, so its figures are unknown."), error);
                }
            }
        }
        // A kernel may keep no pressure figures; no finding relies on them.
        self.samplers.extend(pressure(kernel));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_alone_are_of_the_system_itself() {
        let own = HostView { local: true, server_pid: Some(std::process::id()), ..HostView::default() };
        let (samplers, _) = host_samplers(&own, false, &[]);
        let names: Vec<String> = samplers.iter().map(|sampler| sampler.name().to_owned()).collect();
        let of_system: Vec<&String> = names.iter().filter(|name| !HostSource::is_of_whole_host(name)).collect();
        assert_eq!(of_system, [HostSource::Processes.name()], "{names:?}");
    }
}
