//! A running step, second by second.

use mindful_analyze::figures::rates;
use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Phase};
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepHead;
use std::collections::BTreeMap;

use crate::figure::{number, time_us};

const CACHED_PCT_SHOWN: f64 = 10.0;
const READS: [Counter; 3] = [Counter::PhysicalReads, Counter::LogicalReads, Counter::ProcessReadBytes];

/// A running step; a slice is shown when all sessions have reported it.
#[derive(Debug)]
pub(super) struct Seconds {
    head: StepHead,
    block_bytes: Option<u64>,
    boundaries_us: Vec<i64>,
    open: Slices,
    /// For each source: the places of [`READS`] among its values, and when it is read.
    sources: BTreeMap<String, ([Option<usize>; 3], Phase)>,
    reads: [CounterReading; 3],
    last: Option<(u32, Slice)>,
}

/// Slices of a step as they come in.
#[derive(Debug, Default)]
pub(super) struct Slices(BTreeMap<u32, Slice>);

#[derive(Debug, Default)]
pub(super) struct Slice {
    sessions: usize,
    pub ops: u64,
    pub blocks: u64,
    pub service: Recorder,
}

impl Slices {
    /// The slice of `report`, if it is the last of as many reports as there are sessions.
    pub(super) fn add(&mut self, report: &SliceReport, sessions: usize) -> Option<Slice> {
        let slice = self.0.entry(report.index).or_default();
        slice.sessions += 1;
        for op in &report.ops {
            slice.ops += op.ops;
            slice.blocks += op.blocks;
            slice.service.merge(&op.latency);
        }
        if slice.sessions < sessions {
            return None;
        }
        let whole = self.0.remove(&report.index)?;
        // A slice that some session skipped, because an operation outlasted it, will never be complete.
        self.0.retain(|index, _| *index > report.index);
        Some(whole)
    }
}

/// The length of slice `index` between these boundaries, in seconds.
pub(super) fn length_s(boundaries_us: &[i64], index: u32) -> Option<f64> {
    let [begin, end] = boundaries_us.get(index as usize..index as usize + 2)?.try_into().ok()?;
    Some((end - begin) as f64 / 1e6).filter(|seconds: &f64| *seconds > 0.0)
}

/// The last value of a counter with its time in us, and the last two rates, each with the boundary that ends its slice.
#[derive(Debug, Default, Clone, Copy)]
struct CounterReading {
    last: Option<(i64, f64)>,
    rates: [Option<(u32, f64)>; 2],
}

impl Seconds {
    pub(super) fn new(head: StepHead, block_bytes: Option<u64>) -> Self {
        Self {
            block_bytes: head.point.block_bytes().or(block_bytes),
            head,
            boundaries_us: Vec::new(),
            open: Slices::default(),
            sources: BTreeMap::new(),
            reads: [CounterReading::default(); 3],
            last: None,
        }
    }

    /// Takes an event of the step; returns the new line when there is one.
    pub(super) fn apply(&mut self, event: Event) -> Option<String> {
        match event {
            Event::Started { boundaries_us, .. } => self.boundaries_us = boundaries_us,
            Event::Slice { report, .. } => return self.slice(&report),
            Event::Source { source, metrics, phase } => {
                let places = READS.map(|read| metrics.iter().position(|metric| metric.name == read));
                self.sources.insert(source, (places, phase));
            }
            Event::Sample { source, boundary, at_us, values, .. } => {
                let (places, phase) = *self.sources.get(&source)?;
                let at_us = match phase {
                    Phase::Boundary => at_us,
                    // Read later, but it has its value at the boundary.
                    Phase::Settled => *self.boundaries_us.get(boundary as usize)?,
                };
                for (counter, place) in self.reads.iter_mut().zip(places) {
                    if let Some(value) = place.and_then(|place| *values.get(place)?) {
                        counter.read(boundary, at_us, value);
                    }
                }
            }
            _ => {}
        }
        None
    }

    /// The last slice, with the counters of its own end.
    pub(crate) fn last_line(self) -> Option<String> {
        let (index, slice) = self.last.as_ref()?;
        self.second_line(*index, slice)
    }

    fn slice(&mut self, report: &SliceReport) -> Option<String> {
        let whole = self.open.add(report, self.head.placements.len())?;
        let line = self.second_line(report.index, &whole)?;
        self.last = Some((report.index, whole));
        Some(line)
    }

    fn second_line(&self, index: u32, slice: &Slice) -> Option<String> {
        let seconds = length_s(&self.boundaries_us, index)?;
        let blocks = format!("{} blocks/s", number(slice.blocks as f64 / seconds));
        // Counters may be a slice late; a rate of the warm-up does not describe the window.
        let warmup = self.head.warmup_slices;
        let ends = self.reads[0].rates[1].map(|(boundary, _)| boundary);
        let ends = ends.filter(|boundary| index < warmup || *boundary > warmup);
        // Rates of different slices are not compared: sources are read at different moments.
        let [physical, logical, process_bytes] = self.reads.map(|reads| ends.and_then(|ends| reads.per_s(ends)));
        // The most important comes first: a narrow terminal cuts the end.
        let mut parts = match physical {
            Some(reads) => vec![self.format_reads(reads, process_bytes)],
            None => vec![blocks.clone()],
        };
        if let Some(p99) = slice.service.quantile_ns(0.99) {
            parts.push(format!("p99 {}", time_us(p99 as f64 / 1e3)));
        }
        if let Some(hits) = rates::hit_ratio(|read| if read == Counter::LogicalReads { logical } else { physical }) {
            parts.push(format!("hits {} %", number(100.0 * hits)));
        }
        parts.push(format!("{} ops/s", number(slice.ops as f64 / seconds)));
        parts.extend(physical.map(|_| blocks));
        Some(self.place(index) + &parts.join(", "))
    }

    /// Physical reads of the database; reads served by the page cache are not physical.
    fn format_reads(&self, reads: f64, process_bytes: Option<f64>) -> String {
        let [name, cached] = reads_in_words(reads, process_bytes, self.block_bytes);
        let cached = if cached.is_empty() { cached } else { format!(", {cached}") };
        format!("{} {name}{cached}", number(reads))
    }

    fn place(&self, index: u32) -> String {
        let at = |boundary: u32| self.boundaries_us.get(boundary as usize);
        let since =
            |boundary: u32| at(index + 1).zip(at(boundary)).map_or(0.0, |(end, begin)| (end - begin) as f64 / 1e6);
        let warmup = self.head.warmup_slices;
        let like = self
            .head
            .workload
            .as_ref()
            .and_then(|workload| workload.compatibility.kit())
            .map_or_else(String::new, |kit| format!(", like {kit}"));
        let words = |s: f64| ((s * 10.0).round() / 10.0).to_string();
        if index < warmup {
            return format!("warm-up {} s{like}: ", words(since(0)));
        }
        match self.head.duration_s {
            Some(asked) => format!("measuring {} of {} s{like}: ", words(since(warmup)), words(asked)),
            None => format!("running {} s{like}: ", words(since(warmup))),
        }
    }
}

/// What reads of the database are called, and the share that the page cache served.
pub(super) fn reads_in_words(reads: f64, process_bytes: Option<f64>, block_bytes: Option<u64>) -> [String; 2] {
    let fetched = process_bytes.zip(block_bytes).map(|(bytes, block)| bytes / block as f64);
    let cached_pct = fetched.filter(|_| reads > 0.0).map_or(0.0, |fetched| 100.0 * (1.0 - fetched / reads));
    // Below that, the two counters may have been read at different moments.
    if cached_pct < CACHED_PCT_SHOWN {
        return ["physical reads/s".to_owned(), String::new()];
    }
    ["reads/s".to_owned(), format!("{cached_pct:.0} % from the page cache")]
}

impl CounterReading {
    fn read(&mut self, boundary: u32, at_us: i64, value: f64) {
        if let Some((before_us, before)) = self.last.filter(|(before_us, _)| *before_us < at_us) {
            let rate = (value >= before).then(|| (boundary, (value - before) * 1e6 / (at_us - before_us) as f64));
            self.rates = [self.rates[1], rate];
        }
        self.last = Some((at_us, value));
    }

    /// The rate of the slice that ends at `boundary`.
    fn per_s(&self, boundary: u32) -> Option<f64> {
        self.rates.into_iter().flatten().find(|(ends, _)| *ends == boundary).map(|(_, rate)| rate)
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::contract::event::Event;
    use mindful_core::contract::metric::Phase;
    use mindful_core::plan::settings::{Origin, Settings};
    use mindful_core::plan::{KEYS, Plan};
    use mindful_core::record::latency::Recorder;
    use mindful_core::record::run::StepHead;
    use mindful_core::workload::OpKind;

    use super::*;
    use crate::live::events::{sample, source};

    fn seconds(sessions: u32) -> Seconds {
        let mut settings = Settings::defaults(KEYS);
        settings.set("target", "null:", Origin::Default);
        settings.set("sessions", sessions.to_string(), Origin::Default);
        let plan = Plan::from_settings(&settings).unwrap();
        let dataset = serde_json::from_value(serde_json::json!({
            "schemas": 1, "blocks_per_schema": 1000, "scan_blocks": 0, "block_bytes": 8192, "bytes": 8_192_000,
            "index_bytes": null, "seed": 1, "content": "repeated"
        }));
        let workload = plan.workload(&dataset.unwrap()).unwrap();
        let placements = plan.placements(1, 1);
        let head: StepHead = serde_json::from_value(serde_json::json!({
            "step": 0, "workload": workload, "placements": placements, "warmup_slices": 1, "duration_s": 2.0, "ops": null
        }))
        .unwrap();
        let mut seconds = Seconds::new(head, Some(8_192));
        seconds.apply(Event::Started { boundaries_us: vec![0, 1_000_000, 2_000_000, 3_000_000], clock_offset_us: 0 });
        seconds
    }

    fn slice(session: u32, index: u32) -> Event {
        let mut recorder = Recorder::new();
        (0..2_000).for_each(|_| recorder.record(100_000));
        let mut report = SliceReport { index, ..SliceReport::default() };
        let op = report.op_mut(OpKind::Select);
        (op.ops, op.blocks, op.latency) = (2_000, 128_000, recorder.drain());
        Event::Slice { session, report }
    }

    #[test]
    fn a_second_is_shown_when_all_sessions_have_reported_it() {
        let mut seconds = seconds(2);
        assert_eq!(seconds.apply(slice(0, 1)), None);
        assert_eq!(
            seconds.apply(slice(1, 1)).unwrap(),
            "measuring 1 of 2 s: 256,000 blocks/s, p99 100 us, 4,000 ops/s"
        );
        assert_eq!(seconds.apply(slice(0, 2)), None);
    }

    #[test]
    fn counters_are_shown_when_they_are_known() {
        let mut seconds = seconds(1);
        let counters = [Counter::PhysicalReads.name(), Counter::LogicalReads.name()];
        seconds.apply(source("s", &counters, Phase::Boundary));
        seconds.apply(sample("s", 0, 0, &[0.0, 0.0]));
        seconds.apply(sample("s", 1, 0, &[30_000.0, 120_000.0]));
        let line = seconds.apply(slice(0, 0)).unwrap();
        assert_eq!(
            line,
            "warm-up 1 s: 30,000 physical reads/s, p99 100 us, hits 75.0 %, 2,000 ops/s, 128,000 blocks/s"
        );
    }

    #[test]
    fn reads_from_the_page_cache_are_not_physical() {
        let mut seconds = seconds(1);
        let counters = [Counter::PhysicalReads.name(), Counter::ProcessReadBytes.name()];
        seconds.apply(source("s", &counters, Phase::Boundary));
        seconds.apply(sample("s", 0, 0, &[0.0, 0.0]));
        seconds.apply(sample("s", 1, 0, &[40_000.0, 10_000.0 * 8_192.0]));
        let line = seconds.apply(slice(0, 0)).unwrap();
        assert!(line.starts_with("warm-up 1 s: 40,000 reads/s, 75 % from the page cache, p99"), "{line}");
    }

    /// Bytes of processes are known a slice before the reads that the server publishes.
    #[test]
    fn rates_of_different_slices_are_not_compared() {
        let mut seconds = seconds(1);
        seconds.apply(source("server", &[Counter::PhysicalReads.name()], Phase::Settled));
        seconds.apply(source("processes", &[Counter::ProcessReadBytes.name()], Phase::Boundary));
        for (boundary, reads) in [(0_u32, 0.0), (1, 10_000.0), (2, 50_000.0)] {
            seconds.apply(sample("server", boundary, 0, &[reads]));
            seconds.apply(sample("processes", boundary, 0, &[reads * 8_192.0]));
        }
        seconds.apply(sample("processes", 3, 0, &[60_000.0 * 8_192.0]));
        let line = seconds.apply(slice(0, 2)).unwrap();
        assert!(line.starts_with("measuring 2 of 2 s: 40,000 physical reads/s"), "{line}");
    }

    #[test]
    fn readings_after_a_boundary_count_to_the_boundary() {
        let mut seconds = seconds(1);
        seconds.apply(source("s", &[Counter::PhysicalReads.name()], Phase::Settled));
        // The warm-up reads 1,000 blocks a second, the window 3,000; the later a reading, the later after its boundary.
        for (boundary, late_us, reads) in [(0_u32, 250_000, 0.0), (1, 500_000, 1_000.0), (2, 900_000, 4_000.0)] {
            if let Some(ended) = boundary.checked_sub(1) {
                seconds.apply(slice(0, ended));
            }
            seconds.apply(sample("s", boundary, late_us, &[reads]));
        }
        assert!(seconds.last_line().unwrap().contains(": 3,000 physical reads/s"));
    }

    #[test]
    fn reads_of_the_warm_up_are_not_shown_as_those_of_the_window() {
        let mut seconds = seconds(1);
        seconds.apply(source("s", &[Counter::PhysicalReads.name()], Phase::Settled));
        for (boundary, reads) in [(0_u32, 0.0), (1, 1_000.0)] {
            seconds.apply(sample("s", boundary, 500_000, &[reads]));
        }
        assert!(seconds.apply(slice(0, 1)).unwrap().starts_with("measuring 1 of 2 s: 128,000 blocks/s"));
    }
}
