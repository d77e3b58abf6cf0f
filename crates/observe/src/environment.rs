//! Facts of the host that affect a result. Unknown facts are omitted.

mod cloud;
pub(crate) mod processor;
pub(crate) mod storage;
pub(crate) mod system;

use mindful_core::contract::description::HostView;
use mindful_core::contract::fact::{CLIENT, Fact, Kept};
use mindful_core::plan::HostFacts;
use mindful_core::record::run::Facts;
use mindful_host::control_group::Groups;
use mindful_host::{Kernel, binary, cpu, space};

use crate::host::server_pid;
use processor::Processor;
use storage::Storage;
use system::{Memory, put};

/// Facts of this host by name. For a remote server they describe mindful's own host and are named `client.…`.
pub fn environment(host: &HostView, from: HostFacts) -> Facts {
    let kernel = Kernel::default();
    let mut facts = Facts::new();
    system::facts(&kernel, &mut facts);
    facts.extend(Processor::read(&kernel).facts);
    Memory::read(&kernel).facts(&mut facts);
    let cloud = cloud::Machine::read(&kernel, from.is_auto().then_some(cloud::ADDRESS), "/dev/disk".into());
    if let Some(machine) = &cloud {
        machine.facts(&mut facts);
    }
    if !host.local {
        facts = facts.into_iter().map(|(name, value)| (format!("{CLIENT}{name}"), value)).collect();
    }
    put(&mut facts, Fact::BinaryHash, binary::hash());
    put(&mut facts, Fact::CpusAllowed, cpu::usable(&kernel));
    if !host.local {
        return facts;
    }
    if let Some(pid) = server_pid(host) {
        let limits = Groups::of(&kernel, pid).limits();
        put(&mut facts, "cgroup.cpus", limits.cpus.map(|(cpus, _)| cpus));
        put(&mut facts, "cgroup.memory_bytes", limits.memory.map(|(bytes, _)| bytes));
        put(&mut facts, "cgroup.io", limits.io);
    }
    put(&mut facts, Fact::HolesShare, space::holes_share(&host.data_paths));
    for (kept, paths) in [(Kept::Dataset, &host.data_paths), (Kept::Log, &host.log_paths)] {
        let all = Storage::of_paths(&kernel, paths);
        storage::facts(kept, &all, &mut facts);
        let devices: Vec<&str> = all.iter().flat_map(|storage| &storage.devices).map(|d| d.name.as_str()).collect();
        if let Some(machine) = &cloud {
            machine.volume_facts(&kernel, &devices, &mut facts);
        }
    }
    facts
}
