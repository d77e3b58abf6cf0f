//! Traffic and capacity of the network interfaces of this host, from `/sys/class/net`.
//!
//! Only interfaces with a device: the speed of a virtual one is fictional (a `veth` reports 10 Gbit/s in any case). Its
//! traffic also crosses a real one unless it stays on this host.

use mindful_core::contract::metric::{HostSource, Metric, MetricFamily, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::kernel_file::{KernelFile, value};

/// Bytes per second of a megabit, as speeds are reported.
const MEGABIT: f64 = 1e6 / 8.0;

/// An interface: its counters of bytes received and sent, and its speed in one direction, bytes per second, if its driver
/// reports it.
type Interface = ([KernelFile; 2], Option<f64>);

/// Samples the interfaces with a device; `None` without one, as in most containers.
pub(crate) fn network(kernel: &Kernel) -> Option<Box<dyn Sampler>> {
    let listed = std::fs::read_dir(kernel.sys.join("class/net")).ok()?;
    let mut names: Vec<String> = listed.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let opened = names.iter().filter_map(|name| Some((name, open(kernel, name)?)));
    let (names, mut interfaces): (Vec<&String>, Vec<Interface>) = opened.unzip();
    let help = "what the interface can carry in one direction; unknown if its driver does not report it";
    let metrics = names.into_iter().flat_map(|name| {
        [
            Metric::counter(MetricFamily::Received.metric_name(name), "bytes", "bytes received by the interface"),
            Metric::counter(MetricFamily::Sent.metric_name(name), "bytes", "bytes sent by the interface"),
            Metric::gauge(MetricFamily::Speed.metric_name(name), "bytes/s", help),
        ]
    });
    let source = SampledSource::new(HostSource::Network.name(), metrics.collect::<Vec<_>>());
    let read = |(counters, speed): &mut Interface| {
        let [received, sent] = counters.each_mut().map(|file| file.text().ok()?.trim().parse().ok());
        [received, sent, *speed]
    };
    (!interfaces.is_empty()).then(|| source.read_by(move || Ok(interfaces.iter_mut().flat_map(read).collect())))
}

fn open(kernel: &Kernel, name: &str) -> Option<Interface> {
    let folder = kernel.sys.join("class/net").join(name);
    if !folder.join("device").exists() {
        return None;
    }
    let counter = |file: &str| KernelFile::open(folder.join("statistics").join(file)).ok();
    let megabits = value(folder.join("speed")).and_then(|text| text.parse::<f64>().ok());
    // -1, also as 32 bits without a sign, means unknown.
    let known = megabits.filter(|megabits| *megabits > 0.0 && *megabits < f64::from(u32::MAX));
    Some(([counter("rx_bytes")?, counter("tx_bytes")?], known.map(|megabits| megabits * MEGABIT)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mindful_conformance::write_files;

    use super::*;

    #[test]
    fn only_interfaces_with_a_device_and_a_speed_are_read() {
        let tree = tempfile::tempdir().unwrap();
        let kernel = Kernel { sys: tree.path().to_owned(), ..Kernel::default() };
        assert!(network(&kernel).is_none());
        for (name, device, speed) in [
            ("eth0", "device/vendor", ("speed", "10000\n")),
            ("eth1", "device/vendor", ("speed", "-1\n")),
            ("eth2", "device/vendor", ("mtu", "1500\n")),
            ("eth3", "device/vendor", ("speed", "4294967295\n")),
            ("lo", "flags", ("mtu", "1500\n")),
            ("veth7", "flags", ("speed", "10000\n")),
        ] {
            let traffic = [("statistics/rx_bytes", "1000\n"), ("statistics/tx_bytes", "70\n")];
            let folder = tree.path().join("class/net").join(name);
            write_files(&folder, &[traffic[0], traffic[1], (device, ""), speed]);
        }
        let mut network = network(&kernel).unwrap();
        let names: Vec<&str> = network.metrics().iter().map(|metric| &*metric.name).collect();
        assert_eq!(names[..4], ["eth0.received", "eth0.sent", "eth0.speed", "eth1.received"]);
        let read = network.read().unwrap();
        assert_eq!(read[..3], [Some(1000.0), Some(70.0), Some(1.25e9)]);
        assert!(read.len() == 12 && [5, 8, 11].iter().all(|speed| read[*speed].is_none()), "{read:?}");
        fs::write(tree.path().join("class/net/eth0/statistics/rx_bytes"), "gone").unwrap();
        assert_eq!(network.read().unwrap()[..2], [None, Some(70.0)]);
    }

    #[test]
    fn facts_of_this_host_match_its_kernel() {
        let has_device = |entry: &fs::DirEntry| entry.path().join("device").exists();
        let listed = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
        let names: Vec<_> = listed.filter(has_device).collect();
        let Some(mut network) = network(&Kernel::default()) else {
            assert!(names.is_empty(), "{names:?}");
            return;
        };
        let (before, behind) = (network.read().unwrap(), network.read().unwrap());
        assert_eq!(before.len(), 3 * names.len());
        for (before, behind) in before.chunks(3).zip(behind.chunks(3)) {
            assert!(before[0] <= behind[0] && before[1] <= behind[1] && before[0].is_some(), "{before:?} {behind:?}");
        }
    }
}
