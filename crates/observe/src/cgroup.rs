//! Throttling, CPU and memory of the control group the server lives in.

use std::path::Path;

use mindful_core::Result;
use mindful_core::metric::{Metric, Sampler, shared};
use mindful_host::Kernel;
use mindful_host::control_group::Groups;
use mindful_host::kernel_file::{named_values, value};

/// Samples throttling, CPU and memory of the group.
#[derive(Debug)]
pub(crate) struct Cgroup {
    groups: Groups,
    metrics: Vec<Metric>,
}

impl Cgroup {
    /// `None` where no group of the process can be seen.
    pub(crate) fn open(kernel: &Kernel, pid: u32) -> Option<Self> {
        let groups = Groups::of(kernel, pid);
        let metrics = vec![
            Metric::counter("cpu_periods", "1", "periods in which the nearest group with a CPU limit had work"),
            Metric::counter(shared::THROTTLED_PERIODS, "1", "periods in which it had used up its CPU before the end"),
            Metric::counter(shared::THROTTLED_US, "us", "time its CPUs were held back, summed over CPUs"),
            Metric::counter("cpu_usage", "us", "CPU of everything in the server's group"),
            Metric::gauge("memory_current", "bytes", "memory of everything in the server's group, page cache included"),
        ];
        let mut cgroup = Self { groups, metrics };
        cgroup.read().ok().filter(|values| values.iter().any(Option::is_some)).map(|_| cgroup)
    }
}

impl Sampler for Cgroup {
    fn name(&self) -> &'static str {
        "cgroup"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let number = |folder: Option<&Path>, file: &str| value(folder?.join(file))?.parse::<f64>().ok();
        let stat = |folder: Option<&Path>| folder.and_then(|folder| value(folder.join("cpu.stat"))).unwrap_or_default();
        let throttled = stat(self.groups.throttled());
        let throttled = named_values(&throttled);
        let own = stat(self.groups.cpu());
        let own = named_values(&own);
        let of = |name: &str| throttled.get(name).map(|value| *value as f64);
        let memory = self.groups.memory();
        Ok(vec![
            of("nr_periods"),
            of("nr_throttled"),
            of("throttled_usec").or_else(|| of("throttled_time").map(|ns| ns / 1e3)),
            own.get("usage_usec")
                .map(|us| *us as f64)
                .or_else(|| number(self.groups.cpu_account(), "cpuacct.usage").map(|ns| ns / 1e3)),
            number(memory, "memory.current").or_else(|| number(memory, "memory.usage_in_bytes")),
        ])
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn kernel(root: &tempfile::TempDir, cgroup: &str, mounts: &str) -> Kernel {
        let proc = root.path().join("proc");
        fs::create_dir_all(proc.join("self")).unwrap();
        fs::create_dir_all(proc.join("42")).unwrap();
        fs::write(proc.join("42/cgroup"), cgroup).unwrap();
        fs::write(proc.join("self/mountinfo"), mounts.replace("ROOT", root.path().to_str().unwrap())).unwrap();
        Kernel { proc, ..Kernel::default() }
    }

    #[test]
    fn in_version_2_the_group_with_the_limit_tells_its_throttling() {
        let root = tree(&[
            ("cg/db/pg/cpu.max", "max 100000\n"),
            ("cg/db/pg/memory.max", "max\n"),
            ("cg/db/pg/memory.current", "4096\n"),
            ("cg/db/pg/cpu.stat", "usage_usec 77\nuser_usec 70\nsystem_usec 7\n"),
            ("cg/db/cpu.max", "150000 100000\n"),
            ("cg/db/memory.max", "1073741824\n"),
            ("cg/db/io.max", "254:0 rbps=1048576 wbps=max riops=max wiops=max\n"),
            ("cg/db/cpu.stat", "usage_usec 99\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5000\n"),
        ]);
        let kernel = kernel(&root, "0::/db/pg\n", "1 0 0:9 / ROOT/cg rw - cgroup2 cgroup2 rw\n");
        let values = Cgroup::open(&kernel, 42).unwrap().read().unwrap();
        assert_eq!(values, [10.0, 3.0, 5000.0, 77.0, 4096.0].map(Some));
    }

    #[test]
    fn in_version_1_each_figure_is_read_in_its_own_tree() {
        let root = tree(&[
            ("cpu/a/cpu.cfs_quota_us", "-1\n"),
            ("cpu/a/cpu.cfs_period_us", "100000\n"),
            ("cpu/a/cpu.stat", "nr_periods 4\nnr_throttled 1\nthrottled_time 9000\n"),
            ("cpuacct/a/cpuacct.usage", "5000\n"),
            ("memory/m/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/memory.limit_in_bytes", "2147483648\n"),
        ]);
        let mounts = "1 0 0:1 / ROOT/cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / ROOT/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                      3 0 0:3 /slice ROOT/memory rw - cgroup cgroup rw,memory\n";
        let kernel = kernel(&root, "3:memory:/slice/m\n2:cpuacct:/a\n1:cpu:/a\n0::/\n", mounts);
        let values = Cgroup::open(&kernel, 42).unwrap().read().unwrap();
        assert_eq!(values, [Some(4.0), Some(1.0), Some(9.0), Some(5.0), None]);
    }

    #[test]
    fn a_process_without_groups_gives_no_source() {
        let root = tree(&[]);
        let kernel = kernel(&root, "", "");
        assert!(Cgroup::open(&kernel, 42).is_none());
        assert!(Cgroup::open(&kernel, 43).is_none());
    }
}
