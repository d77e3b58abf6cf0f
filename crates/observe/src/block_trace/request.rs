//! Requests at a device, put together from the events of their issue and their completion.

use std::collections::{BTreeMap, HashMap};

use mindful_core::record::latency::{DeviceRequest, Recorder};
use mindful_host::device::DeviceNumber;

/// Requests under way that are kept at most: a completion that was lost would otherwise be waited for without end.
const MOST_UNDER_WAY: usize = 1 << 16;

/// Where a request begins: number of the disk, and its first sector.
type Place = (DeviceNumber, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A request was handed to the device, or came back from it.
    Request(Request),
    /// The buffer was full: so many events are missing here.
    Lost(u64),
}

/// One event of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    at_us: u64,
    completed: bool,
    kind: DeviceRequest,
    place: Place,
    sectors: u64,
}

impl Request {
    /// The disk of a flush; `None` for other requests.
    pub(super) fn flushed_disk(&self) -> Option<DeviceNumber> {
        (self.kind == DeviceRequest::Flush).then_some(self.place.0)
    }
}

/// Parses a line; `None` for all but reads, writes and flushes, such as a discard.
pub(super) fn parse(line: &str) -> Option<Line> {
    if let Some((_, rest)) = line.split_once("[LOST ") {
        return rest.split(' ').next()?.parse().ok().map(Line::Lost);
    }
    let (before, rest) = line.split_once(": block_rq_")?;
    let (event, rest) = rest.split_once(": ")?;
    let completed = match event {
        "issue" => false,
        "complete" => true,
        _ => return None,
    };
    let mut words = rest.split(' ');
    let (major, minor) = words.next()?.split_once(',')?;
    let flags = words.next()?;
    let (ahead, behind) = rest.split_once(" + ")?;
    let sectors: u64 = behind.split(' ').next()?.parse().ok()?;
    let kind = kind(flags, sectors)?;
    // A flush begins nowhere: kernels print 0 or -1 at its completion. A disk has one under way at a time.
    let sector = if kind == DeviceRequest::Flush { u64::MAX } else { ahead.rsplit(' ').next()?.parse().ok()? };
    let place = ((major.parse().ok()?, minor.parse().ok()?), sector);
    Some(Line::Request(Request { at_us: micros(before)?, completed, kind, place, sectors }))
}

/// The kind of a request by its flags, such as `R`, `RA`, `WS`, `FWFS`, `FF`. A leading `F` requests a flush before it,
/// and without sectors only a flush.
fn kind(flags: &str, sectors: u64) -> Option<DeviceRequest> {
    if sectors == 0 {
        return flags.starts_with('F').then_some(DeviceRequest::Flush);
    }
    match flags.strip_prefix('F').unwrap_or(flags).bytes().next()? {
        b'R' => Some(DeviceRequest::Read),
        b'W' => Some(DeviceRequest::Write),
        _ => None,
    }
}

/// The time stamp at the end of the text before the event: `… 4711.000123`, seconds.
fn micros(before: &str) -> Option<u64> {
    let (seconds, fraction) = before.rsplit(' ').next()?.split_once('.')?;
    let micros: u64 = fraction.parse().ok().filter(|_| fraction.len() == 6)?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000 + micros)
}

#[derive(Debug, Default)]
pub(super) struct Pairs {
    under_way: HashMap<Place, (u64, u64)>,
    pub(super) timed: BTreeMap<DeviceRequest, Recorder>,
}

impl Pairs {
    /// Takes an event. A request that is issued again (requeued by its driver) counts from then; one that completes in
    /// parts is left out, for its later parts begin elsewhere.
    pub(super) fn add(&mut self, request: Request) {
        if !request.completed {
            if self.under_way.len() >= MOST_UNDER_WAY {
                self.under_way.clear();
            }
            self.under_way.insert(request.place, (request.at_us, request.sectors));
            return;
        }
        let Some((issued_us, sectors)) = self.under_way.remove(&request.place) else { return };
        if sectors == request.sectors && request.at_us >= issued_us {
            self.timed.entry(request.kind).or_default().record((request.at_us - issued_us) * 1_000);
        }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    const ISSUE: &str = "        postgres-4242    [003] d..1.  5021.000100: block_rq_issue: 254,0 R 8192 () 8192 + 16 none,0,0 [my (odd) + name]";
    const DONE: &str =
        "          <idle>-0       [001] d.h1.  5021.000350: block_rq_complete: 254,0 R () 8192 + 16 none,0,0 [0]";

    fn times(lines: &[&str]) -> (Vec<u64>, Vec<u64>) {
        let mut pairs = Pairs::default();
        for line in lines {
            if let Some(Line::Request(request)) = parse(line) {
                pairs.add(request);
            }
        }
        let mut reported = |kind| {
            let taken = pairs.timed.entry(kind).or_default().drain();
            assert_eq!(taken.buckets.is_empty(), taken.sum_ns == 0);
            taken
                .buckets
                .iter()
                .flat_map(|(_, count)| vec![taken.sum_ns / 1000 / taken.count(); count as usize])
                .collect()
        };
        (reported(DeviceRequest::Read), reported(DeviceRequest::Write))
    }

    #[test]
    fn a_request_takes_the_time_from_its_issue_to_its_completion() {
        assert_eq!(times(&[ISSUE, DONE]), (vec![250], vec![]));
        let written = |line: &str| line.replace(" R ", " FWFS ");
        assert_eq!(times(&[&written(ISSUE), &written(DONE)]), (vec![], vec![250]));
    }

    #[test]
    fn lines_of_kernels_without_priorities_are_read_too() {
        let old = |line: &str| line.replace(" none,0,0", "").replace("d..1. ", "d..1 ");
        assert_eq!(times(&[&old(ISSUE), &old(DONE)]), (vec![250], vec![]));
    }

    #[test]
    fn unrelated_events_are_not_timed() {
        let elsewhere = DONE.replace("8192 + 16", "8208 + 16");
        let other_disk = DONE.replace("254,0", "254,16");
        let part = DONE.replace("8192 + 16", "8192 + 8");
        for strange in [elsewhere, other_disk, part] {
            assert_eq!(times(&[ISSUE, &strange]), (vec![], vec![]), "{strange}");
        }
        assert_eq!(times(&[DONE, ISSUE]), (vec![], vec![]), "a completion alone");
    }

    #[test]
    fn a_request_that_is_issued_again_counts_from_then() {
        let again = ISSUE.replace("000100", "000300");
        assert_eq!(times(&[ISSUE, &again, DONE, DONE]), (vec![50], vec![]));
    }

    #[test]
    fn a_flush_is_timed_by_its_disk() {
        let flush = |line: &str| {
            line.replace(" R 8192 ()", " FF 0 ()").replace(" R ()", " FF ()").replace("8192 + 16", "0 + 0")
        };
        for end in ["0 + 0", "18446744073709551615 + 0"] {
            let mut pairs = Pairs::default();
            for line in [flush(ISSUE), flush(DONE).replace("0 + 0", end)] {
                let Some(Line::Request(request)) = parse(&line) else { panic!("{line}") };
                assert_eq!(request.flushed_disk(), Some((254, 0)));
                pairs.add(request);
            }
            let timed: Vec<_> =
                pairs.timed.iter_mut().map(|(kind, recorder)| (*kind, recorder.drain().sum_ns)).collect();
            assert_eq!(timed, [(DeviceRequest::Flush, 250_000)]);
        }
    }

    #[test]
    fn strange_lines_are_skipped_and_losses_counted() {
        assert_eq!(parse(&ISSUE.replace("8192 + 16", "8192 + 0")), None);
        assert_eq!(parse(&ISSUE.replace(" R ", " DS ")), None);
        assert_eq!(parse(&ISSUE.replace("5021.000100", "5021.1")), None);
        assert_eq!(parse("CPU:1 [LOST 1234 EVENTS]"), Some(Line::Lost(1234)));
    }

    #[test]
    fn no_line_makes_the_parser_panic() {
        any_text("(.{0,9}|: block_rq_|issue: |complete: |[0-9]+[,.+ ]|\\[LOST | R | \\+ ){0,24}", parse);
    }
}
