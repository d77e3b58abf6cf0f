//! Waits for other sessions, and waits for latches with holders that wait for a CPU.

use mindful_core::contract::wait::{SAMPLES, WaitClass, WaitEvent};
use mindful_core::result::Severity;

use crate::judged;
use crate::made::Made;

const ROW: WaitEvent = WaitEvent::new(WaitClass::Contention, "row");
const LATCH: WaitEvent = WaitEvent::latch("map");

/// The severity of `contention` on a host with this share of busy CPU and these shares of samples.
fn found(host_busy: f64, parts: &[(WaitEvent, f64)]) -> Option<Severity> {
    let names: Vec<_> = parts.iter().map(|(event, _)| event.to_string()).collect();
    let rates: Vec<_> = names.iter().map(String::as_str).zip(parts.iter().map(|(_, part)| *part)).collect();
    let run = Made { host_busy, ..Made::default() }.with(SAMPLES, &rates);
    judged::found(&run, "contention").map(|finding| finding.severity)
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
