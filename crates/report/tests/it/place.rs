//! The place of a run and the command that repeats it, in every exported form.

use mindful_analyze::analyze;
use mindful_analyze::compare::provenance::{joined_provenance, provenance};
use mindful_core::contract::description::HostView;
use mindful_core::contract::fact::{CLIENT, DeviceFact, Fact};
use mindful_core::record::run::{Imported, Run};
use mindful_report::repeat::{Repeat, repeat};

use crate::facts::forms;
use crate::forms::on_one_line;
use crate::made::Made;

/// A run on a machine of a cloud.
fn of_cloud() -> Run {
    let mut run = Made::default().run();
    let facts = &mut run.environment;
    for (fact, value) in [
        (Fact::HostName, "db1"),
        (Fact::CloudMachineType, "Standard_E8bds_v5"),
        (Fact::CloudSource, "Azure metadata service"),
        (Fact::CloudZone, "westeurope, zone 2"),
        (Fact::CloudImage, "Debian:debian-12"),
        (Fact::SystemName, "Debian GNU/Linux 12"),
        (Fact::Virtualization, "hyper-v"),
        (Fact::CpuModel, "Xeon 8473C"),
        (Fact::CpuCount, "8"),
        (Fact::CpuMicrocode, "0xffffffff"),
        (Fact::CpuMitigations, "spectre_v2; vulnerable: mds"),
        (Fact::MemoryBytes, "68719476736"),
        (Fact::KernelRelease, "6.1.0-30-cloud-amd64"),
        (Fact::StorageDevice, "dm-0 < sdc1 < sdc"),
        (Fact::StorageFilesystem, "ext4"),
        (Fact::LogDevice, "nvme1n1"),
        (Fact::LogFilesystem, "xfs"),
        (Fact::BinaryHash, "0f343b0931126a20"),
    ] {
        facts.insert(fact.into(), value.to_owned());
    }
    for (fact, value) in [
        (DeviceFact::Model, "Virtual Disk"),
        (DeviceFact::Firmware, "1.0"),
        (DeviceFact::Volume, "data"),
        (DeviceFact::VolumeType, "UltraSSD_LRS"),
        (DeviceFact::VolumeBytes, "1099511627776"),
        (DeviceFact::VolumeIops, "65280"),
        (DeviceFact::VolumeSource, "Azure metadata service"),
    ] {
        facts.insert(fact.key("sdc"), value.to_owned());
    }
    run
}

/// Name and text of each fact.
fn texts(run: &Run) -> Vec<(&'static str, String)> {
    provenance(run).iter().map(|fact| (fact.name, fact.text())).collect()
}

#[test]
fn each_fact_of_a_place_is_stated_with_its_source() {
    let all = texts(&of_cloud());
    let text = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str());
    for (name, value) in [
        ("machine", "db1, Standard_E8bds_v5 (Azure metadata service)"),
        ("client", "the same machine"),
        ("zone", "westeurope, zone 2 (Azure metadata service)"),
        ("image", "Debian:debian-12, Debian GNU/Linux 12 (Azure metadata service, os-release)"),
        ("hypervisor", "hyper-v (sysfs)"),
        ("mitigations", "spectre_v2; vulnerable: mds (sysfs)"),
        ("memory", "64 GiB (/proc/meminfo)"),
        ("kernel", "6.1.0-30-cloud-amd64 (/proc)"),
        ("data device", "dm-0 < sdc1 < sdc, ext4 (mountinfo)"),
        ("log device", "nvme1n1, xfs (mountinfo)"),
        (
            "device model",
            "sdc: model Virtual Disk, firmware 1.0, size not stated; \
             nvme1n1: model not stated, firmware not stated, size not stated (sysfs)",
        ),
        (
            "volume",
            "sdc: volume data, type UltraSSD_LRS, size 1 TiB, provisioned IOPS 65280, throughput not stated \
             (Azure metadata service)",
        ),
        ("mindful", "0.1.0, SHA-256 of the binary 0f343b0931126a20"),
    ] {
        assert_eq!(text(name), Some(value), "{name}");
    }
}

#[test]
fn the_place_is_the_first_table_of_each_form() {
    let known = of_cloud();
    let mut unknown = Made::default().run();
    unknown.environment.clear();
    (unknown.host, unknown.description) = (None, None);
    for run in [known, unknown] {
        for (form, text) in forms(&run).into_iter().filter(|(form, _)| *form != "caption") {
            let (place, measured) = (text.find("where it was measured"), text.find("what was measured"));
            assert!(place.is_some() && place < measured, "{form}");
            assert!(place < text.find("<dl>").or(measured) && place < text.find("<table").or(measured), "{form}");
            // Markdown and pages escape marks, a terminal wraps.
            let plain = text.replace('\\', "").replace("&lt;", "<");
            let plain = on_one_line(&plain);
            for (name, value) in texts(&run) {
                assert!(plain.contains(&value), "{name} in {form}: {value}");
            }
        }
    }
}

#[test]
fn unknown_figures_are_left_out_with_a_reason() {
    let mut run = Made::default().run();
    run.environment.clear();
    run.host = Some(HostView::default());
    let why = "AWS metadata service, IMDSv2: no answer (timeout: global)";
    run.environment.insert(Fact::CloudNotStated.into(), why.to_owned());
    for (fact, value) in [(Fact::HostName, "client7"), (Fact::MachineProduct, "PowerEdge")] {
        run.environment.insert(format!("{CLIENT}{}", fact.name()), value.to_owned());
    }
    let all = texts(&run);
    for (name, value) in [
        ("machine", "db.example"),
        ("client", "client7, PowerEdge (DMI)"),
        ("zone", &format!("not stated ({why})")),
        ("CPU model", "not stated"),
        ("log device", "on the server's host, not visible from here"),
        ("volume", &format!("not stated ({why})")),
    ] {
        assert!(all.contains(&(name, value.to_owned())), "{name}: {all:#?}");
    }
}

#[test]
fn sides_state_each_fact_once() {
    let (a, mut b) = (of_cloud(), of_cloud());
    b.environment.insert(Fact::CloudZone.into(), "westeurope, zone 3".to_owned());
    let facts = joined_provenance([&a, &b, &a]);
    let value = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    assert_eq!(value("zone"), Some("westeurope, zone 2 / westeurope, zone 3"));
    assert_eq!(value("kernel"), Some("6.1.0-30-cloud-amd64"));
}

#[test]
fn a_run_is_repeated_by_two_commands_that_its_kind_takes() {
    let commands = |run: &Run| match repeat(run, &analyze(run).summary) {
        Repeat::Commands([import, measure]) => {
            assert_eq!(import, "mindful import 20261121-013542-k7f.tar.zst");
            measure
        }
        Repeat::OfAnotherTool(what) => what,
    };
    let mut run = Made::default().run();
    assert_eq!(commands(&run), "mindful run --again 20261121-013542-k7f");
    run.targets.push(run.clone());
    assert_eq!(
        commands(&run),
        "mindful run --duration 10s --sessions 4 --target null: --update-pct 0 --warmup 2s --work-unit 64"
    );
    run.head.imported = Some(Imported { what: "AWR report".to_owned(), files: Vec::new() });
    assert_eq!(commands(&run), "AWR report");
}
