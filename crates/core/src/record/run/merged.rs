//! Slices of all sessions, merged between two boundaries as soon as no window can divide them.
//!
//! A step of many sessions that runs for an hour has a report for each session and second. It is judged by sums over
//! all sessions, and by operations of each session. For seconds in which every session worked from boundary to
//! boundary, only those sums are kept. A window contains such a second completely or not at all.

use crate::contract::slice::{LongOp, OpReport, STALL_US, SliceReport};
use crate::record::latency::{Buckets, Latency, Recorder};
use crate::record::rank_record::{MergedSlice, Span, Spans};

impl MergedSlice {
    fn merge_reports(boundaries: Span, reports: &[(u32, SliceReport)]) -> Self {
        let mut sum = MergedSliceSum { reports: reports.len(), ..MergedSliceSum::default() };
        for (_, report) in reports {
            sum.add_report(report);
            sum.slice_us = sum.slice_us.saturating_add(report.end_us.saturating_sub(report.begin_us));
        }
        let ops = reports.iter().map(|(session, report)| (u64::from(*session), report.total_ops()));
        sum.ops.push((0, ops.collect()));
        let mut merged = sum.finish(reports.first().map_or(0, |(_, report)| report.index), boundaries);
        merged.long = long(reports).filter(|(_, op)| stands_out(op, &merged.report)).collect();
        merged
    }

    pub fn ops_by_session(&self) -> impl Iterator<Item = (u32, u64)> {
        self.ops.iter().map(|(session, ops)| (session as u32, ops))
    }
}

/// A running sum of reports of sessions, or of merged slices of several ranks, in any order.
#[derive(Debug, Default)]
pub(crate) struct MergedSliceSum {
    report: SliceReport,
    latencies: [Option<Recorder>; 3],
    responses: [Option<Recorder>; 3],
    parts: usize,
    with_cpu: usize,
    reports: usize,
    slice_us: i64,
    long: Vec<(u32, LongOp)>,
    /// Operations by session of each part; its sessions are numbered from its base. Packed, because an hour of slices
    /// of 100,000 sessions is kept.
    ops: Vec<(u32, Buckets)>,
}

impl MergedSliceSum {
    fn add_report(&mut self, part: &SliceReport) {
        let all = &mut self.report;
        let known = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).reduce(u64::saturating_add);
        all.think_us = all.think_us.saturating_add(part.think_us);
        all.writer_wait_us = known(all.writer_wait_us, part.writer_wait_us);
        all.cpu_us = known(all.cpu_us, part.cpu_us);
        all.backlog = known(all.backlog, part.backlog);
        part.tally.0.iter().for_each(|(cell, count)| all.tally.add(*cell, *count));
        for (kind, op) in part.ops.iter().enumerate() {
            all.ops[kind].ops = all.ops[kind].ops.saturating_add(op.ops);
            all.ops[kind].blocks = all.ops[kind].blocks.saturating_add(op.blocks);
            if !op.latency.buckets.is_empty() {
                self.latencies[kind].get_or_insert_default().merge(&op.latency);
            }
            if let Some(response) = &op.response {
                self.responses[kind].get_or_insert_default().merge(response);
            }
        }
        self.parts += 1;
        self.with_cpu += usize::from(part.cpu_us.is_some());
    }

    /// Adds a slice of the sessions from `base` on, on a clock that is `shift_us` late.
    pub(crate) fn add(&mut self, slice: &MergedSlice, base: u32, shift_us: i64) {
        self.add_report(&slice.report);
        self.reports += slice.reports;
        self.slice_us = self.slice_us.saturating_add(slice.slice_us);
        self.long.extend(slice.long.iter().map(|(session, op)| {
            (session.saturating_add(base), LongOp { begin_us: op.begin_us.saturating_add(shift_us), ..*op })
        }));
        self.ops.push((base, slice.ops.clone()));
    }

    /// All that was added, as slice number `index` between two boundaries.
    pub(crate) fn finish(mut self, index: u32, (begin_us, end_us): Span) -> MergedSlice {
        let mut report = SliceReport { index, begin_us, end_us, ..self.report };
        for (kind, op) in report.ops.iter_mut().enumerate() {
            op.latency = self.latencies[kind].take().map_or_else(Latency::default, |mut all| all.drain());
            op.response = self.responses[kind].take().map(|mut all| all.drain());
        }
        report.cpu_us = report.cpu_us.filter(|_| self.with_cpu == self.parts);
        report.tally.0.sort_unstable();
        let from = |(base, ops): &(u32, Buckets)| {
            let base = u64::from(*base);
            ops.iter().map(move |(session, ops)| (session.saturating_add(base), ops)).collect::<Vec<_>>()
        };
        let mut ops: Vec<(u64, u64)> = self.ops.iter().flat_map(from).collect();
        ops.sort_unstable();
        self.long.sort_by_key(|(session, op)| (*session, op.begin_us, op.us));
        MergedSlice {
            report,
            reports: self.reports,
            slice_us: self.slice_us,
            long: self.long,
            ops: ops.into_iter().collect(),
        }
    }
}

/// The operations of `reports` that took long, each with its session.
pub(super) fn long(reports: &[(u32, SliceReport)]) -> impl Iterator<Item = (u32, LongOp)> {
    reports.iter().flat_map(|(session, report)| report.long.iter().map(|op| (*session, *op)))
}

/// Whether an operation is kept: if all operations are slow, one below [`STALL_US`] is not remarkable.
fn stands_out(op: &LongOp, all: &SliceReport) -> bool {
    let OpReport { ops, latency, .. } = all.op(op.kind);
    op.us >= STALL_US || u128::from(op.us) * 1_000 * u128::from(*ops) >= OFTEN * u128::from(latency.sum_ns)
}

/// Factor over the mean of its slice that an operation below [`STALL_US`] needs to be kept.
const OFTEN: u128 = 10;

/// The merged slices of a step, and the progress of merging.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    /// They were stored merged, and nothing more is.
    given: bool,
    pub slices: Vec<MergedSlice>,
    /// Times and published work of the sessions so far; those between boundaries are of merged slices only.
    pub work: Spans,
    /// Slices that all sessions have completed.
    done: usize,
    /// Sessions that have not reached the end of the next one.
    behind: usize,
}

impl Merged {
    /// Nothing yet of so many sessions.
    pub(crate) fn new(sessions: usize) -> Self {
        let work = Spans { spans: vec![None; sessions], ..Spans::default() };
        Self { work, behind: sessions, ..Self::default() }
    }

    /// All that was merged elsewhere.
    pub(crate) fn from_parts(slices: Vec<MergedSlice>, work: Spans) -> Self {
        Self { given: true, slices, work, ..Self::default() }
    }

    /// Starts from stored spans; stored merged slices follow.
    pub(super) fn begin_merged(&mut self, spans: Spans, sessions: usize) -> Result<(), String> {
        let reported = spans.spans.len();
        if reported != sessions || self.given || !self.slices.is_empty() {
            return Err(format!("spans of {reported} sessions in a step of {sessions}"));
        }
        *self = Self::from_parts(Vec::new(), spans);
        Ok(())
    }

    /// Takes a slice that was stored merged.
    pub(super) fn add_merged(&mut self, slice: MergedSlice, slices: usize) -> Result<(), String> {
        let named = slice.ops.iter().map(|(session, _)| session).chain(slice.long.iter().map(|l| u64::from(l.0)));
        let beyond = named.max().is_some_and(|session| session >= self.work.spans.len() as u64);
        if !self.given || slice.report.index as usize >= slices || beyond {
            return Err("a merged slice of sessions or boundaries that the step does not have".to_owned());
        }
        self.slices.push(slice);
        Ok(())
    }

    /// Time that sessions were in merged slices from boundary `first` to boundary `last`, summed, us.
    pub(super) fn occupied_us(&self, first: usize, last: usize) -> i64 {
        let between = self.work.occupied_us.iter().take(last).skip(first);
        between.fold(0, |all, us| all.saturating_add(*us))
    }

    /// Counts the time of a report to the boundaries that it lies between.
    fn occupy(&mut self, report: &SliceReport, boundaries_us: &[i64]) {
        self.work.occupied_us.resize(boundaries_us.len().saturating_sub(1), 0);
        let from = boundaries_us.partition_point(|us| *us <= report.begin_us).saturating_sub(1);
        let pairs = boundaries_us.windows(2).zip(&mut self.work.occupied_us).skip(from);
        for (pair, occupied) in pairs.take_while(|(pair, _)| pair[0] < report.end_us) {
            *occupied = occupied.saturating_add(inside_us(report, (pair[0], pair[1])));
        }
    }

    /// Adds a report with a slice between two of `boundaries_us` to `unmerged`, and merges the slices that all sessions
    /// have completed, unless slices were stored merged.
    pub(crate) fn add_report(
        &mut self,
        session: u32,
        report: SliceReport,
        boundaries_us: &[i64],
        unmerged: &mut Vec<(u32, SliceReport)>,
    ) -> Result<(), String> {
        let sessions = self.work.spans.len();
        let span = self.work.spans.get_mut(session as usize);
        let span = span.ok_or_else(|| format!("session {session} of {sessions}"))?;
        if self.given {
            unmerged.push((session, report));
            return Ok(());
        }
        self.work.published.add(&report);
        let before = span.replace(widened(*span, &report));
        let reached =
            |span: &Option<Span>| span.zip(boundaries_us.get(self.done + 1)).is_some_and(|(s, us)| s.1 >= *us);
        let passes = reached(span) && !reached(&before);
        unmerged.push((session, report));
        if passes {
            self.behind -= 1;
            if self.behind == 0 {
                self.merge(boundaries_us, unmerged);
            }
        }
        Ok(())
    }

    /// Merges slices between the last start of a session and the first stop so far: a window begins and ends only on
    /// boundaries of slices.
    fn merge(&mut self, boundaries_us: &[i64], unmerged: &mut Vec<(u32, SliceReport)>) {
        let Some(spans) = self.work.spans.iter().copied().collect::<Option<Vec<Span>>>() else { return };
        let last_start = spans.iter().map(|span| span.0).max().unwrap_or(i64::MAX);
        let first_stop = spans.iter().map(|span| span.1).min().unwrap_or(i64::MIN);
        let begin = boundaries_us.partition_point(|boundary| *boundary < last_start);
        let end = boundaries_us.partition_point(|boundary| *boundary <= first_stop).saturating_sub(1);
        let fresh = begin.max(self.done)..end;
        self.done = end;
        let next = boundaries_us.get(end + 1).copied().unwrap_or(i64::MAX);
        self.behind = spans.iter().filter(|span| span.1 < next).count();
        let mut whole: Vec<Vec<(u32, SliceReport)>> = vec![Vec::new(); fresh.len()];
        for (session, report) in std::mem::take(unmerged) {
            let index = report.index as usize;
            if fresh.contains(&index) && lies_between(&report, boundaries_us) {
                self.occupy(&report, boundaries_us);
                whole[index - fresh.start].push((session, report));
            } else {
                unmerged.push((session, report));
            }
        }
        for (index, reports) in fresh.zip(whole).filter(|(_, reports)| !reports.is_empty()) {
            self.slices.push(MergedSlice::merge_reports((boundaries_us[index], boundaries_us[index + 1]), &reports));
        }
    }
}

/// Time of `report` that lies in `span`, us.
pub(super) fn inside_us(report: &SliceReport, span: Span) -> i64 {
    report.end_us.min(span.1).saturating_sub(report.begin_us.max(span.0)).max(0)
}

pub(super) fn widened(span: Option<Span>, report: &SliceReport) -> Span {
    let (begin, end) = span.unwrap_or((report.begin_us, report.end_us));
    (begin.min(report.begin_us), end.max(report.end_us))
}

/// Whether the report begins between the boundaries of its slice, and its work continues there. A late session's report
/// of a slice that it missed does not.
fn lies_between(report: &SliceReport, boundaries_us: &[i64]) -> bool {
    let index = report.index as usize;
    (boundaries_us[index]..boundaries_us[index + 1].min(report.end_us)).contains(&report.begin_us)
}
