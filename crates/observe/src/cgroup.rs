//! Throttling, CPU, memory and limited I/O of the control group the server lives in.

use std::path::{Path, PathBuf};

use mindful_core::contract::metric::{Counter, GROUP_LIMITS, HostSource, LIMIT_SUFFIX, Metric, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::control_group::{Groups, IoKind, IoLimit};
use mindful_host::kernel_file::{named_values, value};

/// The metrics of a limit: the group's use, and the limit per second.
fn of_limit(kernel: &Kernel, limit: &IoLimit) -> [Metric; 2] {
    let (name, what) = GROUP_LIMITS[limit.kind as usize];
    let unit = if matches!(limit.kind, IoKind::Reads | IoKind::Writes) { "1" } else { "bytes" };
    let counter = format!("{}.{name}", limit.device_name(kernel));
    let may = format!("{what} a second that the control group of the server may have at a device");
    [
        Metric::counter(
            &counter,
            unit,
            &format!("{what} by the control group of the server, of a device where these are limited"),
        ),
        Metric::gauge(format!("{counter}{LIMIT_SUFFIX}"), unit, &may),
    ]
}

/// Samples throttling, CPU, memory and limited I/O of the group; `None` if no group of the process is visible.
pub(crate) fn cgroup(kernel: &Kernel, pid: u32) -> Option<Box<dyn Sampler>> {
    let groups = Groups::of(kernel, pid);
    // As they are when it is opened.
    let io = groups.io_limits();
    let mut metrics = vec![
        Metric::counter("cpu_periods", "1", "periods in which the nearest group with a CPU limit had work"),
        Metric::counter(Counter::ThrottledPeriods, "1", "periods in which it had used up its CPU before the end"),
        Metric::counter(Counter::ThrottledUs, "us", "time its CPUs were held back, summed over CPUs"),
        Metric::counter("cpu_usage", "us", "CPU of everything in the server's group"),
        Metric::gauge("memory_current", "bytes", "memory of everything in the server's group, page cache included"),
    ];
    metrics.extend(io.iter().flat_map(|limit| of_limit(kernel, limit)));
    let mut sampler = SampledSource::new(HostSource::Cgroup.name(), metrics).read_by(move || Ok(values(&groups, &io)));
    sampler.read().ok().filter(|values| values.iter().any(Option::is_some)).map(|_| sampler)
}

fn values(groups: &Groups, io: &[IoLimit]) -> Vec<Option<f64>> {
    let number = |folders: &[PathBuf], file: &str| value(folders.first()?.join(file))?.parse::<f64>().ok();
    let stat = |folder: Option<&Path>| folder.and_then(|folder| value(folder.join("cpu.stat"))).unwrap_or_default();
    let throttled = stat(groups.throttled());
    let throttled = named_values(&throttled);
    let own = stat(groups.cpu.first().map(PathBuf::as_path));
    let own = named_values(&own);
    let of = |name: &str| throttled.get(name).map(|value| *value as f64);
    let usage = own.get("usage_usec").map(|us| *us as f64);
    let memory = &groups.memory;
    let values = [
        of("nr_periods"),
        of("nr_throttled"),
        of("throttled_usec").or_else(|| of("throttled_time").map(|ns| ns / 1e3)),
        usage.or_else(|| number(&groups.cpu_account, "cpuacct.usage").map(|ns| ns / 1e3)),
        number(memory, "memory.current").or_else(|| number(memory, "memory.usage_in_bytes")),
    ];
    values.into_iter().chain(io.iter().flat_map(|limit| [limit.done(), Some(limit.per_s)])).collect()
}

#[cfg(test)]
mod tests {
    use mindful_conformance::control_groups;

    use super::*;

    fn opened(tree: fn(&Path) -> PathBuf, pid: u32) -> (tempfile::TempDir, Option<Box<dyn Sampler>>) {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: tree(root.path()), ..Kernel::default() };
        let cgroup = cgroup(&kernel, pid);
        (root, cgroup)
    }

    #[test]
    fn in_version_2_the_group_with_the_limit_counts_throttling() {
        let (_root, cgroup) = opened(control_groups::version_2, 42);
        assert_eq!(cgroup.unwrap().read().unwrap(), [10.0, 3.0, 5000.0, 77.0, 4096.0, 77_824.0, 1_048_576.0].map(Some));
    }

    #[test]
    fn in_version_1_each_figure_is_read_in_its_own_tree() {
        let (_root, cgroup) = opened(control_groups::version_1, 42);
        let mut cgroup = cgroup.unwrap();
        let names: Vec<_> = cgroup.metrics().iter().skip(5).map(|metric| metric.name.clone()).collect();
        assert!(names[0].ends_with(".group_reads") && names[1].ends_with(".group_reads_limit"), "{names:?}");
        let read = cgroup.read().unwrap();
        assert_eq!(read[..5], [Some(4.0), Some(1.0), Some(9.0), Some(5.0), None]);
        assert_eq!(read[5..], [Some(34.0), Some(900.0), None, Some(65_536.0)]);
    }

    #[test]
    fn a_process_without_groups_gives_no_source() {
        assert!(opened(control_groups::none, 42).1.is_none());
        assert!(opened(control_groups::version_2, 43).1.is_none());
    }
}
