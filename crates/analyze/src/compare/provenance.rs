//! Provenance of a run: machine, storage, server and the measuring binary.

use std::collections::BTreeSet;

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::plan::settings::Origin;
use mindful_core::plan::units::{format_bytes, format_counted};
use mindful_core::record::run::{Facts, Run};
use mindful_core::result::comparison::NamedFact;

use super::comparable;

/// The text of an unknown fact.
pub const NOT_STATED: &str = "not stated";

/// A fact of where a run was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    pub name: &'static str,
    pub value: Option<String>,
    /// The source of the value, or why it is unknown.
    pub source: Option<String>,
}

impl Provenance {
    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(NOT_STATED)
    }

    /// Its value and its source: `m7i.large (AWS metadata service)`.
    pub fn text(&self) -> String {
        self.source.as_ref().map_or_else(|| self.value().to_owned(), |source| format!("{} ({source})", self.value()))
    }
}

/// All facts, each whether it is known or not, in one order.
pub fn provenance(run: &Run) -> Vec<Provenance> {
    let facts = &run.environment;
    let local = run.host.as_ref().is_none_or(|host| host.local);
    let service = Fact::CloudSource.find(facts).or_else(|| Fact::CloudNotStated.find(facts)).cloned();
    let row = |name, value: Option<String>, source: Option<&str>| {
        let source = source.filter(|_| value.is_some()).map(str::to_owned);
        Provenance { name, value, source }
    };
    let of_cloud = |name, fact: Fact| Provenance { name, value: fact.find(facts).cloned(), source: service.clone() };
    let image = [Fact::CloudImage, Fact::SystemName].map(|fact| fact.find(facts).cloned());
    let of_image = service.as_ref().map_or_else(|| "os-release".to_owned(), |service| format!("{service}, os-release"));
    let (machine, machine_source) = machine_type(|fact| fact.find(facts));
    vec![
        row("machine", joined([comparable::machine(run), machine]), machine_source.as_deref()),
        client(run, local),
        of_cloud("zone", Fact::CloudZone),
        row("image", joined(image), Some(&of_image)),
        row("hypervisor", Fact::Virtualization.find(facts).cloned(), Some("sysfs")),
        row("CPU model", cpu(facts), Some("/proc/cpuinfo")),
        row("mitigations", Fact::CpuMitigations.find(facts).cloned(), Some("sysfs")),
        row("memory", bytes(Fact::MemoryBytes.find(facts)), Some("/proc/meminfo")),
        row("kernel", Fact::KernelRelease.find(facts).cloned(), Some("/proc")),
        device(facts, "data device", [Fact::StorageDevice, Fact::StorageFilesystem, Fact::StorageDeviceNotSeen]),
        log_device(run, local),
        row("device model", devices(facts), Some("sysfs")),
        volumes(facts),
        version(run),
        row("settings", settings(run), None),
        row("mindful", Some(mindful(run)), None),
    ]
}

/// The facts of several runs of one side, each value once.
pub fn joined_provenance<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<NamedFact> {
    let places: Vec<_> = runs.into_iter().map(place).collect();
    joined_places(places.iter().map(Vec::as_slice))
}

/// Where a run was measured, by name.
pub(crate) fn place(run: &Run) -> Vec<NamedFact> {
    let named = |fact: Provenance| NamedFact { name: fact.name.to_owned(), value: fact.value().to_owned() };
    provenance(run).into_iter().map(named).collect()
}

/// The same of several runs, each value once.
pub(crate) fn joined_places<'a>(places: impl IntoIterator<Item = &'a [NamedFact]>) -> Vec<NamedFact> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for NamedFact { name, value } in places.into_iter().flatten() {
        match all.iter_mut().find(|(known, _)| *known == name.as_str()) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => all.push((name, vec![value.as_str()])),
        }
    }
    all.into_iter().map(|(name, values)| NamedFact { name: name.to_owned(), value: values.join(" / ") }).collect()
}

/// The type of a machine and its source.
fn machine_type<'a>(find: impl Fn(Fact) -> Option<&'a String>) -> (Option<String>, Option<String>) {
    if let Some(machine) = find(Fact::CloudMachineType) {
        return (Some(machine.clone()), find(Fact::CloudSource).cloned());
    }
    let parts = [Fact::MachineVendor, Fact::MachineProduct].map(|fact| find(fact).cloned());
    let words: Vec<String> = parts.into_iter().flatten().collect();
    if words.is_empty() { (None, None) } else { (Some(words.join(" ")), Some("DMI".to_owned())) }
}

fn client(run: &Run, local: bool) -> Provenance {
    let facts = &run.environment;
    if local {
        let value = (!facts.is_empty()).then(|| "the same machine".to_owned());
        return Provenance { name: "client", value, source: None };
    }
    let (machine, source) = machine_type(|fact| fact.find_of_client(facts));
    let value = joined([
        Fact::HostName.find_of_client(facts).cloned(),
        machine,
        Fact::CloudZone.find_of_client(facts).cloned(),
    ]);
    Provenance { name: "client", value, source }
}

fn cpu(facts: &Facts) -> Option<String> {
    let count = |fact: Fact, what: &str| Some(format_counted(fact.find(facts)?.parse::<u64>().ok()?, what));
    let model = Fact::CpuModel.find(facts).cloned()?;
    let microcode = Fact::CpuMicrocode.find(facts).map(|microcode| format!("microcode {microcode}"));
    let microcode = microcode.unwrap_or_else(|| format!("microcode {NOT_STATED}"));
    joined([Some(model), count(Fact::CpuCount, "CPU"), count(Fact::CpuCores, "core"), Some(microcode)])
}

/// The device under a place, from the facts about its device, its file system, and the reason if it is invisible.
fn device(facts: &Facts, name: &'static str, [device, filesystem, unseen]: [Fact; 3]) -> Provenance {
    let value = joined([device, filesystem].map(|fact| fact.find(facts).cloned()));
    let source = unseen.find(facts).map(|why| format!("device not seen: {why}"));
    let source = source.or_else(|| value.as_ref().map(|_| "mountinfo".to_owned()));
    Provenance { name, value, source }
}

fn log_device(run: &Run, local: bool) -> Provenance {
    let stated = |why: &str| Provenance { name: "log device", value: Some(why.to_owned()), source: None };
    if run.description.as_ref().is_some_and(|description| description.files) {
        return stated("none: files have no log");
    }
    if !local {
        return stated("on the server's host, not visible from here");
    }
    device(&run.environment, "log device", [Fact::LogDevice, Fact::LogFilesystem, Fact::LogDeviceNotSeen])
}

/// The levels of block devices below the data, then below the log, the uppermost first.
fn chains(facts: &Facts) -> impl Iterator<Item = Vec<&str>> {
    let known = [Fact::StorageDevice, Fact::LogDevice].into_iter().filter_map(|fact| fact.find(facts));
    known.map(|chain| chain.split(" < ").collect())
}

/// The devices of `levels`, each once.
fn devices_of<'a>(levels: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for device in levels.flat_map(|level| level.split(' ')) {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
}

/// Model, firmware and size of the devices at the bottom of the chains.
fn devices(facts: &Facts) -> Option<String> {
    let described = devices_of(chains(facts).filter_map(|levels| levels.last().copied())).into_iter().map(|device| {
        let stated = |fact: DeviceFact, what: &str| {
            fact.find(device, facts).map_or_else(|| format!("{what} {NOT_STATED}"), |value| format!("{what} {value}"))
        };
        let size = bytes(DeviceFact::SizeBytes.find(device, facts)).unwrap_or_else(|| format!("size {NOT_STATED}"));
        format!(
            "{device}: {}, {}, {size}",
            stated(DeviceFact::Model, "model"),
            stated(DeviceFact::Firmware, "firmware")
        )
    });
    Some(described.collect::<Vec<_>>().join("; ")).filter(|described| !described.is_empty())
}

/// The cloud's own data of the volumes below data and log.
fn volumes(facts: &Facts) -> Provenance {
    let mut sources = BTreeSet::new();
    let mut described = Vec::new();
    for device in devices_of(chains(facts).flatten()) {
        let Some(source) = DeviceFact::VolumeSource.find(device, facts) else { continue };
        sources.insert(source.as_str());
        let number = |fact: DeviceFact| fact.find(device, facts)?.parse::<u64>().ok();
        let stated = |what: &str, value: Option<String>| format!("{what} {}", value.as_deref().unwrap_or(NOT_STATED));
        let parts = [
            stated("volume", DeviceFact::Volume.find(device, facts).cloned()),
            stated("type", DeviceFact::VolumeType.find(device, facts).cloned()),
            stated("size", number(DeviceFact::VolumeBytes).map(format_bytes)),
            stated("provisioned IOPS", number(DeviceFact::VolumeIops).map(|iops| iops.to_string())),
            stated("throughput", number(DeviceFact::VolumeBytesPerS).map(|bytes| format!("{}/s", format_bytes(bytes)))),
        ];
        described.push(format!("{device}: {}", parts.join(", ")));
    }
    let source = sources.into_iter().collect::<Vec<_>>().join("; ");
    Provenance {
        name: "volume",
        value: (!described.is_empty()).then(|| described.join("; ")),
        source: (!source.is_empty()).then_some(source).or_else(|| Fact::CloudNotStated.find(facts).cloned()),
    }
}

fn version(run: &Run) -> Provenance {
    let version = run.description.as_ref().map(|description| description.engine_version.as_str());
    let value = format!("{} {}", run.head.engine, version.unwrap_or_default()).trim_end().to_owned();
    Provenance { name: "version", value: Some(value), source: None }
}

/// The cache, the settings that a comparison must hold fixed, and the user's settings.
fn settings(run: &Run) -> Option<String> {
    let description = run.description.as_ref()?;
    let cache = description.cache_bytes.map(|bytes| format!("database cache {}", format_bytes(bytes)));
    let fixed = description.held_fixed.keys();
    let value =
        |name: &String| description.facts.get(name).map(|value| if value.is_empty() { "''" } else { value.as_str() });
    let fixed = fixed.filter_map(|name| Some(format!("{name}={}", value(name)?)));
    let set = run.head.settings.iter().filter(|(name, setting)| *name == "set" && setting.origin != Origin::Default);
    let set = set.map(|(_, setting)| format!("set {}", setting.value));
    joined(cache.into_iter().chain(fixed).chain(set).map(Some))
}

fn mindful(run: &Run) -> String {
    let build = run.head.mindful_build.as_ref().unwrap_or(&run.head.mindful_version);
    let hash = Fact::BinaryHash.find(&run.environment).map_or(NOT_STATED, String::as_str);
    format!("{build}, SHA-256 of the binary {hash}")
}

fn bytes(text: Option<&String>) -> Option<String> {
    text?.parse().ok().map(format_bytes)
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
