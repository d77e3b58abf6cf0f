//! What the host is: the facts a result depends on. What cannot be found is left out.

pub(crate) mod memory;
pub(crate) mod processor;
pub(crate) mod storage;
pub(crate) mod system;

use mindful_core::contract::description::HostView;
use mindful_core::contract::fact::{Fact, Kept};
use mindful_core::record::run::Facts;
use mindful_host::control_group::{Groups, Limits};
use mindful_host::{Kernel, cpu, space};

use crate::host::server_pid;
use memory::Memory;
use processor::Processor;
use storage::Storage;
use system::put;

/// Facts of this host by name. For a server that runs elsewhere they are those of mindful's own host, named `client.…`.
pub fn environment(host: &HostView) -> Facts {
    let kernel = Kernel::default();
    let mut facts = Facts::new();
    system::facts(&kernel, &mut facts);
    Processor::read(&kernel).facts(&mut facts);
    Memory::read(&kernel).facts(&mut facts);
    if !host.local {
        facts = facts.into_iter().map(|(name, value)| (format!("client.{name}"), value)).collect();
    }
    put(&mut facts, Fact::CpusAllowed, cpu::usable(&kernel));
    if !host.local {
        return facts;
    }
    if let Some(pid) = server_pid(host) {
        limits_facts(&Groups::of(&kernel, pid).limits(), &mut facts);
    }
    put(&mut facts, Fact::HolesShare, space::holes_share(&host.data_paths));
    storage::facts(Kept::Dataset, &Storage::of_paths(&kernel, &host.data_paths), &mut facts);
    storage::facts(Kept::Log, &Storage::of_paths(&kernel, &host.log_paths), &mut facts);
    facts
}

fn limits_facts(limits: &Limits, facts: &mut Facts) {
    put(facts, "cgroup.cpus", limits.cpus);
    put(facts, "cgroup.memory_bytes", limits.memory_bytes);
    put(facts, "cgroup.io", limits.io.as_ref());
}
