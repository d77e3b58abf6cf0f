//! A rate that falls in the window: to a limit, or because others took its share.

use mindful_analyze::analyze;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::Run;

use crate::judged::has;
use crate::made::Made;

const FELL: u32 = 7;

/// A run like `before` until it falls, and like `after` from then on.
fn falls(mut before: Run, after: &Run) -> Run {
    let (step, later) = (&mut before.steps[0], &after.steps[0]);
    for (slice, slower) in step.unmerged.iter_mut().zip(&later.unmerged).filter(|((_, s), _)| s.index >= FELL) {
        *slice = slower.clone();
    }
    for (series, slower) in step.series.iter_mut().zip(&later.series) {
        let until = series.readings[FELL as usize].values.clone();
        let from = &slower.readings[FELL as usize].values;
        for (reading, later) in series.readings.iter_mut().zip(&slower.readings).skip(FELL as usize) {
            let grew = later.values.iter().zip(from).map(|(to, from)| Some(to.as_ref()? - from.as_ref()?));
            reading.values = until.iter().zip(grew).map(|(until, grew)| Some(until.as_ref()? + grew?)).collect();
        }
    }
    before
}

#[test]
fn a_loss_to_others_is_not_a_cliff() {
    let fast = Made { latency_us: 2_000, ..Made::default() };
    let slow = Made::default();
    let is_cliff = |before: Run, after: &Run| has(&analyze(&falls(before, after)), "cliff");
    assert!(is_cliff(fast.run(), &slow.run()), "a limit holds all back");
    assert!(!is_cliff(slow.run(), &slow.run()), "nothing fell");

    // The device serves as many bytes as before, three quarters of them to others.
    let shared_device = Made { device: 3.2, ..slow.clone() };
    assert!(!is_cliff(fast.run(), &shared_device.run()));
    // If reads took no longer there, others only took what a limit above it left.
    let waits = |us| [(Counter::DeviceReadTimeUs, us)];
    assert!(
        is_cliff(fast.with("stat", &waits(12e6)), &shared_device.with("stat", &waits(12e6))),
        "waits as long as before"
    );
    assert!(
        !is_cliff(fast.with("stat", &waits(12e6)), &shared_device.with("stat", &waits(36e6))),
        "three times as long"
    );
    // Others that always read as much did not cause the fall.
    let beside = Made { device: 1.2, ..fast.clone() };
    assert!(is_cliff(beside.run(), &Made { device: 1.64, ..slow.clone() }.run()));

    let steal = |us| [(Counter::HostCpuStealUs, us)];
    assert!(
        !is_cliff(fast.with("stat", &steal(0.0)), &slow.with("stat", &steal(2e6))),
        "a quarter of the CPUs was taken"
    );
    assert!(is_cliff(fast.with("stat", &steal(2e6)), &slow.with("stat", &steal(2e6))), "taken before it, too");
    assert!(
        is_cliff(fast.with("stat", &steal(0.0)), &slow.with("stat", &steal(0.9e6))),
        "a ninth of the CPUs is not half of the rate"
    );

    let users = |us| [(Counter::HostCpuUserUs, us), (Counter::HostCpuNiceUs, 0.0)];
    assert!(!is_cliff(fast.with("stat", &users(1e6)), &slow.with("stat", &users(6e6))), "others compute");
    assert!(is_cliff(fast.with("stat", &users(1e6)), &slow.with("stat", &users(1e6))));
    // On a host that was full before, others take what a limit leaves.
    let full = |made: &Made| Made { host_busy: 0.97, ..made.clone() };
    assert!(is_cliff(full(&fast).with("stat", &users(6e6)), &full(&slow).with("stat", &users(7e6))));
}
