//! Made-up control groups of process 42, below a folder of the test, for readers of a host's groups.

use std::path::{Path, PathBuf};

use crate::write_files;

/// In version 2, in the group `/db/pg` below `cg`; its limits of CPU (1.5 CPUs), memory (1 GiB) and I/O belong to the
/// group above it. Returns the `/proc` to read.
pub fn version_2(root: &Path) -> PathBuf {
    let files = [
        ("cg/db/pg/cpu.max", "max 100000\n"),
        ("cg/db/pg/memory.max", "max\n"),
        ("cg/db/pg/memory.current", "4096\n"),
        ("cg/db/pg/cpu.stat", "usage_usec 77\nuser_usec 70\nsystem_usec 7\n"),
        ("cg/db/cpu.max", "150000 100000\n"),
        ("cg/db/memory.max", "1073741824\n"),
        ("cg/db/io.max", "254:0 rbps=1048576 wbps=max riops=max wiops=max\n"),
        ("cg/db/io.stat", "8:0 rbytes=1 wbytes=2\n254:0 rbytes=77824 wbytes=0 rios=19 wios=0 dbytes=0 dios=0\n"),
        ("cg/db/cpu.stat", "usage_usec 99\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5000\n"),
    ];
    tree(root, &files, "0::/db/pg\n", "1 0 0:9 / ROOT/cg rw - cgroup2 cgroup2 rw\n")
}

/// In version 1, where each controller has a separate tree. The limits are 900 reads a second and 64 KiB of writes at
/// device 254:0, and 2 GiB of memory by the group above; CPU is not limited. That group is mounted without its parents.
/// Returns the `/proc` to read.
pub fn version_1(root: &Path) -> PathBuf {
    let files = [
        ("cpu/a/cpu.cfs_quota_us", "-1\n"),
        ("cpu/a/cpu.cfs_period_us", "100000\n"),
        ("cpu/a/cpu.stat", "nr_periods 4\nnr_throttled 1\nthrottled_time 9000\n"),
        ("cpuacct/a/cpuacct.usage", "5000\n"),
        ("memory/m/memory.limit_in_bytes", "9223372036854771712\n"),
        ("memory/memory.limit_in_bytes", "2147483648\n"),
        ("blkio/b/blkio.throttle.read_iops_device", "254:0 900\n"),
        ("blkio/b/blkio.throttle.io_serviced", "254:0 Read 34\n254:0 Write 0\n254:0 Total 34\nTotal 34\n"),
        ("blkio/b/blkio.throttle.write_bps_device", "254:0 65536\n"),
        ("blkio/blkio.throttle.read_iops_device", "254:0 1500\n"),
    ];
    let mounts = "1 0 0:1 / ROOT/cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / ROOT/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                  3 0 0:3 /slice ROOT/memory rw - cgroup cgroup rw,memory\n4 0 0:4 / ROOT/blkio rw - cgroup cgroup rw,blkio\n";
    tree(root, &files, "4:blkio:/b\n3:memory:/slice/m\n2:cpuacct:/a\n1:cpu:/a\n0::/\n", mounts)
}

/// A process with invisible groups. Returns the `/proc` to read.
pub fn none(root: &Path) -> PathBuf {
    tree(root, &[], "", "")
}

fn tree(root: &Path, files: &[(&str, &str)], groups: &str, mounts: &str) -> PathBuf {
    let mounts = mounts.replace("ROOT", &root.display().to_string());
    let proc = [("proc/42/cgroup", groups), ("proc/self/mountinfo", mounts.as_str())];
    write_files(root, files);
    write_files(root, &proc);
    root.join("proc")
}
