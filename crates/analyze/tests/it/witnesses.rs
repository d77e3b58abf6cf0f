//! Samples of waits in agreement with the scheduler, the device and the CPUs of the host.

use mindful_analyze::analyze;
use mindful_analyze::figures::shares::Shares;
use mindful_analyze::judgement::verdict::{Evidence, Limit, Verdict};
use mindful_core::contract::metric::Counter;
use mindful_core::contract::wait::{SAMPLES, WaitClass, WaitEvent};
use mindful_core::record::run::Run;
use mindful_core::result::Severity;

use crate::judged::{self, limit, near, verdict};
use crate::made::{Made, add};

/// A run with these counts in its samples, and these shares of its threads on a CPU and in the run queue.
fn run(samples: &[(&str, f64)], scheduler: Option<(f64, f64)>) -> Run {
    let mut run = Made { sessions: 8, seconds: 5, warmup: 0, ..Made::default() }.with("waits", samples);
    if let Some((on_cpu, queued)) = scheduler {
        let rates = [
            (Counter::SessionCpuUs, on_cpu * 8e6),
            (Counter::SessionQueueUs, queued * 8e6),
            (Counter::SessionTimeUs, 8e6),
        ];
        add(&mut run, "session_threads", &rates);
    }
    run
}

fn shares(run: &Run) -> Shares {
    analyze(run).steps[0].evidence.shares.clone()
}

#[test]
fn only_a_session_that_is_asleep_waits_for_a_read() {
    let samples = [("cpu/cpu", 3.0), ("read/DataFileRead", 397.0)];
    near(shares(&run(&samples, None)).get(WaitClass::Read), 0.9925, 1e-6);
    let one_cpu = run(&samples, Some((0.03, 0.75)));
    near(shares(&one_cpu).get(WaitClass::Read), 0.22, 1e-6);
    near(shares(&one_cpu).get(WaitClass::Cpu), 0.78, 1e-6);
    let analysis = analyze(&one_cpu);
    let verdict = verdict(&analysis);
    assert!(verdict.limit == Limit::Cpu && verdict.figures.contains("75 % waiting for one"), "{verdict:?}");
    assert_eq!(analysis.summary.steps[0].cpu.sessions_in_run_queue_share, Some(0.75));
}

#[test]
fn sessions_seen_just_before_they_sleep_wait_for_the_device() {
    let samples = [("cpu/cpu", 280.0), ("read/data_file", 120.0)];
    assert_eq!(limit(&analyze(&run(&samples, None))), Limit::Undecided);
    let slept = run(&samples, Some((0.11, 0.04)));
    near(shares(&slept).get(WaitClass::Read), 0.85, 1e-6);
    assert_eq!(limit(&analyze(&slept)), Limit::DeviceLatency);
}

#[test]
fn idle_time_is_not_database_time() {
    let half_idle = run(&[("cpu/cpu", 100.0), ("read/page", 100.0), ("idle/sleep", 200.0)], Some((0.2, 0.05)));
    // Of 0.75 asleep two thirds are idle.
    near(shares(&half_idle).get(WaitClass::Read), 0.5, 1e-6);
    near(shares(&half_idle).get(WaitClass::Cpu), 0.5, 1e-6);
}

#[test]
fn time_asleep_that_no_sample_explains_is_other_time() {
    let unexplained = shares(&run(&[("cpu/cpu", 400.0), ("read/page", 0.0)], Some((0.1, 0.0))));
    near(unexplained.get(WaitClass::Other), 0.9, 1e-6);
    near(unexplained.get(WaitClass::Cpu), 0.1, 1e-6);
}

/// A clock of a wait continues while its session waits for a CPU.
#[test]
fn waits_by_clock_take_no_more_than_the_time_asleep() {
    let mut run = run(&[], Some((0.1, 0.2)));
    add(&mut run, "database", &[(Counter::CommitTimeUs, 8e6 * 0.3)]);
    for (_, report) in &mut run.steps[0].unmerged {
        report.writer_wait_us = Some(700_000);
    }
    let shares = shares(&run);
    let all: f64 = WaitClass::BUSY.into_iter().filter_map(|class| shares.get(class)).sum();
    assert!(shares.get(WaitClass::Cpu).is_some_and(|cpu| cpu > 0.3));
    assert!(shares.get(WaitClass::Contention) > shares.get(WaitClass::Log) && all < 1.0 + 1e-6, "{shares:?}");
}

fn evidence(parts: &[(WaitClass, f64)]) -> Evidence {
    Evidence { shares: Shares::new(parts.iter().copied()), ..Evidence::default() }
}

#[test]
fn a_limit_that_a_witness_contradicts_is_not_named() {
    let mut by_samples = Evidence { host_busy: Some(0.45), ..evidence(&[(WaitClass::Cpu, 0.87)]) };
    by_samples.shares.samples = Some(400.0);
    let with = |cpu_used, at_device| Verdict::from_evidence(&Evidence { cpu_used, at_device, ..by_samples.clone() });
    assert_eq!(with(Some(0.85), None).limit, Limit::Cpu);
    let used_less = with(Some(0.11), None);
    assert_eq!(used_less.limit, Limit::Undecided);
    assert!(used_less.figures.contains("87 %") && used_less.figures.contains("11 %"), "{}", used_less.figures);
    assert_eq!(with(Some(0.85), Some(0.69)).limit, Limit::Undecided, "reads were at the device at the same time");
    let reads = evidence(&[(WaitClass::Read, 0.92)]);
    let at = |at_device| Verdict::from_evidence(&Evidence { at_device, ..reads.clone() }).limit;
    assert_eq!(
        (at(Some(0.7)), at(Some(0.1)), at(None)),
        (Limit::DeviceLatency, Limit::Undecided, Limit::DeviceLatency)
    );
}

#[test]
fn unknown_figures_decide_nothing() {
    let verdict = Verdict::from_evidence(&Evidence::default());
    assert_eq!(verdict.limit, Limit::Undecided);
    assert!(verdict.figures.contains("not known"));
}

#[test]
fn undecided_lists_the_three_largest() {
    let verdict = Verdict::from_evidence(&evidence(&[
        (WaitClass::Cpu, 0.4),
        (WaitClass::Read, 0.35),
        (WaitClass::Other, 0.15),
        (WaitClass::Log, 0.1),
    ]));
    assert_eq!(verdict.figures, "largest of database time: CPU or run queue 40 %, reads 35 %, other waits 15 %");
}

#[test]
fn requests_at_the_device_decide_what_samples_leave_open() {
    let reads = evidence(&[(WaitClass::Read, 0.54), (WaitClass::Cpu, 0.37), (WaitClass::Other, 0.09)]);
    let judged = |at_device| Verdict::from_evidence(&Evidence { at_device, ..reads.clone() });
    let decided = judged(Some(0.63));
    assert_eq!(decided.limit, Limit::DeviceLatency);
    assert!(decided.figures.contains("63 %") && decided.figures.contains("54 %"), "{decided:?}");
    assert_eq!([judged(Some(0.5)), judged(None)].map(|verdict| verdict.limit), [Limit::Undecided; 2]);
    let busy = evidence(&[(WaitClass::Read, 0.50), (WaitClass::Cpu, 0.45), (WaitClass::Other, 0.05)]);
    let judged = Verdict::from_evidence(&Evidence { at_device: Some(0.8), ..busy });
    assert_eq!(judged.limit, Limit::Undecided, "read-ahead keeps the device busy, too");
}

#[test]
fn a_device_behind_a_cache_that_served_all_does_not_limit() {
    let reads = evidence(&[(WaitClass::Read, 0.95)]);
    let limit = |phi| Verdict::from_evidence(&Evidence { page_cache_share: Some(phi), ..reads.clone() }).limit;
    assert_eq!([1.0, 0.9].map(limit), [Limit::PageCache, Limit::DeviceLatency]);
}

const ROW: WaitEvent = WaitEvent::new(WaitClass::Contention, "row");
const LATCH: WaitEvent = WaitEvent::latch("map");

/// The severity of `contention` on a host with this share of busy CPU and these shares of samples.
fn contention(host_busy: f64, parts: &[(WaitEvent, f64)]) -> Option<Severity> {
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
    assert_eq!(contention(full, &latches), Some(Severity::Info));
    assert_eq!(contention(free, &latches), Some(Severity::Warning), "cores are free, and sessions wait");
    assert_eq!(contention(full, &rows), Some(Severity::Warning), "a row is held until a commit");
    assert_eq!(contention(full, &[read(60.0), (ROW, 20.0), (LATCH, 20.0)]), Some(Severity::Warning));
    assert_eq!(contention(full, &[read(90.0), (LATCH, 10.0)]), None);
}
