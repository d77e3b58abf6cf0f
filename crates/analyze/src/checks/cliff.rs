//! A rate that fell to a flat cap in the window, and the likely source of the cap: a burst that ended, or flash that ran
//! out of blocks to write to.

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::figures::blocks::CACHED_YIELD;
use crate::figures::counters::Counters;
use crate::figures::cpu::left_to_host;
use crate::figures::others::Others;
use crate::figures::rates;
use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::judgement::headline::percent;
use crate::judgement::verdict::HOST_BUSY;
use crate::stats::moment::{mean, variation};
use crate::step::StepAnalysis;

/// Fewest slices on either side.
const SHORTEST: usize = 4;
/// The rate after it by the rate before, at most: a smaller fall is not a cliff.
const FALL: f64 = 0.7;
/// Largest standard deviation by mean of the slices after it: a rate at a limit is level.
const FLAT: f64 = 0.08;
/// Each slice before it by the mean after it, at least: a rate that came down little by little was not held.
const ABOVE: f64 = 1.2;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Cliff {
    /// Blocks per second until then.
    before_per_s: f64,
    after_per_s: f64,
    /// Time before it, s from the begin of the window.
    before_s: f64,
    after_s: f64,
    /// Standard deviation of slices after it, by their mean.
    spread: f64,
    /// The boundary of slices from which on the lower rate held.
    boundary: u32,
}

impl Cliff {
    /// The cliff of `step` in `window`; `None` if the rate did not fall to a constant one.
    fn find(step: &StepRecord, window: &Window) -> Option<Self> {
        let rates = Seconds::from_step(step, window).blocks_per_s;
        let at = split(&rates)?;
        // The slice in which it fell is of neither rate.
        let (before, after) = (&rates[..at], &rates[at + 1..]);
        let (before_per_s, after_per_s) = (mean(before)?, mean(after)?);
        let spread = variation(after)?;
        let held = before.iter().all(|rate| *rate >= ABOVE * after_per_s);
        let boundary = window.first_boundary + at as u32 + 1;
        let fell_us = step.boundary_us(boundary - 1)?;
        (after_per_s <= FALL * before_per_s && held && spread <= FLAT).then(|| Self {
            before_per_s,
            after_per_s,
            before_s: fell_us.saturating_sub(window.begin_us) as f64 / 1e6,
            after_s: window.end_us.saturating_sub(fell_us) as f64 / 1e6,
            spread,
            boundary,
        })
    }

    fn lost(&self) -> f64 {
        1.0 - self.after_per_s / self.before_per_s
    }
}

/// The slice at which the two means are furthest apart, by `n1 n2 / n (mean1 - mean2)^2`; it is the first of the second.
fn split(rates: &[f64]) -> Option<usize> {
    let n = rates.len();
    let splits = SHORTEST..n.checked_sub(SHORTEST)?;
    let separation = |at: usize| {
        let apart = mean(&rates[..at]).unwrap_or(0.0) - mean(&rates[at..]).unwrap_or(0.0);
        (at * (n - at)) as f64 * apart * apart
    };
    let best = splits.max_by(|one, other| separation(*one).total_cmp(&separation(*other)))?;
    // If the rate fell late in a slice, that slice still resembles those before it.
    let falls_before = rates[best - 1] < 0.9 * mean(&rates[..best - 1])? && best > SHORTEST;
    Some(if falls_before { best - 1 } else { best })
}

/// Distance from a cap within which a rate is named after it.
const NEAR: f64 = 0.03;
/// Share of the lost bytes, and of the additional time per read, that other processes must account for to be the cause
/// of the fall.
const TAKEN: f64 = 0.5;
/// Smallest rise in CPU use by others and the hypervisor that explains a fall, by the lost share of the rate. A tenth
/// of the CPUs explains a rate that fell by a third, but not one that fell to a twentieth.
const TAKEN_CPUS: f64 = 0.25;

/// Limits of volumes as their makers publish them: name, requests a second, bytes a second.
const CAPS: [(&str, f64, f64); 9] = [
    ("AWS gp3 at its baseline", 3_000.0, 125.0 * MIB),
    ("AWS gp3 or gp2 at its maximum", 16_000.0, 1_000.0 * MIB),
    ("Azure E10 (Standard SSD) or P10", 500.0, 100.0 * MB),
    ("Azure P15", 1_100.0, 125.0 * MB),
    ("Azure P20", 2_300.0, 150.0 * MB),
    ("Azure P30", 5_000.0, 200.0 * MB),
    ("Azure P40 or P50", 7_500.0, 250.0 * MB),
    ("Azure P6", 240.0, 50.0 * MB),
    ("Azure P4", 120.0, 25.0 * MB),
];
const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;
/// AWS gp2: so many requests a second for each GiB, between these.
const GP2: (f64, f64, f64) = (3.0, 100.0, 16_000.0);

/// The finding; `None` for a run from the database's cache, and for a step that chose its window by its data.
pub(super) fn check_step(run: &Run, step: &StepRecord, window: &Window, found: &StepAnalysis) -> Option<Finding> {
    if step.window.is_some() || found.gates.method_yield.is_some_and(|y| y < CACHED_YIELD) {
        return None;
    }
    let cliff = Cliff::find(step, window)?;
    let sides = sides(window, &cliff).map(|side| (Counters::from_step(step, &side), side));
    if taken_cpus(run, step, &sides) > TAKEN_CPUS * cliff.lost() || taken_at_the_device(&cliff, &sides) {
        return None;
    }
    let [_, (after, _)] = sides;
    let text = "The rate fell within the window and stayed at the lower level. Burst credit ended, a limit was \
                reached, or flash ran out of prepared blocks. The second rate is the sustained one. Use a --warmup \
                that covers the first.";
    let evidence = format!(
        "held {:.0} blocks/s for {:.1} s, {:.0} since, for {:.1} s and level within {}{}",
        cliff.before_per_s,
        cliff.before_s,
        cliff.after_per_s,
        cliff.after_s,
        percent(cliff.spread),
        device(&run.environment, &after)
    );
    Some(codes::CLIFF.finding(text, evidence))
}

/// The window before the slice in which the rate fell, and after it.
fn sides(window: &Window, cliff: &Cliff) -> [Window; 2] {
    let fell = cliff.boundary;
    [Window { last_boundary: fell - 1, ..*window }, Window { first_boundary: fell, ..*window }]
}

type Side = (Counters, Window);

/// The share of the host's CPUs that others and the hypervisor took in addition. If the host was full before the fall,
/// the others' demand was always higher than their share, so their use is not counted.
fn taken_cpus(run: &Run, step: &StepRecord, [before, after]: &[Side; 2]) -> f64 {
    let of_host = |(counters, _): &Side, what| counters.ratio(what, Counter::HostCpuTotalUs).unwrap_or(0.0);
    let others = |side: &Side| Others::from_step(run, step, &side.1, &side.0).map_or(0.0, |others| others.share());
    let had_room = of_host(before, Counter::HostCpuBusyUs) < HOST_BUSY * left_to_host(&before.0);
    let stolen = of_host(after, Counter::HostCpuStealUs) - of_host(before, Counter::HostCpuStealUs);
    let used = if had_room { others(after) - others(before) } else { 0.0 };
    stolen + used
}

/// Whether the device served others in place of the run, and reads of the run waited there. This also holds if others
/// used only the rest below a limit of the device.
fn taken_at_the_device(cliff: &Cliff, [(before, _), (after, _)]: &[Side; 2]) -> bool {
    let grew = |reads: Counter, writes: Counter| Some(sum(after, reads, writes)? - sum(before, reads, writes)?);
    let Some(all) = grew(Counter::DeviceReadBytes, Counter::DeviceWriteBytes) else { return false };
    let Some(own) = grew(Counter::ProcessReadBytes, Counter::ProcessWriteBytes) else { return false };
    own < 0.0 && all - own >= TAKEN * -own && waited_at_the_device(cliff, before, after)
}

/// Whether reads took longer at the device by at least half of the slowdown; assumed if unknown. Reads that a limit
/// above the device holds back wait elsewhere.
fn waited_at_the_device(cliff: &Cliff, before: &Counters, after: &Counters) -> bool {
    let read_us = |counters: &Counters| rates::device_read_us(|counter| counters.rate(counter));
    let Some((before_us, after_us)) = read_us(before).filter(|us| *us > 0.0).zip(read_us(after)) else { return true };
    after_us / before_us - 1.0 >= TAKEN * (cliff.before_per_s / cliff.after_per_s - 1.0)
}

fn sum(counters: &Counters, reads: Counter, writes: Counter) -> Option<f64> {
    Some(counters.rate(reads)? + counters.rate(writes).unwrap_or(0.0))
}

fn device(facts: &Facts, after: &Counters) -> String {
    let Some(requests) = sum(after, Counter::DeviceReads, Counter::DeviceWrites) else { return String::new() };
    let bytes = sum(after, Counter::DeviceReadBytes, Counter::DeviceWriteBytes).unwrap_or(0.0);
    let name = cap(requests, bytes, size_gib(facts)).map_or_else(String::new, |name| format!(", as {name} has"));
    format!("; {requests:.0} requests/s and {} at the device since{name}", rates::mib_per_s(bytes))
}

fn cap(requests: f64, bytes: f64, gib: Option<f64>) -> Option<&'static str> {
    let near = |figure: f64, cap: f64| (figure / cap - 1.0).abs() <= NEAR;
    let (each, least, most) = GP2;
    let gp2 = gib.is_some_and(|gib| near(requests, (gib * each).clamp(least, most)));
    let known = CAPS.iter().find(|(_, iops, rate)| near(requests, *iops) || near(bytes, *rate)).map(|(name, ..)| *name);
    known.or_else(|| gp2.then_some("AWS gp2 of this size"))
}

fn size_gib(facts: &Facts) -> Option<f64> {
    let device = Fact::StorageDevice.find(facts)?.split(" < ").next()?;
    let bytes: f64 = DeviceFact::SizeBytes.find(device, facts)?.parse().ok()?;
    Some(bytes / 1_073_741_824.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_known_by_requests_or_by_bytes() {
        assert_eq!(cap(3_010.0, 24e6, None), Some("AWS gp3 at its baseline"));
        assert_eq!(cap(900.0, 131e6, None), Some("AWS gp3 at its baseline"));
        assert_eq!(cap(2_310.0, 19e6, None), Some("Azure P20"));
        assert_eq!(cap(600.0, 5e6, Some(200.0)), Some("AWS gp2 of this size"));
        assert_eq!(cap(600.0, 5e6, Some(500.0)), None);
    }

    #[test]
    fn the_slice_in_which_a_rate_fell_is_found() {
        let of = |mixed: f64| [vec![16e3; 6], vec![mixed], vec![3e3; 9]].concat();
        for (mixed, at) in [(15e3, 7), (14e3, 6), (9.4e3, 6), (4e3, 6)] {
            assert_eq!(split(&of(mixed)), Some(at), "{mixed}");
        }
        assert_eq!(split(&[1.0; 7]), None);
    }
}
