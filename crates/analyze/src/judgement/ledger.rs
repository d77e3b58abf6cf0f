//! The ledger: the same work as each level counted it, from the operation down to the device.

use std::borrow::Cow;

use mindful_core::contract::description::Words;
use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::StepSummary;
use mindful_core::workload::OpKind;

use crate::figures::blocks::{self, FEWEST_READS_PER_S, one_by_one, single_block_reads};
use crate::figures::counters::Counters;
use crate::figures::floors::Floor;
use crate::figures::log::is_apart_from_data;
use crate::figures::work::Work;
use crate::judgement::claims::MAX_PAGE_CACHE_SHARE;
use crate::judgement::headline::percent;

/// Accepted difference of a ratio from the expected one, without an explanation.
pub(crate) const CLOSE: f64 = 0.01;

#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    /// The counted events: `physical reads`.
    pub name: Cow<'static, str>,
    /// Unit of `per_s`: `1` for events, `bytes` for log.
    pub unit: &'static str,
    /// Per second; `None` if not visible.
    pub per_s: Option<f64>,
    pub counts_bytes: bool,
    pub bytes_per_s: Option<f64>,
    /// By the row above.
    pub ratio: Option<f64>,
    /// The expected ratio; `None` if it is unknown in advance.
    pub expected: Option<f64>,
    /// Why it differs, or a restriction of the figure.
    pub gap: Option<String>,
}

impl LedgerRow {
    fn new(name: impl Into<Cow<'static, str>>, per_s: Option<f64>) -> Self {
        Self {
            name: name.into(),
            unit: "1",
            per_s,
            counts_bytes: true,
            bytes_per_s: None,
            ratio: None,
            expected: None,
            gap: None,
        }
    }

    /// Events without bytes.
    fn events(name: impl Into<Cow<'static, str>>, per_s: Option<f64>) -> Self {
        Self { counts_bytes: false, ..Self::new(name, per_s) }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Operations, blocks visited, logical reads, physical reads, reads of the processes, reads at the device.
    pub reads: Vec<LedgerRow>,
    /// Updated blocks, writes of the database by writer, of its processes, and at the device. Empty without writes.
    pub writes: Vec<LedgerRow>,
    /// Commits, log, its writes and syncs, and the activity of its device; ratios are by commits. Empty without
    /// updates, and in a report of another tool.
    pub log: Vec<LedgerRow>,
}

impl Ledger {
    /// Reads and writes in a report, which contains no operations.
    pub(crate) fn reported(counters: &Counters, block_bytes: Option<u64>, words: &Words) -> Self {
        let events =
            |name: &str, counter| counters.rate(counter).map(|per_s| LedgerRow::events(name.to_owned(), Some(per_s)));
        let blocks = |name: &str, counter| {
            let row = events(name, counter)?;
            let bytes_per_s = row.per_s.zip(block_bytes).map(|(per_s, bytes)| bytes as f64 * per_s);
            Some(LedgerRow { counts_bytes: true, bytes_per_s, ..row })
        };
        let log = || {
            let bytes = counters.rate(Counter::LogBytes)?;
            Some(LedgerRow {
                unit: "bytes",
                bytes_per_s: Some(bytes),
                ..LedgerRow::new(words.log.clone(), Some(bytes))
            })
        };
        let mut reads: Vec<_> = [
            blocks("logical reads", Counter::LogicalReads),
            blocks("physical reads", Counter::PhysicalReads),
            events("read requests", Counter::ReadRequests),
        ]
        .into_iter()
        .flatten()
        .collect();
        chain(&mut reads);
        let writes = [
            blocks("database writes", Counter::PhysicalWrites),
            events("write requests", Counter::WriteRequests),
            log(),
            events(&format!("{} writes", words.log), Counter::LogWrites),
        ];
        Self { reads, writes: writes.into_iter().flatten().collect(), log: Vec::new() }
    }

    /// The same with the levels below the device, where the reads of one chain were counted.
    #[must_use]
    pub(crate) fn above(mut self, chains: &[Vec<Floor>]) -> Self {
        if let ([chain], Some(device)) = (chains, self.reads.last()) {
            let rows = below(chain, device);
            self.reads.extend(rows);
        }
        self
    }

    pub(crate) fn from_step(
        run: &Run,
        step: &StepRecord,
        work: &Work,
        counters: &Counters,
        summary: &StepSummary,
    ) -> Self {
        let block_bytes = blocks::step_block_bytes(run, &step.head).map(|bytes| bytes as f64);
        let terms = Terms { run, step, work, counters, block_bytes, words: run.words() };
        let mut ledger = Self { reads: terms.reads(), writes: terms.writes(), log: log_rows(run, summary) };
        if !step.ended {
            ledger.leave_unexplained();
        }
        ledger
    }

    /// Of a step that was cut short, work and counters need not be of the same time.
    fn leave_unexplained(&mut self) {
        let rows = self.reads.iter_mut().chain(&mut self.writes);
        for row in rows.filter(|row| row.ratio.is_some() && row.gap.is_some()) {
            row.gap = Some("not explained: the run was cut short".to_owned());
        }
    }
}

/// The levels below the one at which device reads are counted, each compared with the one above it.
fn below(chain: &[Floor], device: &LedgerRow) -> Vec<LedgerRow> {
    let counted =
        chain.iter().position(|floor| device.per_s.is_some_and(|rate| (floor.reads_per_s - rate).abs() < 0.5));
    let Some(from) = counted else { return Vec::new() };
    let row = |pair: &[Floor]| {
        let [above, below] = pair else { return None };
        // A disk holds other partitions too; their reads do not count.
        if above.devices.split(' ').all(|part| below.devices.split(' ').any(|disk| part.starts_with(disk))) {
            return None;
        }
        // Requests are split and merged on the way; bytes are not.
        let ratio = (above.bytes_per_s > 0.0).then(|| below.bytes_per_s / above.bytes_per_s);
        let gap = match ratio {
            Some(ratio) if ratio < 1.0 - CLOSE => Some(format!("served from between {}", percent(1.0 - ratio))),
            Some(ratio) if ratio > 1.0 + CLOSE => {
                Some("others read there too, or more was read than requested".to_owned())
            }
            _ => None,
        };
        let bytes_per_s = Some(below.bytes_per_s);
        let name = format!("  below, {}", below.devices);
        Some(LedgerRow {
            bytes_per_s,
            ratio,
            expected: Some(1.0),
            gap,
            ..LedgerRow::new(name, Some(below.reads_per_s))
        })
    };
    chain[from..].windows(2).filter_map(row).collect()
}

struct Terms<'a> {
    run: &'a Run,
    step: &'a StepRecord,
    work: &'a Work,
    counters: &'a Counters,
    block_bytes: Option<f64>,
    words: Words,
}

impl Terms<'_> {
    fn blocks(&self, name: impl Into<Cow<'static, str>>, per_s: Option<f64>) -> LedgerRow {
        LedgerRow {
            bytes_per_s: per_s.zip(self.block_bytes).map(|(blocks, bytes)| blocks * bytes),
            ..LedgerRow::new(name, per_s)
        }
    }

    fn counted(&self, name: &'static str, counter: Counter) -> LedgerRow {
        self.blocks(name, self.counters.rate(counter))
    }

    /// Bytes of processes, as blocks.
    fn of_processes(&self, name: &'static str, bytes: Counter) -> LedgerRow {
        let bytes_per_s = self.counters.rate(bytes);
        let blocks = bytes_per_s.zip(self.block_bytes).map(|(bytes, block)| bytes / block);
        LedgerRow { bytes_per_s, ..self.blocks(name, blocks) }
    }

    fn at_device(&self, name: &'static str, requests: Counter, bytes: Counter) -> LedgerRow {
        LedgerRow { bytes_per_s: self.counters.rate(bytes), ..self.counted(name, requests) }
    }

    /// Blocks that an operation of the method visits on average in this mix.
    fn blocks_per_op(&self) -> Option<f64> {
        let workload = self.step.head.workload.as_ref()?;
        if !one_by_one(self.step, self.work) {
            return None;
        }
        let updates = workload.update_pct.percent() / 100.0;
        Some(workload.work_unit as f64 * (1.0 - updates) + workload.update_work_unit as f64 * updates)
    }

    fn reads(&self) -> Vec<LedgerRow> {
        let work = self.work;
        let mut rows = vec![
            LedgerRow::events("operations", Some(work.ops() / work.seconds)),
            LedgerRow {
                expected: self.blocks_per_op(),
                ..self.blocks("blocks visited", Some(work.blocks() / work.seconds))
            },
            self.counted("logical reads", Counter::LogicalReads),
            self.counted("physical reads", Counter::PhysicalReads),
            LedgerRow { expected: Some(1.0), ..self.of_processes("process reads", Counter::ProcessReadBytes) },
            LedgerRow {
                expected: single_block_reads(self.run, self.step, work).then_some(1.0),
                ..self.at_device("device reads", Counter::DeviceReads, Counter::DeviceReadBytes)
            },
        ];
        chain(&mut rows);
        let holes = Fact::HolesShare.find(&self.run.environment).and_then(|share| share.parse::<f64>().ok());
        let holes = holes.is_some_and(|share| share > MAX_PAGE_CACHE_SHARE);
        explain_reads(&mut rows, &self.words, if holes { "holes and page cache" } else { "page cache" });
        for (row, counter) in rows[2..4].iter_mut().zip([Counter::LogicalReads, Counter::PhysicalReads]) {
            if let Some(change) = self.counters.find(counter).filter(|change| change.unsure > CLOSE) {
                let known = format!("known to {}, published late", percent(change.unsure));
                row.gap = Some(row.gap.take().map_or(known.clone(), |gap| format!("{gap}; {known}")));
            }
        }
        rows.splice(4..4, self.access_rows());
        rows
    }

    /// How read blocks were read: each access path with its share. Empty if the target does not separate them.
    fn access_rows(&self) -> Vec<LedgerRow> {
        let (Some(ahead), direct) = (self.counters.rate(Counter::ReadsAhead), self.counters.rate(Counter::ReadsDirect))
        else {
            return Vec::new();
        };
        let all = self.counters.rate(Counter::PhysicalReads).filter(|rate| *rate > 0.0);
        let of = |row: LedgerRow| LedgerRow { ratio: row.per_s.zip(all).map(|(rate, all)| rate / all), ..row };
        let requests = LedgerRow::events("  read requests", self.counters.rate(Counter::ReadRequests));
        let ahead = self.blocks("  prefetched", Some(ahead));
        let direct = self.blocks("  past the cache", direct);
        [requests, ahead, direct].map(of).into()
    }

    fn writes(&self) -> Vec<LedgerRow> {
        let updated = self.work.kind(OpKind::Update).blocks / self.work.seconds;
        if updated <= 0.0 {
            return Vec::new();
        }
        let mut rows = vec![
            self.blocks("blocks updated", Some(updated)),
            self.counted("database writes", Counter::PhysicalWrites),
            self.of_processes("process writes", Counter::ProcessWriteBytes),
            self.at_device("device writes", Counter::DeviceWrites, Counter::DeviceWriteBytes),
        ];
        chain(&mut rows);
        explain_writes(&mut rows, &self.words.log);
        rows.splice(2..2, self.writers());
        rows
    }

    /// The processes that wrote the database's blocks, each with its share; the shares add up to 1. Empty if not
    /// reported.
    fn writers(&self) -> Vec<LedgerRow> {
        let split = [
            ("  by sessions", Counter::SessionWrites),
            ("  by checkpoints", Counter::CheckpointWrites),
            ("  by the background writer", Counter::BackgroundWrites),
        ];
        let reported = split.map(|(name, counter)| self.counters.rate(counter).map(|per_s| (name, per_s)));
        let all = self.counters.rate(Counter::PhysicalWrites).filter(|rate| *rate > 0.0);
        let (Some(all), [Some(sessions), Some(checkpoints), Some(background)]) = (all, reported) else {
            return Vec::new();
        };
        let mut writers = vec![sessions, checkpoints, background];
        let others = all - writers.iter().map(|(_, per_s)| per_s).sum::<f64>();
        if others > all * CLOSE {
            writers.push(("  by others", others));
        }
        let row = |(name, per_s): (&'static str, f64)| LedgerRow {
            ratio: Some(per_s / all),
            ..self.blocks(name, Some(per_s))
        };
        writers.into_iter().map(row).collect()
    }
}

/// The rows from commits to the device that they wait for, by commits. A row that the database or the kernel does not count
/// is unknown; without updates there are no rows.
fn log_rows(run: &Run, step: &StepSummary) -> Vec<LedgerRow> {
    let commits = step.commits_per_s.filter(|rate| *rate > 0.0 && step.ops.update.is_some());
    let Some(commits) = commits else { return Vec::new() };
    let (log, name) = (&step.log, run.words().log);
    let ratio = |part: Option<f64>, whole: Option<f64>| part.zip(whole.filter(|rate| *rate > 0.0)).map(|(a, b)| a / b);
    let images = log.image_share.map(|share| format!("{} of the records", percent(share)));
    let each = ratio(step.log_bytes_per_s, log.writes_per_s)
        .map(|bytes| format!("{} B of {name} per write", format_rounded(bytes)));
    let synced = log.commits_per_sync.zip(log.bytes_per_sync);
    let synced =
        synced.map(|(commits, bytes)| format!("{commits:.2} commits and {} B per sync", format_rounded(bytes)));
    // Without a count of syncs, flushes at a device that contains only the log replace it.
    let (synced, flushed) = if log.syncs_per_s.is_some() { (synced, None) } else { (None, synced) };
    let processes = ratio(log.process_write_bytes_per_s, log.write_bytes_per_s);
    let processes = processes.map(|times| format!("{times:.2} times the {name} written"));
    let shared =
        (is_apart_from_data(&run.environment) == Some(false)).then(|| "writes of data are among them".to_owned());
    let of_device = |part: Option<f64>| {
        ratio(part, log.device_write_bytes_per_s).map(|share| format!("{} of the bytes at its device", percent(share)))
    };
    let events = |name: &str, per_s: Option<f64>, gap| {
        let ratio = per_s.map(|per_s| per_s / commits);
        LedgerRow { ratio, gap, ..LedgerRow::events(name.to_owned(), per_s) }
    };
    let bytes =
        |name: &str, per_s, bytes_per_s, gap| LedgerRow { counts_bytes: true, bytes_per_s, ..events(name, per_s, gap) };
    let mut rows = vec![
        events("commits", Some(commits), None),
        events(&format!("{name} records"), log.records_per_s, None),
        events("  images of whole blocks", log.images_per_s, images),
        LedgerRow { unit: "bytes", ..bytes(&name, step.log_bytes_per_s, step.log_bytes_per_s, None) },
        bytes(&format!("{name} writes"), log.writes_per_s, log.write_bytes_per_s, each),
        bytes("  of the processes", None, log.process_write_bytes_per_s, processes),
        events(&format!("{name} syncs"), log.syncs_per_s, synced),
        events("flushes at its device", log.device_flushes_per_s, flushed),
        bytes("writes at its device", log.device_writes_per_s, log.device_write_bytes_per_s, shared),
    ];
    if log.journal_bytes_per_s.is_some() {
        let (journal, other) = (log.journal_bytes_per_s, log.other_bytes_per_s);
        rows.push(bytes("  journal of its file system", None, journal, of_device(journal)));
        rows.push(bytes("  other than log and journal", None, other, of_device(other)));
    }
    rows
}

/// Sets the ratio of each row to the one above, unless a row is unknown or almost zero.
fn chain(rows: &mut [LedgerRow]) {
    for i in 1..rows.len() {
        let above = rows[i - 1].per_s.filter(|rate| *rate > 0.0);
        rows[i].ratio = rows[i].per_s.zip(above).map(|(here, above)| here / above);
    }
}

/// The expected share of `row` above or below which the gap is named.
fn gap(row: &LedgerRow) -> Option<f64> {
    let (ratio, expected) = (row.ratio?, row.expected?);
    ((ratio / expected - 1.0).abs() > CLOSE).then_some(ratio / expected)
}

const UNREPORTED: &str = "not reported by the target";

/// The reason of a row that is unknown, or less or more than the one above.
fn gap_in_words(row: &LedgerRow, unknown: &str, less: &str, more: &str) -> Option<String> {
    let words = match row.ratio {
        None if row.per_s.is_none() => unknown,
        Some(ratio) if ratio < 1.0 - CLOSE => less,
        Some(ratio) if ratio > 1.0 + CLOSE => more,
        _ => return None,
    };
    Some(words.to_owned())
}

/// `unfetched`: what serves reads that no process fetched.
fn explain_reads(rows: &mut [LedgerRow], words: &Words, unfetched: &str) {
    let [_, visited, logical, physical, process, device] = rows else { return };
    visited.gap = gap(visited).map(|_| "operations at the edge of the window".to_owned());
    let more = format!("{:.2} {} per block", logical.ratio.unwrap_or(1.0) - 1.0, words.beside);
    logical.gap = gap_in_words(logical, UNREPORTED, "several blocks in one request", &more);
    let hits = format!("{} {}", words.hits, percent(1.0 - physical.ratio.unwrap_or(1.0)));
    physical.gap = gap_in_words(physical, UNREPORTED, &hits, "reads that no operation requested");
    let idle = physical.per_s.is_some_and(|rate| rate < FEWEST_READS_PER_S);
    process.gap = match (process.per_s, gap(process)) {
        (None, _) => Some("processes not seen".to_owned()),
        (Some(_), Some(share)) if share < 1.0 && !idle => Some(format!("{unfetched} {}", percent(1.0 - share))),
        (Some(_), Some(_)) if !idle => Some(more_than_asked(process, device).to_owned()),
        _ => None,
    };
    let merged = device.ratio.filter(|ratio| device.expected.is_none() && *ratio < 1.0 - CLOSE);
    device.gap = match (device.per_s, gap(device).or(merged)) {
        (None, _) => Some("device not seen".to_owned()),
        (Some(_), Some(share)) if share < 1.0 && !idle => Some("several blocks in one request".to_owned()),
        (Some(_), Some(_)) if !idle => Some("other users of the device, or requests split in stripes".to_owned()),
        _ => None,
    };
}

/// Why processes fetched more than the database requested: only larger requests are a read-ahead.
fn more_than_asked(process: &LedgerRow, device: &LedgerRow) -> &'static str {
    let each = |row: &LedgerRow| Some(row.bytes_per_s? / row.per_s.filter(|rate| *rate > 0.0)?);
    match each(device).zip(each(process)) {
        Some((request, block)) if request > block * (1.0 + 10.0 * CLOSE) => {
            "read-ahead: requests are larger than a block"
        }
        _ => "files other than the data, or other sessions of the server",
    }
}

fn explain_writes(rows: &mut [LedgerRow], log: &str) {
    let [_, database, process, device] = rows else { return };
    database.gap = gap_in_words(
        database,
        UNREPORTED,
        "blocks still dirty in the cache, or updated again",
        "blocks written again: changed after they were written",
    );
    process.gap = gap_in_words(
        process,
        "processes not seen",
        "a block written again while still in the page cache counts once",
        &format!("{log} too, and the page cache counts a small write as a whole page or more"),
    );
    let held = counted_larger(process, device);
    device.gap = gap_in_words(
        device,
        "device not seen",
        if held { "page-cache writes not yet flushed" } else { "several blocks in one request" },
        "file system, journal, or other users of the device",
    );
}

/// Whether the bytes of `above`, and not only its blocks, exceed those of `here`.
fn counted_larger(above: &LedgerRow, here: &LedgerRow) -> bool {
    above.bytes_per_s.zip(here.bytes_per_s).is_some_and(|(above, here)| above > here * (1.0 + CLOSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, per_s: f64, bytes_per_s: f64) -> LedgerRow {
        LedgerRow { bytes_per_s: Some(bytes_per_s), ..LedgerRow::new(name, Some(per_s)) }
    }

    #[test]
    fn requests_of_several_blocks_are_not_bytes_never_sent() {
        let gaps = |process_bytes: f64| {
            let blocks = process_bytes / 8192.0;
            let mut rows = vec![
                row("blocks updated", 1_000.0, 8.0e6),
                row("database writes", 1_700.0, 14.0e6),
                row("process writes", blocks, process_bytes),
                row("device writes", 900.0, 15.0e6),
            ];
            chain(&mut rows);
            explain_writes(&mut rows, "WAL");
            rows.into_iter().map(|row| row.gap.unwrap_or_default()).collect::<Vec<_>>()
        };
        let (plain, inflated) = (gaps(15.0e6), gaps(80.0e6));
        assert!(plain[1].contains("written again") && plain[3].contains("several blocks"), "{plain:?}");
        assert!(inflated[2].contains("WAL too") && inflated[3].contains("not yet flushed"), "{inflated:?}");
    }
}
