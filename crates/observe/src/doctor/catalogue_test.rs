//! Each finding of the doctor contains the state, its effect on a result, and the command that changes it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mindful_conformance::control_groups;
use mindful_conformance::finding::each_has_a_state_an_effect_and_a_command;
use mindful_core::result::{Finding, Severity};
use mindful_host::Kernel;
use mindful_host::control_group::{Groups, Limits};
use mindful_host::device::{Chain, Location};
use mindful_host::memory::Meminfo;
use mindful_host::mounts;

use super::activity::{Activity, Busiest, Traffic};
use super::{HostState, check};
use crate::environment::processor::Processor;
use crate::environment::storage::{Device, Storage};
use crate::environment::system::Memory;

/// Code, a part of its evidence, and the command in its text.
const REPORTED: [(&str, &str, &str); 30] = [
    ("clock-slow", "clock source hpet", "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("host-setting", "governor powersave, now 800 of 3000 MHz", "cpupower frequency-set -g performance"),
    ("host-setting", "1.50 of 4 CPUs by /cg/db/cpu.max", "echo max > /cg/db/cpu.max, or for a container"),
    ("host-setting", "2 NUMA nodes", "numactl --interleave=all"),
    ("host-setting", "always", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
    ("host-setting", "1 MiB in swap, 3 pages/s right now", "swapoff -a && swapon -a"),
    ("host-setting", "1 GiB by /cg/db/memory.max", "echo max > /cg/db/memory.max, or for a container"),
    ("host-setting", "io.max 8:0 riops=100", "riops=max wiops=max' > io.max"),
    ("data-in-memory", "tmpfs at /data", "--data-dir"),
    ("storage-layer", "log and data on sda", "--log-dir"),
    ("storage-layer", "zfs at /data", "zfs set recordsize=8K"),
    ("storage-layer", "btrfs at /data", "chattr +C FOLDER"),
    ("storage-layer", "overlay at /data", "docker run -v"),
    ("storage-layer", "nfs4 at /data", "lsblk -f"),
    ("barriers-off", "nobarrier at /data", "mount -o remount,barrier MOUNT_POINT"),
    ("storage-layer", "data=journal at /data", "mount -o data=ordered"),
    ("storage-layer", "sync at /data", "mount -o remount,async MOUNT_POINT"),
    ("storage-layer", "compress=zstd:3 at /data", "mount -o remount,compress=none MOUNT_POINT"),
    ("space-low", "10 B of 1000 B free at /data", "fstrim MOUNT_POINT"),
    ("host-setting", "sda: bfq", "echo none > /sys/block/sda/queue/scheduler"),
    ("host-setting", "sda: 8192 KiB", "echo 128 > /sys/block/sda/queue/read_ahead_kb"),
    ("storage-layer", "sda: write back", "echo 'write through' > /sys/block/sda/queue/write_cache"),
    ("storage-layer", "Amazon Elastic Block Store", "dd if=/dev/sda of=/dev/null bs=1M iflag=direct"),
    ("storage-layer", "sda", "--spans outer,inner,mix,full"),
    ("storage-layer", "CRYPT-LUKS2", "cryptsetup benchmark"),
    ("storage-layer", "VDO", "lvchange --compression n"),
    ("storage-layer", "loop of /images/x", "losetup --direct-io=on"),
    ("cpu-steal", "2.0 % stolen", "vmstat 1"),
    ("busy-host", "40 % of the CPU busy; most by backup (pid 7), 0.80 cores", "top -b -n 1"),
    ("busy-device", "sda: 500 requests/s", "iotop -b -o -n 1"),
];

fn device(facts: &[(&'static str, &str)]) -> Device {
    let facts = facts.iter().map(|(name, value)| (*name, (*value).to_owned()));
    Device { name: "sda".to_owned(), facts: facts.collect() }
}

fn storage(fs_type: &str, options: &str, layer: Option<&str>) -> Storage {
    let mount = mounts::parse(&format!("25 1 8:1 / /data {options} - {fs_type} /dev/sda1")).remove(0);
    let memory = (fs_type == "tmpfs").then(|| "tmpfs at /data".to_owned());
    let chain = Chain { levels: vec![vec!["dm-0".to_owned()], vec!["sda".to_owned()]], memory };
    let mut disk = device(&[
        ("model", "Amazon Elastic Block Store"),
        ("scheduler", "bfq"),
        ("read_ahead_kb", "8192"),
        ("write_cache", "write back"),
        ("rotational", "1"),
    ]);
    disk.facts.extend(layer.map(|layer| ("layer", layer.to_owned())));
    let location = Location { path: PathBuf::from("/data/x"), mount: Some(mount), chain: Ok(chain) };
    Storage { location, size_bytes: Some(1_000), free_bytes: Some(10), devices: vec![disk] }
}

fn traffic(device: &str, bytes_per_s: f64) -> Traffic {
    Traffic { device: device.to_owned(), requests_per_s: 500.0, bytes_per_s }
}

/// A host that raises every finding.
fn worst() -> Vec<Finding> {
    let text = |text: &str| Some(text.to_owned());
    let storages = [
        storage("tmpfs", "rw,nobarrier,data=journal,sync,compress=zstd:3", None),
        storage("zfs", "rw", Some("CRYPT-LUKS2")),
        storage("btrfs", "rw", Some("VDO")),
        storage("overlay", "rw", Some("loop of /images/x")),
        storage("nfs4", "rw", None),
    ];
    check(&HostState {
        clock: text("hpet"),
        hypervisor: None,
        processor: Processor {
            cpus: Some(4),
            numa_nodes: Some(2),
            governors: ["powersave".to_owned()].into(),
            frequency_mhz: Some(800.0),
            frequency_max_mhz: Some(3_000.0),
            ..Processor::default()
        },
        memory: Memory {
            thp: text("always"),
            meminfo: Meminfo { swap_used_bytes: Some(1 << 20), ..Meminfo::default() },
            ..Memory::default()
        },
        limits: Limits {
            cpus: Some((1.5, "/cg/db/cpu.max".into())),
            memory: Some((1 << 30, "/cg/db/memory.max".into())),
            io: text("io.max 8:0 riops=100"),
        },
        storages: storages.into(),
        of_log: Vec::new(),
        log_apart: true,
        activity: Activity {
            busy_share: Some(0.4),
            steal_share: Some(0.02),
            swapped_per_s: Some(3.0),
            traffic: vec![traffic("sda", 4e6)],
            own_bytes_per_s: 0.0,
            busiest: Some(Busiest { pid: 7, name: "backup".to_owned(), cores: 0.8 }),
        },
    })
}

#[test]
fn each_finding_has_a_state_an_effect_and_a_command() {
    let findings = worst();
    each_has_a_state_an_effect_and_a_command(&findings, &REPORTED);
    let expected: BTreeSet<_> = REPORTED.iter().map(|(code, ..)| *code).collect();
    let found: BTreeSet<_> = findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(expected, found, "each code of a host has its line above");
    let busy_devices = findings.iter().filter(|finding| finding.code == "busy-device");
    assert_eq!(busy_devices.count(), 1, "a device below several file systems is named once");
    let in_memory = findings.iter().find(|finding| finding.code == "data-in-memory");
    assert_eq!(in_memory.unwrap().severity, Severity::Warning);
}

/// A host with `device` below its data, and with each figure as far as it may go without a finding.
fn quiet(hypervisor: Option<&str>, device: &Device) -> HostState {
    let text = |text: &str| Some(text.to_owned());
    let place = |fs_type: &str| Storage {
        free_bytes: Some(50),
        devices: vec![device.clone()],
        ..storage(fs_type, "rw,relatime,discard,compress=none,barrier=1", None)
    };
    let mut log = place("xfs");
    log.location.chain = Ok(Chain { levels: vec![vec!["sdb".to_owned()]], memory: None });
    HostState {
        clock: text("tsc"),
        hypervisor: hypervisor.map(str::to_owned),
        processor: Processor {
            cpus: Some(4),
            numa_nodes: Some(1),
            governors: ["performance".to_owned()].into(),
            ..Processor::default()
        },
        memory: Memory {
            thp: text("madvise"),
            meminfo: Meminfo { swap_used_bytes: Some(0), ..Meminfo::default() },
            ..Memory::default()
        },
        limits: Limits { cpus: Some((4.0, "/cg/cpu.max".into())), ..Limits::default() },
        storages: vec![place("ext4"), place("xfs")],
        of_log: vec![log],
        log_apart: true,
        activity: Activity {
            busy_share: Some(0.05),
            steal_share: Some(0.01),
            swapped_per_s: Some(3.0),
            // The server's own traffic, and that of a device above the lowest and of one without data.
            traffic: vec![traffic("sda", 4e6), traffic("dm-0", 8e6), traffic("sdz", 8e6)],
            own_bytes_per_s: 3.9e6,
            busiest: None,
        },
    }
}

#[test]
fn a_quiet_host_has_no_finding() {
    let turning =
        [("scheduler", "none"), ("read_ahead_kb", "1024"), ("write_cache", "write through"), ("rotational", "1")];
    // The disk below a guest or a layer is unknown.
    let layered = device(&[&turning[..], &[("layer", "LVM")]].concat());
    let turning = device(&turning);
    for (hypervisor, device) in [(Some("kvm"), &turning), (None, &layered)] {
        assert_eq!(check(&quiet(hypervisor, device)), []);
    }
    assert_eq!(check(&quiet(None, &turning)).len(), 1);
}

/// The limits of version 1 have separate files and other words.
#[test]
fn a_limit_of_version_1_is_reported_with_the_line_of_version_1() {
    let root = tempfile::tempdir().unwrap();
    let kernel = Kernel { proc: control_groups::version_1(root.path()), ..Kernel::default() };
    let by_group = Groups::of(&kernel, 42).limits();
    let limits = Limits {
        cpus: Some((1.5, "/cg/cpu/a/cpu.cfs_quota_us".into())),
        io: Some("blkio.throttle.read_iops_device 8:0 100".to_owned()),
        ..by_group
    };
    let findings = check(&HostState { limits, ..HostState::default() });
    let memory = format!("echo -1 > {}/memory/memory.limit_in_bytes", root.path().display());
    for (code, line) in [
        ("host-setting", memory.as_str()),
        ("host-setting", "echo -1 > /cg/cpu/a/cpu.cfs_quota_us"),
        ("host-setting", "echo 'MAJOR:MINOR 0' > blkio.throttle.read_iops_device"),
    ] {
        let found = |finding: &&Finding| finding.code == code && finding.text.contains(line);
        let found = findings.iter().find(found).unwrap_or_else(|| panic!("{line}: {findings:#?}"));
        assert!(!found.text.contains("max >"), "{found:?}");
    }
}
