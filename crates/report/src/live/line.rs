//! The last second of a run as a line.

use mindful_analyze::figures::rates;
use mindful_core::contract::metric::Counter;

use super::board::{Board, verdict};
use crate::figure::{number, time_us};

const CACHED_PCT_SHOWN: f64 = 10.0;

impl Board {
    /// The last second of the step, with the doubts about the result so far after its beginning: a narrow terminal cuts the
    /// end.
    pub(super) fn second_line(&self) -> Option<String> {
        let (second, head) = (self.seconds.last()?, self.step.as_ref()?);
        // Counters may be a slice late; a rate of the warm-up does not describe the window. Rates of different slices are
        // not compared: sources are read at different moments.
        let ends = self.last_rate(Counter::PhysicalReads).map(|(boundary, _)| boundary);
        let ends = ends.filter(|boundary| second.index < head.warmup_slices || *boundary > head.warmup_slices);
        let rate = |counter: Counter| self.rate_until(ends?, counter);
        let blocks = format!("{} blocks/s", number(second.blocks_per_s));
        let physical = rate(Counter::PhysicalReads).map(|reads| {
            let [name, cached] = reads_in_words(reads, rate(Counter::ProcessReadBytes), self.block_bytes());
            let cached = if cached.is_empty() { cached } else { format!(", {cached}") };
            format!("{} {name}{cached}", number(reads))
        });
        // The most important comes first.
        let (first, last) = physical.map_or((blocks.clone(), None), |physical| (physical, Some(blocks)));
        let parts = [
            Some(first),
            second.p99_us.map(|us| format!("p99 {}", time_us(us))),
            rates::hit_ratio(rate).map(|hits| format!("hits {} %", number(100.0 * hits))),
            Some(format!("{} ops/s", number(second.ops_per_s))),
            last,
        ];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        Some(format!("{}, {}: {parts}", self.place_in_words()?, verdict(&self.findings)))
    }

    /// `measuring 3 of 30 s`.
    fn place_in_words(&self) -> Option<String> {
        let tenths = |s: f64| ((s * 10.0).round() / 10.0).to_string();
        let kit = self.step.as_ref()?.workload.as_ref().and_then(|workload| workload.compatibility.kit());
        let like = kit.map_or_else(String::new, |kit| format!(", like {kit}"));
        Some(match self.place()? {
            (true, gone, _) => format!("warm-up {} s{like}", tenths(gone)),
            (false, gone, Some(asked)) => format!("measuring {} of {} s{like}", tenths(gone), tenths(asked)),
            (false, gone, None) => format!("running {} s{like}", tenths(gone)),
        })
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

#[cfg(test)]
mod tests {
    use mindful_core::contract::event::Event;
    use mindful_core::contract::metric::Phase;
    use mindful_core::contract::slice::{Placement, SliceReport};
    use mindful_core::record::latency::Recorder;
    use mindful_core::record::run::StepHead;
    use mindful_core::workload::OpKind;

    use super::*;
    use crate::live::events::{sample, source};

    fn board(sessions: u32) -> Board {
        let placements = (0..sessions).map(|session| Placement { session, sessions, schema: 1, endpoint: 0 }).collect();
        let head = StepHead { placements, warmup_slices: 1, duration_s: Some(2.0), ..StepHead::default() };
        let mut board = Board::default();
        board.block_bytes = Some(8_192);
        board.apply(Event::Step(head));
        board.apply(Event::Started { boundaries_us: vec![0, 1_000_000, 2_000_000, 3_000_000], clock_offset_us: 0 });
        board
    }

    /// The line that follows from `event`, without the verdict.
    fn line(board: &mut Board, event: Event) -> Option<String> {
        board.apply(event).map(|(line, _)| line.replace(", so far no warning", ""))
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
        let mut board = board(2);
        assert_eq!(line(&mut board, slice(0, 1)), None);
        assert_eq!(
            line(&mut board, slice(1, 1)).unwrap(),
            "measuring 1 of 2 s: 256,000 blocks/s, p99 100 us, 4,000 ops/s"
        );
        assert_eq!(line(&mut board, slice(0, 2)), None);
    }

    #[test]
    fn counters_are_shown_and_cached_reads_are_not_physical() {
        let hits = "30,000 physical reads/s, p99 100 us, hits 75.0 %";
        let cached = "40,000 reads/s, 75 % from the page cache, p99 100 us";
        for (counter, [reads, other], shown) in [
            (Counter::LogicalReads, [30_000.0, 120_000.0], hits),
            (Counter::ProcessReadBytes, [40_000.0, 10_000.0 * 8_192.0], cached),
        ] {
            let mut board = board(1);
            board.apply(source("s", &[Counter::PhysicalReads.name(), counter.name()], Phase::Boundary));
            board.apply(sample("s", 0, 0, &[0.0, 0.0]));
            board.apply(sample("s", 1, 0, &[reads, other]));
            let line = line(&mut board, slice(0, 0)).unwrap();
            assert_eq!(line, format!("warm-up 1 s: {shown}, 2,000 ops/s, 128,000 blocks/s"));
        }
    }

    /// Bytes of processes are known a slice before the reads that the server publishes.
    #[test]
    fn rates_of_different_slices_are_not_compared() {
        let mut board = board(1);
        board.apply(source("server", &[Counter::PhysicalReads.name()], Phase::Settled));
        board.apply(source("processes", &[Counter::ProcessReadBytes.name()], Phase::Boundary));
        for (boundary, reads) in [(0_u32, 0.0), (1, 10_000.0), (2, 50_000.0)] {
            board.apply(sample("server", boundary, 0, &[reads]));
            board.apply(sample("processes", boundary, 0, &[reads * 8_192.0]));
        }
        board.apply(sample("processes", 3, 0, &[60_000.0 * 8_192.0]));
        let line = line(&mut board, slice(0, 2)).unwrap();
        assert!(line.starts_with("measuring 2 of 2 s: 40,000 physical reads/s"), "{line}");
    }

    #[test]
    fn readings_after_a_boundary_count_to_the_boundary() {
        let mut board = board(1);
        board.apply(source("s", &[Counter::PhysicalReads.name()], Phase::Settled));
        // The warm-up reads 1,000 blocks a second, the window 3,000; the later a reading, the later after its boundary.
        for (boundary, late_us, reads) in [(0_u32, 250_000, 0.0), (1, 500_000, 1_000.0), (2, 900_000, 4_000.0)] {
            if let Some(ended) = boundary.checked_sub(1) {
                line(&mut board, slice(0, ended));
            }
            board.apply(sample("s", boundary, late_us, &[reads]));
        }
        assert!(
            line(&mut board, Event::StepEnd { error: None, interrupted: false })
                .unwrap()
                .contains(": 3,000 physical reads/s")
        );
    }

    #[test]
    fn reads_of_the_warm_up_are_not_shown_as_those_of_the_window() {
        let mut board = board(1);
        board.apply(source("s", &[Counter::PhysicalReads.name()], Phase::Settled));
        for (boundary, reads) in [(0_u32, 0.0), (1, 1_000.0)] {
            board.apply(sample("s", boundary, 500_000, &[reads]));
        }
        assert!(line(&mut board, slice(0, 1)).unwrap().starts_with("measuring 1 of 2 s: 128,000 blocks/s"));
    }
}
