//! Slow operations that are too rare for the usual percentiles but took much of the time. A mean describes neither them
//! nor the rest.

use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;

use crate::figures::latency::{SLOW, Slow};
use crate::figures::work::Work;
use crate::judgement::headline::percent;

/// Share of operations below which slow ones are beyond p99.
const FEW: f64 = 0.01;
/// Share of the time above which they weigh.
const MUCH: f64 = 0.2;
/// Fewest slow operations that are more than a hiccup, as for a percentile.
const FEWEST: u64 = 10;

/// Each kind of operation in which a few took much of the time (docs/findings.md, F24).
pub(super) fn few(work: &Work) -> impl Iterator<Item = Finding> {
    OpKind::ALL.into_iter().filter_map(|kind| {
        let slow = Slow::from_work(work.kind(kind))?;
        let weighs = slow.ops >= FEWEST && slow.ops_share < FEW && slow.time_share > MUCH;
        weighs.then(|| {
            let text = "Few operations took much of the time. The mean describes neither these nor the others, and \
                        p99 excludes them. `mindful show --heat-map` shows when they occurred and how slow they \
                        were.";
            let (ops, time) = (percent(slow.ops_share), percent(slow.time_share));
            let above = slow.above_us;
            let evidence = format!(
                "{}: {ops} of operations took longer than {SLOW} times the median ({above:.0} us), {time} of the time",
                kind.name()
            );
            codes::SLOW_FEW.finding(text, evidence)
        })
    })
}
