//! CPU, memory and device of a server that runs elsewhere, as its Prometheus node_exporter reports them.

mod http;
mod prometheus;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use self::http::{Address, Client};
use self::prometheus::{Sample, parse};

/// Requested collectors at every boundary. An exporter without one of them refuses the request, and then all are
/// requested.
const COLLECTORS: [&str; 4] = ["cpu", "diskstats", "vmstat", "meminfo"];
const US_PER_S: f64 = 1e6;

/// Counters of the device: name in the exporter, shared name, factor, unit, meaning.
const DEVICE: [(&str, Counter, f64, &str, &str); 6] = [
    ("node_disk_reads_completed_total", Counter::DeviceReads, 1.0, "1", "read requests the data's devices completed"),
    ("node_disk_read_bytes_total", Counter::DeviceReadBytes, 1.0, "bytes", "bytes the data's devices read"),
    ("node_disk_read_time_seconds_total", Counter::DeviceReadTimeUs, US_PER_S, "us", "time reads took at the devices"),
    (
        "node_disk_writes_completed_total",
        Counter::DeviceWrites,
        1.0,
        "1",
        "write requests the data's devices completed",
    ),
    ("node_disk_written_bytes_total", Counter::DeviceWriteBytes, 1.0, "bytes", "bytes the data's devices wrote"),
    (
        "node_disk_io_time_weighted_seconds_total",
        Counter::DeviceQueueTimeUs,
        US_PER_S,
        "us",
        "time all requests took together; by elapsed time: the queue",
    ),
];

/// The sampler of a server's node_exporter, with findings on missing metrics. The device is the one with the file
/// system of `data_paths` on the server, or the one named after `#` in the URL: `http://db:9100#nvme1n1`. A requested
/// `stop` ends the wait for it.
///
/// # Errors
/// The URL is invalid, or its answer has no figures of a node_exporter.
pub fn node_exporter(url: &str, data_paths: &[PathBuf], stop: &StopFlag) -> Result<(Box<dyn Sampler>, Vec<Finding>)> {
    let address = Address::parse(url)?;
    let client = Client::new(&address, stop);
    let (status, text) = client.get(&address, &address.target)?;
    let samples = parse(&text);
    if status != 200 || !samples.iter().any(|sample| sample.name == "node_cpu_seconds_total") {
        return Err(Error::target(
            format!("{}{} is not a node_exporter (status {status})", address.origin, address.target),
            "give the address of the exporter on the database's host",
        ));
    }
    let (devices, findings) = match devices(&samples, address.fragment.as_deref(), data_paths) {
        Ok(devices) => (devices, Vec::new()),
        Err(reason) => (Vec::new(), vec![unseen(&reason)]),
    };
    let joint = if address.target.contains('?') { '&' } else { '?' };
    let filter = COLLECTORS.map(|name| format!("collect[]={name}")).join("&");
    let filtered = format!("{}{joint}{filter}", address.target);
    let filters = client.get(&address, &filtered).is_ok_and(|(status, _)| status == 200);
    let target = if filters { filtered } else { address.target.clone() };
    let source = SampledSource::new(HostSource::NodeExporter.name(), metrics(&devices));
    let exporter = source.read_by(move || {
        let (status, text) = client.get(&address, &target)?;
        if status != 200 {
            let what = format!("{} answers with status {status}", address.origin);
            return Err(Error::run(what, "look into the exporter's log"));
        }
        Ok(values(&parse(&text), &devices))
    });
    Ok((exporter, findings))
}

fn unseen(reason: &str) -> Finding {
    codes::NOT_SEEN.finding(
        "The device that holds the data is unknown, so its figures are unknown. Append its name to the exporter's address \
         after a #: http://HOST:9100#nvme1n1",
        format!("device: {reason}"),
    )
}

/// The devices that hold the data, as the exporter names them.
fn devices(samples: &[Sample], named: Option<&str>, paths: &[PathBuf]) -> Result<Vec<String>, String> {
    let counted =
        |device: &str| samples.iter().any(|sample| sample.name == DEVICE[0].0 && sample.label("device") == device);
    if let Some(name) = named {
        let unknown = || format!("the exporter has no device {name}");
        return if counted(name) { Ok(vec![name.to_owned()]) } else { Err(unknown()) };
    }
    let device_of = |path: &PathBuf| {
        let source = file_system_of(samples, path).ok_or_else(|| format!("no file system holds {}", path.display()))?;
        let own = kernel_name(samples, &source);
        let device = [own.as_str(), whole_disk(&own)].into_iter().find(|name| counted(name));
        device.map(str::to_owned).ok_or_else(|| format!("{source} has no counters"))
    };
    let devices = Vec::from_iter(paths.iter().map(device_of).collect::<Result<BTreeSet<_>, _>>()?);
    let unknown = || "the server does not show its data directory to this role".to_owned();
    if devices.is_empty() { Err(unknown()) } else { Ok(devices) }
}

/// The device of the deepest mount point above a path.
fn file_system_of(samples: &[Sample], path: &Path) -> Option<String> {
    let sizes = samples.iter().filter(|sample| sample.name == "node_filesystem_size_bytes");
    let holding = sizes.filter(|sample| path.starts_with(sample.label("mountpoint")));
    let deepest = holding.max_by_key(|sample| Path::new(sample.label("mountpoint")).components().count())?;
    Some(deepest.label("device").to_owned())
}

/// `/dev/sda1` is `sda1`; the device mapper's `vg-data` has a kernel name with `dm-`.
fn kernel_name(samples: &[Sample], source: &str) -> String {
    let name = source.rsplit('/').next().unwrap_or(source);
    let mapped = samples
        .iter()
        .find(|sample| sample.name == "node_disk_device_mapper_info" && sample.label("name") == name)
        .map(|sample| sample.label("device"));
    mapped.unwrap_or(name).to_owned()
}

/// An exporter leaves partitions out: `nvme0n1p2` is counted as `nvme0n1`, `sda2` as `sda`.
fn whole_disk(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ if name.starts_with("nvme") || name.starts_with("mmcblk") => name,
        _ => stem,
    }
}

fn metrics(devices: &[String]) -> Vec<Metric> {
    let mut metrics = vec![
        Metric::counter(Counter::HostCpuBusyUs, "us", "CPU of the server's host in user, nice, system and interrupts"),
        Metric::counter(Counter::HostCpuTotalUs, "us", "CPU of the server's host in any state"),
        Metric::counter(Counter::HostCpuStealUs, "us", "CPU the hypervisor gave to others"),
        Metric::counter("pgpgin", "KiB", "read from block devices by the server's whole host"),
        Metric::counter("pgpgout", "KiB", "written to block devices by the server's whole host"),
        Metric::gauge("MemAvailable", "bytes", "memory of the server's host available without swapping"),
    ];
    if !devices.is_empty() {
        metrics.extend(DEVICE.map(|(_, name, _, unit, help)| Metric::counter(name, unit, help)));
    }
    metrics
}

/// The values in the order of [`metrics`].
fn values(samples: &[Sample], devices: &[String]) -> Vec<Option<f64>> {
    let cpu = |modes: &[&str]| {
        let matching =
            |sample: &&Sample| sample.name == "node_cpu_seconds_total" && modes.contains(&sample.label("mode"));
        let seconds: Vec<f64> = samples.iter().filter(matching).map(|sample| sample.value).collect();
        (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() * US_PER_S)
    };
    let plain = |name: &str| samples.iter().find(|sample| sample.name == name).map(|sample| sample.value);
    let mut values = vec![
        cpu(&["user", "nice", "system", "irq", "softirq"]),
        cpu(&["user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal"]),
        cpu(&["steal"]),
        plain("node_vmstat_pgpgin"),
        plain("node_vmstat_pgpgout"),
        plain("node_memory_MemAvailable_bytes"),
    ];
    if !devices.is_empty() {
        values.extend(DEVICE.map(|(name, _, factor, ..)| {
            let of = |device: &String| {
                let found = samples.iter().find(|sample| sample.name == name && sample.label("device") == device);
                found.map(|sample| sample.value * factor)
            };
            devices.iter().map(of).sum::<Option<f64>>()
        }));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by version 1.5 of the exporter, and by 1.9 for names of the device mapper.
    const TEXT: &str = r#"
node_cpu_seconds_total{cpu="0",mode="idle"} 1822.41
node_cpu_seconds_total{cpu="0",mode="iowait"} 45.5
node_cpu_seconds_total{cpu="0",mode="nice"} 153.84
node_cpu_seconds_total{cpu="0",mode="steal"} 2.5
node_cpu_seconds_total{cpu="0",mode="system"} 300
node_cpu_seconds_total{cpu="1",mode="user"} 1416
node_disk_io_time_weighted_seconds_total{device="vda"} 4760.397
node_disk_reads_completed_total{device="vda"} 2.448732e+06
node_disk_reads_completed_total{device="dm-3"} 7
node_disk_reads_completed_total{device="nvme0n1"} 9
node_disk_device_mapper_info{device="dm-3",name="vg-pg",uuid="LVM-x",vg_name="vg"} 1
node_filesystem_size_bytes{device="/dev/vda",fstype="ext4",mountpoint="/"} 2.7e+11
node_filesystem_size_bytes{device="/dev/mapper/vg-pg",fstype="xfs",mountpoint="/var/lib/pg"} 1e+11
node_filesystem_size_bytes{device="/dev/nvme0n1p2",fstype="xfs",mountpoint="/wal"} 1e+11
node_filesystem_size_bytes{device="tmpfs",fstype="tmpfs",mountpoint="/run"} 1e+09
node_vmstat_pgpgin 2.5238049e+07
"#;

    fn found(named: Option<&str>, paths: &[&str]) -> Result<Vec<String>, String> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        devices(&parse(TEXT), named, &paths)
    }

    #[test]
    fn the_device_is_found_by_mount_point_mapper_name_and_partition() {
        assert_eq!(found(None, &["/srv/data"]).unwrap(), ["vda"]);
        assert_eq!(found(None, &["/var/lib/pg/data", "/wal/x"]).unwrap(), ["dm-3", "nvme0n1"]);
        assert_eq!(found(Some("nvme0n1"), &["/srv"]).unwrap(), ["nvme0n1"]);
        assert!(found(None, &["/run/x"]).unwrap_err().contains("tmpfs"));
        assert!(found(Some("sdz"), &[]).is_err() && found(None, &[]).is_err());
    }

    #[test]
    fn partitions_lose_their_number_and_disks_keep_theirs() {
        let disks = ["sda2", "nvme0n1p12", "nvme0n1", "mmcblk0p1", "xvdf", "vda"].map(whole_disk);
        assert_eq!(disks, ["sda", "nvme0n1", "nvme0n1", "mmcblk0", "xvdf", "vda"]);
    }

    #[test]
    fn seconds_become_microseconds_and_missing_ones_unknown() {
        let values = values(&parse(TEXT), &["vda".to_owned()]);
        let cpu = [(153.84 + 300.0 + 1416.0) * 1e6, (153.84 + 300.0 + 1416.0 + 1822.41 + 45.5 + 2.5) * 1e6, 2.5e6];
        for (value, expected) in values.iter().zip(cpu) {
            assert!(value.is_some_and(|value| (value - expected).abs() < 1.0), "{value:?} {expected}");
        }
        assert_eq!(
            values[3..],
            [Some(25_238_049.0), None, None, Some(2_448_732.0), None, None, None, None, Some(4_760_397_000.0)]
        );
        assert_eq!(values.len(), metrics(&["vda".to_owned()]).len());
    }
}
