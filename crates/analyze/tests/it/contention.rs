//! Waits for other sessions, and waits for latches with holders that wait for a CPU.

use mindful_analyze::analyze;
use mindful_core::contract::metric::{Metric, Phase};
use mindful_core::contract::wait::{SAMPLES, WaitClass, WaitEvent};
use mindful_core::record::run::{Reading, Series};
use mindful_core::result::Severity;

use crate::made::Made;

const ROW: WaitEvent = WaitEvent::new(WaitClass::Contention, "row");
const LATCH: WaitEvent = WaitEvent::latch("map");

/// The severity of `contention` on a host with this share of busy CPU and these shares of samples.
fn found(host_busy: f64, parts: &[(WaitEvent, f64)]) -> Option<Severity> {
    let mut run = Made { host_busy, ..Made::default() }.run();
    let like = run.steps[0].series[0].readings.clone();
    let metrics = parts.iter().map(|(event, _)| Metric::counter(event.to_string(), "samples", "")).collect();
    let values = |at: usize| parts.iter().map(|(_, part)| Some(part * at as f64)).collect();
    let readings = like.into_iter().enumerate().map(|(at, reading)| Reading { values: values(at), ..reading });
    let (source, readings) = (SAMPLES.to_owned(), readings.collect());
    run.steps[0].series.push(Series { source, metrics, phase: Phase::Boundary, readings });
    let findings = analyze(&run).summary.findings;
    findings.iter().find(|finding| finding.code == "contention").map(|finding| finding.severity)
}

#[test]
fn latches_of_a_full_host_wait_for_cpu_and_locks_do_not() {
    let read = |rest: f64| (WaitEvent::new(WaitClass::Read, "file"), rest);
    let (latches, rows) = ([read(80.0), (LATCH, 20.0)], [read(80.0), (ROW, 20.0)]);
    let (full, free) = (0.99, 0.4);
    assert_eq!(found(full, &latches), Some(Severity::Info));
    assert_eq!(found(free, &latches), Some(Severity::Warning), "cores are free, and sessions wait");
    assert_eq!(found(full, &rows), Some(Severity::Warning), "a row is held until a commit");
    assert_eq!(found(full, &[read(60.0), (ROW, 20.0), (LATCH, 20.0)]), Some(Severity::Warning));
    assert_eq!(found(full, &[read(90.0), (LATCH, 10.0)]), None);
}
