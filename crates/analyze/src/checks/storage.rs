//! Where reads came from and whether writes stayed: the ledger below the database, and the span of the blocks on the device.

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::figures::blocks::block_bytes;
use crate::figures::floors::{Between, Floor};
use crate::figures::others::{FETCHED, SENT};
use crate::figures::rates::mib_per_s;
use crate::judgement::claims::Claim;
use crate::judgement::durability::Durability;
use crate::judgement::headline::{self, HeadlineKind, percent};
use crate::step::StepAnalysis;

/// Physical reads by block visited, below which a run measures the database's cache.
const CACHED_YIELD: f64 = 0.05;

/// A device that served more than it requested from the one below it.
fn cache_below(share: f64, [above, below]: &[Floor; 2]) -> Finding {
    let text = "A device below the file system served more bytes than it read from the device below it, so a cache \
                between them served reads. Rate and latency are not the storage's. For a loop device use losetup \
                --direct-io=on, or use a --data-dir on a plain device.";
    let layer = above.layer.as_ref().map_or_else(String::new, |layer| format!(" ({layer})"));
    let evidence = format!(
        "{}{layer} served {} and {} {}: {} from between",
        above.devices,
        mib_per_s(above.bytes_per_s),
        below.devices,
        mib_per_s(below.bytes_per_s),
        headline::part(share)
    );
    codes::CACHE_BELOW.finding(text, evidence)
}

pub(super) fn check_window(found: &StepAnalysis) -> impl Iterator<Item = Finding> {
    reads(found).into_iter().chain(not_durable(found)).chain(foreign_writes(found))
}

fn reads(found: &StepAnalysis) -> Vec<Finding> {
    let (mut findings, gates) = (Vec::new(), &found.gates);
    // Where the database's cache serves all but all visits, nothing is claimed of storage that could be wrong.
    if gates.method_yield.is_some_and(|y| y < CACHED_YIELD) {
        return findings;
    }
    let unread = gates.cached();
    if let Some((holes, unread)) = gates.holes().zip(unread) {
        let text = "Parts of the files were never written. The kernel answers reads of them without storage. Write the \
                    files completely, or load the dataset again.";
        let (holes, unread) = (percent(holes), headline::part(unread));
        let evidence = format!("{holes} of the files are holes; storage did not serve {unread} of the reads");
        findings.push(codes::HOLES.finding(text, evidence));
    }
    if let Some(phi) = unread.filter(|_| !gates.explained_by_holes()) {
        let text = "The page cache served physical reads, so they do not describe storage. Use direct I/O, or limit \
                    the page cache.";
        findings.push(codes::PAGE_CACHE.finding(text, format!("{} of physical reads", headline::part(phi))));
    }
    if let Some(share) = gates.foreign_reads() {
        let text = "Other processes read from the device that holds the data and share its figures. Find them, or \
                    measure when the device is quiet.";
        findings.push(codes::FOREIGN_READS.finding(text, share + &most_by(found, FETCHED)));
    }
    findings.extend(levels_disagree(found));
    if let Between::Cache { share, floors } = &gates.between {
        findings.push(cache_below(*share, floors));
    }
    if found.summary.physical_reads_per_s.is_some() && found.summary.device_reads_per_s.is_none() {
        let text =
            "The counters of the device are unknown, so storage is known only from the database and its processes.";
        findings.push(codes::NOT_SEEN.finding(text, "device: no counters"));
    }
    findings
}

fn levels_disagree(found: &StepAnalysis) -> Vec<Finding> {
    let text = "Two levels of the ledger do not count the same reads, so they are not called storage IOPS. Look at the \
                ledger with `mindful show --full`: the data lies elsewhere, or requests are not single blocks.";
    let differs = Claim::unexplained(&found.gates).into_iter();
    differs.map(|figures| codes::LEVELS_DISAGREE.finding(text, figures)).collect()
}

/// Commits that waited for volatile storage.
fn not_durable(found: &StepAnalysis) -> Option<Finding> {
    let Durability::Lost(why) = &found.durability else { return None };
    let log = &found.evidence.words.log;
    let text = format!(
        "Commits waited, but their {log} was not made durable: the device of the {log} was not flushed for them. Look for \
         a {log} in memory, a preloaded library that swallows syncs, a server that is set not to sync, and mounts without \
         barriers."
    );
    Some(codes::NOT_DURABLE.finding(text, why))
}

fn foreign_writes(found: &StepAnalysis) -> Option<Finding> {
    let foreign = found.foreign_writes.as_ref()?;
    let text = "Others wrote to the devices of the run, flushed them or discarded blocks, and requests waited for theirs. \
                Find them (iotop -b -o -n 1), or measure when the device is quiet.";
    let device = foreign.below.as_deref().unwrap_or("the device");
    let [written, own] = [foreign.device_bytes, foreign.own_bytes].map(mib_per_s);
    let bytes = format!("{written} written at {device}, {own} by the run");
    let flushes = format!("{} flushes/s that the run did not ask for", format_rounded(foreign.flushes));
    let discards = format!("discards took {} ms a second", format_rounded(foreign.discard_ms));
    let all = [(foreign.more_bytes, bytes), (foreign.flushes >= 1.0, flushes), (foreign.discard_ms > 0.0, discards)];
    let all: Vec<_> = all.into_iter().filter_map(|(said, text)| said.then_some(text)).collect();
    Some(codes::FOREIGN_WRITES.finding(text, all.join(", ") + &most_by(found, SENT)))
}

/// The processes of others that did most of it.
fn most_by(found: &StepAnalysis, way: usize) -> String {
    let names = found.others.as_ref().map(|others| others.with_most_traffic(way)).unwrap_or_default();
    if names.is_empty() { String::new() } else { format!("; most by {}", names.join(", ")) }
}

/// Share of the device below which its caches may hold all that is visited. The memory of a drive is about a thousandth
/// of its size. A controller, an array or a hypervisor has more.
const SMALL_SPAN: f64 = 0.01;

/// Physical reads from so small a part of the device that a cache may have served them (docs/findings.md, F6). `None`
/// if reads came from higher levels, or sizes are unknown.
pub(super) fn small_span(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let physical =
        found.reads.as_ref().is_some_and(|of| matches!(of.kind, HeadlineKind::Storage | HeadlineKind::Database));
    let workload = step.head.workload.as_ref()?;
    let active = workload.scale.checked_mul(workload.schemas.into())?.checked_mul(block_bytes(run)?)?;
    let (name, device) = device(&run.environment)?;
    let share = active as f64 / device as f64;
    (physical && share < SMALL_SPAN).then(|| {
        let text = "Operations visited a small part of the device. A cache in the drive, the controller, the array \
                    or the hypervisor may hold all of it. Compare this run with one of ten times the --scale: \
                    without such a cache, both have the same latency.";
        let evidence =
            format!("{} of the {} of {name}, {}", format_bytes(active), format_bytes(device), percent(share));
        codes::SMALL_SPAN.finding(text, evidence)
    })
}

/// The devices below the file system of the data, and the sum of their bytes.
fn device(environment: &Facts) -> Option<(String, u64)> {
    let chain = Fact::StorageDevice.find(environment)?;
    let top = chain.split(" < ").next()?.to_owned();
    let size = |name: &str| DeviceFact::SizeBytes.find(name, environment)?.parse::<u64>().ok();
    let bytes =
        top.split(' ').map(size).try_fold(0, |all: u64, size| all.checked_add(size?)).filter(|bytes| *bytes > 0)?;
    Some((top, bytes))
}
