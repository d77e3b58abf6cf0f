//! CPUs: model, topology, frequency.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use mindful_core::contract::fact::Fact;
use mindful_core::record::run::Facts;
use mindful_host::Kernel;
use mindful_host::cpu::parse_list;
use mindful_host::kernel_file::value;

use super::system::put;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Processor {
    pub(crate) cpus: Option<usize>,
    pub(crate) numa_nodes: Option<usize>,
    pub(crate) governors: BTreeSet<String>,
    /// Mean over CPUs, right now.
    pub(crate) frequency_mhz: Option<f64>,
    pub(crate) frequency_max_mhz: Option<f64>,
    /// All facts, these among them.
    pub(crate) facts: Facts,
}

impl Processor {
    pub(crate) fn read(kernel: &Kernel) -> Self {
        let base = kernel.sys.join("devices/system/cpu");
        let online = value(base.join("online")).map(|list| parse_list(&list)).filter(|list| !list.is_empty());
        let folders: Vec<PathBuf> = online.iter().flatten().map(|cpu| base.join(format!("cpu{cpu}"))).collect();
        let distinct =
            |file: &str| folders.iter().filter_map(|cpu| value(cpu.join(file))).collect::<BTreeSet<String>>();
        let of_first = |file: &str| value(folders.first()?.join("cpufreq").join(file));
        let (siblings, packages) =
            (distinct("topology/thread_siblings_list"), distinct("topology/physical_package_id"));
        let count = |found: &BTreeSet<String>| Some(found.len()).filter(|count| *count > 0);
        let cpuinfo = value(kernel.proc.join("cpuinfo")).unwrap_or_default();
        let max_khz = of_first("cpuinfo_max_freq").and_then(|khz| khz.parse::<f64>().ok());
        let mut processor = Self {
            cpus: online.as_ref().map(Vec::len),
            numa_nodes: value(kernel.sys.join("devices/system/node/online")).map(|list| parse_list(&list).len()),
            governors: distinct("cpufreq/scaling_governor"),
            frequency_mhz: mean_frequency(&cpuinfo),
            frequency_max_mhz: max_khz.map(|khz| khz / 1000.0),
            facts: Facts::new(),
        };
        let governors = processor.governors.iter().cloned().collect::<Vec<_>>().join(" ");
        let facts = &mut processor.facts;
        put(facts, Fact::CpuModel, model(&cpuinfo));
        put(facts, Fact::CpuMicrocode, values(&cpuinfo, "microcode").next());
        put(facts, Fact::CpuMitigations, mitigations(&weaknesses(&base.join("vulnerabilities"))));
        put(facts, Fact::CpuCount, processor.cpus);
        put(facts, Fact::CpuCores, count(&siblings));
        put(facts, "cpu.threads_per_core", siblings.iter().map(|list| parse_list(list).len()).max());
        put(facts, Fact::CpuSockets, count(&packages));
        put(facts, "numa.nodes", processor.numa_nodes);
        put(facts, "cpu.governor", Some(governors).filter(|names| !names.is_empty()));
        put(facts, "cpu.frequency_driver", of_first("scaling_driver"));
        put(facts, "cpu.frequency_mhz", processor.frequency_mhz.map(f64::round));
        put(facts, "cpu.frequency_max_mhz", processor.frequency_max_mhz.map(f64::round));
        processor
    }
}

fn values<'a>(cpuinfo: &'a str, key: &'static str) -> impl Iterator<Item = &'a str> {
    let pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    pairs.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

fn weaknesses(folder: &Path) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let stated = |file: DirEntry| Some((file.file_name().into_string().ok()?, value(file.path())?));
    let mut all: Vec<_> = files.filter_map(stated).collect();
    all.sort();
    all
}

/// The vulnerabilities of the CPUs: `spectre_v1 spectre_v2; vulnerable: mds`. `None` if the kernel lists none.
fn mitigations(weaknesses: &[(String, String)]) -> Option<String> {
    let with = |beginning: &str| {
        let names = weaknesses.iter().filter(|(_, state)| state.starts_with(beginning)).map(|(name, _)| name.as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    let (mitigated, open) = (with("Mitigation"), with("Vulnerable"));
    let mitigated = if mitigated.is_empty() { "none".to_owned() } else { mitigated };
    let open = if open.is_empty() { String::new() } else { format!("; vulnerable: {open}") };
    (!weaknesses.is_empty()).then(|| mitigated + &open)
}

/// The model's name, or on architectures without one the numbers of maker and part.
fn model(cpuinfo: &str) -> Option<String> {
    let first = |key| values(cpuinfo, key).next();
    if let Some(name) = first("model name").or_else(|| first("cpu")) {
        return Some(name.to_owned());
    }
    Some(format!("implementer {} part {}", first("CPU implementer")?, first("CPU part")?))
}

fn mean_frequency(cpuinfo: &str) -> Option<f64> {
    let mhz: Vec<f64> = values(cpuinfo, "cpu MHz").filter_map(|mhz| mhz.parse().ok()).collect();
    (!mhz.is_empty()).then(|| mhz.iter().sum::<f64>() / mhz.len() as f64)
}

#[cfg(test)]
mod tests {
    use mindful_conformance::{any_text, write_files};

    use super::*;

    #[test]
    fn a_processor_without_a_name_is_reported_by_its_numbers() {
        let intel = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\ncpu MHz\t\t: 2000.0\n\n\
                     processor\t: 1\ncpu MHz\t\t: 3000.0\n";
        assert_eq!(model(intel).as_deref(), Some("Intel(R) Xeon(R) Processor"));
        assert_eq!(mean_frequency(intel), Some(2500.0));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(model(arm).as_deref(), Some("implementer 0x41 part 0xd40"));
        assert_eq!((model(""), mean_frequency(arm)), (None, None));
    }

    #[test]
    fn mitigated_and_open_weaknesses_are_separate() {
        let sys = tempfile::tempdir().unwrap();
        assert_eq!(mitigations(&weaknesses(sys.path())), None);
        write_files(sys.path(), &[("meltdown", "Not affected\n")]);
        assert_eq!(mitigations(&weaknesses(sys.path())).as_deref(), Some("none"));
        write_files(sys.path(), &[("spectre_v1", "Mitigation: usercopy\n"), ("mds", "Vulnerable: x\n")]);
        assert_eq!(mitigations(&weaknesses(sys.path())).as_deref(), Some("spectre_v1; vulnerable: mds"));
    }

    #[test]
    fn no_text_makes_the_parsers_panic() {
        any_text("(model name|cpu MHz|[0-9]+|:| |\\PC|\n){0,60}", |text| (model(text), mean_frequency(text)));
    }
}
