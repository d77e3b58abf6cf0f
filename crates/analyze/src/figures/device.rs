//! Latencies of single requests at the device over the window.

use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::record::latency::{DeviceRequest, SampledLatencies};
use mindful_core::result::DeviceSummary;

use crate::figures::counters::Counters;
use crate::figures::latency::{merged, quantile_us, timed_by};
use crate::figures::window::Window;

/// Share of events that may be lost: the lost ones may be slower than the others.
pub(crate) const MOST_LOST: f64 = 0.01;

/// The latencies `timed` over `window`, as sources reported them at each boundary. If the sampled share changed during
/// the work, some seconds would weigh more than others: then only seconds of the smallest share are used.
pub(crate) fn device(timed: &[(String, u32, SampledLatencies)], window: &Window, counters: &Counters) -> DeviceSummary {
    let timed = timed_by(HostSource::BlockTrace.name(), timed, window);
    let Some(one_of) = timed.iter().map(|sampled| sampled.one_of).max() else { return DeviceSummary::default() };
    if lost_share(counters).is_none_or(|share| share > MOST_LOST) {
        return DeviceSummary::default();
    }
    let same_share = timed.into_iter().filter(|sampled| sampled.one_of == one_of);
    let [reads, writes] =
        [DeviceRequest::Read, DeviceRequest::Write].map(|request| merged(same_share.clone(), request.name()));
    DeviceSummary {
        one_of: Some(one_of),
        reads_timed: Some(reads.count()),
        read_p50_us: quantile_us(&reads, 0.5),
        read_p99_us: quantile_us(&reads, 0.99),
        writes_timed: Some(writes.count()),
        write_p50_us: quantile_us(&writes, 0.5),
        write_p99_us: quantile_us(&writes, 0.99),
    }
}

/// Lost events by all events; `None` if not counted.
pub fn lost_share(counters: &Counters) -> Option<f64> {
    let grown = |counter| counters.find(counter).and_then(|change| change.delta);
    let (lost, read) = (grown(Counter::TraceLost)?, grown(Counter::TraceEvents)?);
    Some(if lost > 0.0 { lost / (lost + read) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use mindful_core::record::latency::Recorder;

    use super::*;
    use crate::figures::counters::Change;

    const WINDOW: Window =
        Window { begin_us: 0, end_us: 3_000_000, first_boundary: 1, last_boundary: 4, start_skew_us: 0 };

    fn counters(events: f64, lost: f64) -> Counters {
        let source = HostSource::BlockTrace.name();
        let grew = |counter: Counter, delta| Change::over_ten_seconds(source, counter.name(), [0.0, delta]);
        Counters(vec![grew(Counter::TraceEvents, events), grew(Counter::TraceLost, lost)])
    }

    /// `(boundary, one of so many, reads of so many us)`.
    fn timed(slices: &[(u32, u64, u64)]) -> Vec<(String, u32, SampledLatencies)> {
        let sampled = |(boundary, one_of, us): &(u32, u64, u64)| {
            let mut recorder = Recorder::new();
            (0..600).for_each(|_| recorder.record(us * 1_000));
            let kinds = [(DeviceRequest::Read.name().to_owned(), recorder.drain())].into();
            let sampled = SampledLatencies { one_of: *one_of, kinds };
            (HostSource::BlockTrace.name().to_owned(), *boundary, sampled)
        };
        slices.iter().map(sampled).collect()
    }

    #[test]
    fn slices_outside_the_window_or_of_another_share_are_left_out() {
        let timed = timed(&[(1, 64, 9_000), (2, 64, 5_000), (3, 128, 100), (4, 128, 100), (5, 128, 7_000)]);
        let device = device(&timed, &WINDOW, &counters(2_400.0, 0.0));
        assert_eq!((device.one_of, device.reads_timed, device.writes_timed), (Some(128), Some(1_200), Some(0)));
        let p99 = device.read_p99_us.unwrap();
        assert!((p99 / 100.0 - 1.0).abs() < 0.01, "{p99}");
        assert_eq!(device.write_p50_us, None);
    }

    #[test]
    fn lost_events_or_a_missing_source_make_latencies_unknown() {
        let timed = timed(&[(2, 64, 100)]);
        assert!(super::device(&timed, &WINDOW, &counters(1_200.0, 5.0)).read_p50_us.is_some());
        assert_eq!(super::device(&timed, &WINDOW, &counters(1_200.0, 200.0)), DeviceSummary::default());
        assert_eq!(super::device(&timed, &WINDOW, &Counters::default()), DeviceSummary::default());
    }
}
