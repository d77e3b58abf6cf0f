//! Sources of the form "a name, a number, a line each".

use std::io;
use std::path::Path;

use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::kernel_file::{KernelFile, named_values};

/// A line worth keeping: the kind of its metric, its name, unit and meaning.
type Line = (fn(&'static str, &str, &str) -> Metric, &'static str, &'static str, &'static str);

const COUNTER: fn(&'static str, &str, &str) -> Metric = Metric::counter;
const GAUGE: fn(&'static str, &str, &str) -> Metric = Metric::gauge;

/// Memory of the host, in `/proc/meminfo`.
const MEMINFO: [Line; 12] = [
    (GAUGE, "MemFree", "KiB", "memory that is not used"),
    (GAUGE, "MemAvailable", "KiB", "memory available without swapping"),
    (GAUGE, "Buffers", "KiB", "page cache of block devices"),
    (GAUGE, "Cached", "KiB", "page cache of files, shared memory included"),
    (GAUGE, "Dirty", "KiB", "page cache waiting to be written"),
    (GAUGE, "Writeback", "KiB", "page cache being written"),
    (GAUGE, "AnonPages", "KiB", "memory of processes that no file backs"),
    (GAUGE, "Mapped", "KiB", "files mapped into processes"),
    (GAUGE, "Shmem", "KiB", "shared memory and tmpfs"),
    (GAUGE, "SwapFree", "KiB", "swap that is free"),
    (GAUGE, "AnonHugePages", "KiB", "memory of processes in transparent huge pages"),
    (GAUGE, "HugePages_Free", "pages", "reserved huge pages that are not used"),
];

/// Paging of the host, in `/proc/vmstat`: a second measurement of reads from storage.
const VMSTAT: [Line; 20] = [
    (COUNTER, "pgpgin", "KiB", "read from block devices by the whole host"),
    (COUNTER, "pgpgout", "KiB", "written to block devices by the whole host"),
    (COUNTER, Counter::PagesSwappedIn.name(), "pages", "pages read from swap"),
    (COUNTER, "pswpout", "pages", "pages written to swap"),
    (COUNTER, "pgfault", "1", "page faults"),
    (COUNTER, "pgmajfault", "1", "page faults that waited for storage"),
    (COUNTER, "pgscan_kswapd", "pages", "pages scanned for reclaim in the background"),
    (COUNTER, "pgscan_direct", "pages", "pages scanned for reclaim by tasks that needed memory at once"),
    (COUNTER, "pgsteal_kswapd", "pages", "pages reclaimed in the background"),
    (COUNTER, "pgsteal_direct", "pages", "pages reclaimed by tasks that needed memory at once"),
    (COUNTER, "workingset_refault_file", "pages", "file pages read again soon after they were dropped"),
    (GAUGE, "nr_dirty", "pages", "page cache waiting to be written"),
    (GAUGE, "nr_writeback", "pages", "page cache being written"),
    (COUNTER, "nr_dirtied", "pages", "pages made dirty"),
    (COUNTER, "nr_written", "pages", "dirty pages written"),
    (COUNTER, "compact_stall", "1", "waits for memory to be compacted"),
    (COUNTER, "thp_fault_alloc", "1", "huge pages allocated at a page fault"),
    (COUNTER, "numa_miss", "pages", "pages allocated on another node than intended"),
    (COUNTER, Counter::PageCacheDrops.name(), "1", "times the page cache was dropped"),
    (COUNTER, Counter::OomKills.name(), "1", "processes killed because memory ran out"),
];

pub(crate) fn meminfo(kernel: &Kernel) -> io::Result<Box<dyn Sampler>> {
    open(HostSource::Meminfo.name(), &kernel.proc.join("meminfo"), &MEMINFO)
}

pub(crate) fn vmstat(kernel: &Kernel) -> io::Result<Box<dyn Sampler>> {
    open(HostSource::Vmstat.name(), &kernel.proc.join("vmstat"), &VMSTAT)
}

/// Samples those of the `wanted` lines that this kernel provides.
fn open(name: &'static str, path: &Path, wanted: &[Line]) -> io::Result<Box<dyn Sampler>> {
    let mut file = KernelFile::open(path)?;
    let present = named_values(file.text()?);
    let provided: Vec<&Line> = wanted.iter().filter(|(_, name, ..)| present.contains_key(name)).collect();
    let metrics: Vec<Metric> = provided.iter().map(|(metric, name, unit, help)| metric(name, unit, help)).collect();
    let names: Vec<&'static str> = provided.iter().map(|(_, name, ..)| *name).collect();
    Ok(SampledSource::new(name, metrics).read_by(move || {
        let values = named_values(file.read()?);
        Ok(names.iter().map(|name| values.get(name).map(|value| *value as f64)).collect())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_this_kernel_lacks_is_no_metric() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmstat");
        std::fs::write(&path, "pgpgin 7\n").unwrap();
        let wanted = [(COUNTER, "pgpgin", "KiB", "read"), (GAUGE, "pgwonder", "1", "not in this kernel")];
        let mut sampler = open("vmstat", &path, &wanted).unwrap();
        assert_eq!(sampler.metrics().len(), 1);
        assert_eq!(sampler.read().unwrap(), [Some(7.0)]);
        std::fs::write(&path, "other 7\n").unwrap();
        assert_eq!(sampler.read().unwrap(), [None]);
    }
}
