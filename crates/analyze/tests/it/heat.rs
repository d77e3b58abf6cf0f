//! Heat maps of latencies that are known over time.

use crate::made::Made;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_analyze::figures::window::window;
use mindful_core::record::latency::{Latency, Recorder};
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;
use proptest::prelude::*;

const FINE: Fineness = Fineness { columns: 120, bands_a_decade: 20 };

/// A step with the selects in `latencies` for each second after the warm-up: `(us, count)`.
fn step(seconds: u32, latencies: impl Fn(u32) -> Vec<(u64, u64)>) -> StepRecord {
    let made = Made { seconds, latency_us: 500_000, ..Made::default() };
    let mut step = made.run().steps.remove(0);
    let seconds: Vec<_> = (0..seconds).map(|second| recorded(&latencies(second))).collect();
    for (_, slice) in &mut step.unmerged {
        let second = slice.index.saturating_sub(made.warmup) as usize;
        slice.op_mut(OpKind::Select).latency = seconds[second].clone();
    }
    step
}

fn recorded(latencies: &[(u64, u64)]) -> Latency {
    let mut recorder = Recorder::new();
    for (us, count) in latencies {
        recorder.record_many(us * 1_000, *count);
    }
    recorder.drain()
}

fn map(step: &StepRecord, fineness: Fineness) -> HeatMap {
    HeatMap::from_step(step, &window(step).unwrap(), OpKind::Select, fineness).unwrap()
}

fn share_above(map: &HeatMap, heat: Heat, us: f64) -> f64 {
    let bands = map.shares(heat).into_iter().zip(&map.edges_ns);
    bands.filter(|(_, edge)| **edge >= us * 1e3).map(|(share, _)| share).sum()
}

#[test]
fn a_slow_band_too_rare_for_the_first_map_dominates_the_second() {
    // One in a thousand takes three thousand times as long: three quarters of the time.
    let map = map(&step(30, |_| vec![(100, 999), (300_000, 1)]), FINE);
    assert!((share_above(&map, Heat::Frequency, 1e3) - 0.001).abs() < 1e-9);
    let time = share_above(&map, Heat::Intensity, 1e3);
    assert!((time - 300_000.0 / (99_900.0 + 300_000.0)).abs() < 0.01, "{time}");
    let top = map.bands() - 1;
    let hottest = |heat| (0..map.bands()).max_by(|a, b| map.per_s(heat, 3, *a).total_cmp(&map.per_s(heat, 3, *b)));
    assert_eq!((hottest(Heat::Frequency), hottest(Heat::Intensity)), (Some(0), Some(top)));
}

#[test]
fn a_stall_is_in_the_column_in_which_it_began() {
    let map =
        map(&step(20, |second| if second == 7 { vec![(100, 500), (900_000, 1)] } else { vec![(100, 1_000)] }), FINE);
    let slow =
        |column: &usize| (0..map.bands()).any(|band| map.edges_ns[band] > 1e8 && map.cell(*column, band).ops > 0);
    assert_eq!((0..map.columns()).filter(slow).collect::<Vec<_>>(), [7]);
}

#[test]
fn a_cell_shows_operations_per_second_and_sessions_at_work() {
    // Four sessions do 2,000 operations of 100 us a second each: a fifth of each one's time.
    let map = map(&step(300, |_| vec![(100, 2_000)]), FINE);
    assert_eq!(map.columns(), 100, "columns of three seconds");
    assert!((map.peak_per_s(Heat::Frequency) / 8_000.0 - 1.0).abs() < 0.01, "{}", map.peak_per_s(Heat::Frequency));
    assert!((map.peak_per_s(Heat::Intensity) / 0.8 - 1.0).abs() < 0.02, "{}", map.peak_per_s(Heat::Intensity));
}

#[test]
fn a_map_of_an_hour_is_no_larger_than_its_fineness() {
    let map = map(&step(3_600, |second| vec![(1, 5), (1_000 + u64::from(second), 9), (3_600_000_000, 1)]), FINE);
    assert_eq!(map.columns(), 120);
    assert!(map.bands() <= 10 * FINE.bands_a_decade, "1 us to an hour: {}", map.bands());
    assert_eq!(map.edges_ns.len(), map.bands() + 1);
}

#[test]
fn an_open_loop_shows_how_long_was_waited() {
    let mut step = step(10, |_| vec![(100, 1_000)]);
    for (_, slice) in &mut step.unmerged {
        slice.op_mut(OpKind::Select).response = Some(recorded(&[(50_000, 1_000)]));
    }
    assert!((share_above(&map(&step, FINE), Heat::Frequency, 1e4) - 1.0).abs() < 1e-9);
}

#[test]
fn a_kind_that_did_not_run_has_no_map() {
    let step = step(10, |_| vec![(100, 1_000)]);
    assert_eq!(HeatMap::from_step(&step, &window(&step).unwrap(), OpKind::Scan, FINE), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn no_operation_is_lost_and_each_lies_in_its_band(
        latencies in prop::collection::vec((1_u64..4_000_000_000, 1_u64..5), 1..20),
        seconds in 1_u32..50,
        columns in 1_usize..60,
        bands_a_decade in 1_usize..24,
    ) {
        let step = step(seconds, |_| latencies.clone());
        let map = map(&step, Fineness { columns, bands_a_decade });
        prop_assert!(map.columns() <= columns && map.boundaries_s.is_sorted() && map.edges_ns.is_sorted());
        let each: u64 = latencies.iter().map(|(_, count)| count).sum();
        let cells = (0..map.columns()).flat_map(|column| (0..map.bands()).map(move |band| (column, band)));
        let cells: Vec<_> = cells.map(|(column, band)| (band, map.cell(column, band))).collect();
        prop_assert_eq!(cells.iter().map(|(_, cell)| cell.ops).sum::<u64>(), each * u64::from(seconds) * 4);
        for (band, cell) in cells.into_iter().filter(|(_, cell)| cell.ops > 0) {
            let mean = cell.ns as f64 / cell.ops as f64;
            prop_assert!(mean >= map.edges_ns[band] * 0.99 && mean <= map.edges_ns[band + 1] * 1.01);
        }
    }
}
