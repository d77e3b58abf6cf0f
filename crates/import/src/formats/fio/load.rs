//! One load: the processes of a job that ran together.
//!
//! Without `group_reporting`, which is not the default, each process of a job is a separate entry. Entries of one group
//! with the same options are one load, under any names: groups run one after the other, their jobs together.

use std::collections::BTreeMap;

use super::read::{Job, Output, Side};
use crate::old_step::MOST_SESSIONS;

/// Engines that keep one I/O in flight, for any iodepth.
const SYNCHRONOUS: &str = "psync sync vsync pvsync pvsync2 mmap splice falloc ftruncate filecreate filestat filedelete \
                           e4defrag mtd gfapi dev-dax libpmem pmemblk libhdfs ime_psync";
/// Options in which the jobs of one load differ.
const OWN: [&str; 4] = ["name", "description", "randseed", "cpus_allowed"];
/// The entry that sums up all others in client mode.
const ALL_CLIENTS: &str = "All clients";

/// Processes that were one load.
pub(super) struct Load<'a> {
    output: &'a Output,
    pub jobs: Vec<&'a Job>,
    /// Common counts of reads and writes are included unless all are known to be writes.
    pub reads: Vec<&'a Side>,
    pub writes: Vec<&'a Side>,
    /// Whether reads cannot be distinguished from writes.
    pub is_mixed: bool,
}

pub(super) fn loads(output: &Output) -> Vec<Load<'_>> {
    let clients = output.client_stats.as_deref().unwrap_or_default();
    let sum = clients.iter().find(|job| job.jobname == ALL_CLIENTS);
    let jobs = output.jobs.iter().flatten().chain(sum.map_or(clients, std::slice::from_ref));
    let mut loads: Vec<Vec<&Job>> = Vec::new();
    let mut places = BTreeMap::new();
    for job in jobs {
        let place = *places.entry(identity(job)).or_insert_with(|| {
            loads.push(Vec::new());
            loads.len() - 1
        });
        loads[place].push(job);
    }
    loads.into_iter().map(|jobs| Load::new(output, jobs)).collect()
}

/// The common identity of the entries of one load. If options are not printed, processes of one job share its name.
fn identity(job: &Job) -> (i64, String) {
    let Some(options) = &job.options else { return (job.groupid, job.jobname.clone()) };
    let others = options.iter().filter(|(key, _)| !OWN.contains(&key.as_str()) && !key.ends_with("_log"));
    let texts: Vec<String> = others.map(|(key, value)| format!("{key}={value}")).collect();
    (job.groupid, texts.join("\n"))
}

impl<'a> Load<'a> {
    fn new(output: &'a Output, jobs: Vec<&'a Job>) -> Self {
        let (reads, writes): (Vec<_>, Vec<_>) = jobs.iter().map(|job| (&job.read, &job.write)).unzip();
        let separate = reads.iter().chain(&writes).any(|side| side.ios().is_some());
        let mut load = Self { output, jobs, reads, writes, is_mixed: false };
        // `unified_rw_reporting` counts both together. With `both`, reads and writes are printed too.
        if !separate {
            let mixed = load.jobs.iter().map(|job| &job.mixed).collect();
            let rw = load.option("rw").or_else(|| load.option("readwrite")).unwrap_or_default();
            (load.reads, load.writes, load.is_mixed) = match rw.trim_start_matches("rand") {
                "write" => (Vec::new(), mixed, false),
                way => (mixed, Vec::new(), way != "read"),
            };
        }
        load
    }

    pub(super) fn name(&self) -> &str {
        self.jobs.first().map_or("", |job| &job.jobname)
    }

    /// An option as text; the job's own precedes the global one.
    pub(super) fn option(&self, key: &str) -> Option<String> {
        let own = self.jobs.first().and_then(|job| job.options.as_ref()?.get(key));
        let value = own.or_else(|| self.output.global.get(key))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Whether it read or wrote anything.
    pub(super) fn worked(&self) -> bool {
        let worked = |side: &Side| side.ios().is_some_and(|ios| ios > 0.0);
        self.jobs.iter().any(|job| [&job.read, &job.write, &job.mixed].into_iter().any(worked))
    }

    /// The length of the longest of its processes, ms.
    pub(super) fn runtime_ms(&self) -> Option<f64> {
        let sides = self.jobs.iter().flat_map(|job| [&job.read, &job.write, &job.mixed]);
        let longest = sides.filter_map(|side| side.runtime).reduce(f64::max);
        longest.filter(|ms| (1.0..1e12).contains(ms))
    }

    /// When the first of its processes began, us since the epoch.
    pub(super) fn began_us(&self) -> Option<i64> {
        let first_ms = self.jobs.iter().map(|job| job.began_ms).reduce(|a, b| Some(a?.min(b?)))??;
        Some((first_ms * 1e3) as i64)
    }

    /// I/Os that it kept in flight: its processes by their iodepth. `None` if options are not printed.
    pub(super) fn in_flight(&self) -> Option<u32> {
        self.jobs.first()?.options.as_ref()?;
        let number = |key: &str| self.option(key).map_or(Some(1), |text| text.parse::<u32>().ok());
        let processes = match u32::try_from(self.jobs.len()).ok()? {
            // One entry may describe all processes of a group.
            1 => number("numjobs")?,
            entries => entries,
        };
        if self.is_of_more_than(processes) {
            return None;
        }
        let depth = if self.is_synchronous() { 1 } else { number("iodepth")? };
        processes.checked_mul(depth).filter(|ios| (1..=MOST_SESSIONS).contains(ios))
    }

    /// Whether its processes were more than its options show: with `group_reporting`, unlike jobs of a group are one entry
    /// under the options of the first.
    fn is_of_more_than(&self, processes: u32) -> bool {
        let [job] = self.jobs[..] else { return false };
        let delayed = ["ramp_time", "startdelay"].iter().any(|key| self.option(key).is_some());
        let ran = job.processes_ms.zip(self.runtime_ms()).map(|(all, longest)| all / longest);
        !delayed && ran.is_some_and(|ran| ran > f64::from(processes) + 0.5)
    }

    fn is_synchronous(&self) -> bool {
        let engine = self.option("ioengine").unwrap_or_else(|| "psync".to_owned());
        // Only the character devices of SCSI generic take several at once.
        let character = self.option("filename").is_some_and(|file| file.starts_with("/dev/sg"));
        SYNCHRONOUS.split(' ').any(|name| name == engine) || engine == "sg" && !character
    }

    /// The length of an I/O: measured, else from the option. `None` if there are several.
    pub(super) fn block_bytes(&self) -> Option<u64> {
        if self.has_several_sizes() {
            return None;
        }
        let mut measured = self.reads.iter().chain(&self.writes).filter_map(|side| side.block_bytes());
        let first = measured.next();
        if measured.any(|bytes| Some(bytes) != first) {
            return None;
        }
        first.or_else(|| one_size(&self.option("bs").or_else(|| self.option("blocksize"))?, self.kb_base()))
    }

    /// The length of I/Os in that direction by the options; `None` if there are several.
    pub(super) fn option_bytes(&self, way: &str) -> Option<u64> {
        let text = self.option("bs").or_else(|| self.option("blocksize"))?;
        if self.has_several_sizes() || way == "mixed" && text.contains(',') {
            return None;
        }
        // One for reads, one for writes; an omitted one keeps its default.
        let own = text.split(',').nth(usize::from(way == "write")).filter(|size| !size.trim().is_empty());
        one_size(own.unwrap_or(&text), self.kb_base())
    }

    fn has_several_sizes(&self) -> bool {
        let several = ["bsrange", "blocksize_range", "bssplit", "bs_unaligned", "blocksize_unaligned"];
        several.iter().any(|key| self.option(key).is_some())
    }

    fn kb_base(&self) -> u64 {
        self.option("kb_base").and_then(|base| base.parse().ok()).unwrap_or(1024)
    }
}

/// A block size in fio's notation: `4k`, `1M`, `8kb`, `4096`, `0x1000`, and of `4k,8k` that of reads. In fio `k` is
/// 1024 and `kib` 1000 unless `kb_base=1000` reverses both. `None` for a range or a list.
fn one_size(text: &str, kb_base: u64) -> Option<u64> {
    let text = text.split(',').next()?.trim().to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let (own, other) = if kb_base == 1000 { (1000_u64, 1024_u64) } else { (1024, 1000) };
    let suffix = &text[end..];
    let (prefix, base) = match suffix.strip_suffix("ib") {
        Some("") => return None,
        Some(prefix) => (prefix, other),
        None => (suffix.strip_suffix('b').unwrap_or(suffix), own),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix)?;
    number.checked_mul(base.checked_pow(power as u32)?).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_size_is_read_in_every_spelling() {
        let sizes = [("4k", 4096), ("1m", 1 << 20), ("1M", 1 << 20), ("8kb", 8192), ("4096", 4096), ("0x1000", 4096)];
        for (text, bytes) in sizes.into_iter().chain([("4k,8k", 4096), ("16K", 16_384), ("4kib", 4000)]) {
            assert_eq!(one_size(text, 1024), Some(bytes), "{text}");
        }
        assert_eq!((one_size("4k", 1000), one_size("4kib", 1000)), (Some(4000), Some(4096)));
        for text in ["4k-16k", "4k/50:8k/50", "4ib", "", "k", "x"] {
            assert_eq!(one_size(text, 1024), None, "{text}");
        }
    }
}
