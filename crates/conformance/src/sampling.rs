//! Properties of the target's own counters.

use std::collections::{BTreeMap, HashSet};

use mindful_core::contract::metric::{Counter, MetricKind, Sampler};
use mindful_core::contract::slice::SliceReport;
use mindful_core::plan::units::Share;
use mindful_core::workload::{OpKind, Workload};

use crate::fixture::{Fixture, Opened};
use crate::slices::percent;

const OPS: u64 = 200;

/// Names are unique, and each reading has a value or nothing for each.
pub fn samplers_give_a_value_for_each_metric(fixture: &Fixture) {
    let opened = fixture.loaded();
    let mut samplers = opened.target.samplers().unwrap();
    let mut names = HashSet::new();
    for sampler in &mut samplers {
        assert!(names.insert(sampler.name().to_owned()), "two samplers are called {}", sampler.name());
        let mut metrics = HashSet::new();
        for metric in sampler.metrics() {
            assert!(metrics.insert(metric.name.clone()), "{} has {} twice", sampler.name(), metric.name);
            assert!(!metric.unit.is_empty() && !metric.help.is_empty(), "{} lacks unit or help", metric.name);
        }
        let values = read(sampler.as_mut());
        assert_eq!(values.len(), sampler.metrics().len(), "{}", sampler.name());
        assert!(values.iter().flatten().all(|value| value.is_finite()), "{}: {values:?}", sampler.name());
    }
}

/// Counters only grow while sessions connect, work and end.
pub fn counters_never_go_down(fixture: &Fixture) {
    let opened = fixture.loaded();
    let mut samplers = opened.target.samplers().unwrap();
    let mut before = counters(&mut samplers);
    for _ in 0..3 {
        opened.work_ops(&mixed(fixture), 1, Some(OPS));
        let after = counters(&mut samplers);
        for (name, value) in &after {
            if let Some(earlier) = before.get(name) {
                assert!(value >= earlier, "{name} fell from {earlier} to {value}");
            }
        }
        before = after;
    }
}

/// Each visited block was requested from the cache, so it is in the counters as soon as the slice is over.
pub fn logical_reads_cover_the_blocks_visited(fixture: &Fixture) {
    let opened = fixture.loaded();
    let (grown, reports) = growth(fixture, &opened, Counter::LogicalReads);
    let blocks: u64 = reports.iter().flat_map(|report| &report.ops).map(|op| op.blocks).sum();
    match grown {
        Some(grown) => assert!(grown >= blocks as f64, "{grown} logical reads for {blocks} blocks"),
        None => assert!(!fixture.applies(false, "counter of logical reads")),
    }
}

/// Each update in a separate transaction is a commit.
pub fn commits_are_counted_where_known(fixture: &Fixture) {
    let opened = fixture.loaded();
    let (grown, reports) = growth(fixture, &opened, Counter::Commits);
    let updates: u64 = reports.iter().map(|report| report.op(OpKind::Update).ops).sum();
    match grown {
        Some(grown) => assert!(grown >= updates as f64, "{grown} commits for {updates} updates"),
        None => assert!(!fixture.applies(false, "counter of commits")),
    }
}

fn mixed(fixture: &Fixture) -> Workload {
    let update_pct = if fixture.can().updates { percent(20) } else { Share::NONE };
    Workload { update_pct, ..fixture.workload() }
}

/// Growth of `counter` over two slices of mixed work; `None` if unknown.
fn growth(fixture: &Fixture, opened: &Opened, counter: Counter) -> (Option<f64>, Vec<SliceReport>) {
    let mut samplers = opened.target.samplers().unwrap();
    let find = |all: &BTreeMap<String, f64>| {
        let suffix = format!("/{counter}");
        all.iter().find(|(key, _)| key.ends_with(&suffix)).map(|(_, value)| *value)
    };
    let before = find(&counters(&mut samplers));
    let reports = opened.work_ops(&mixed(fixture), 2, Some(OPS));
    let after = find(&counters(&mut samplers));
    (before.zip(after).map(|(before, after)| after - before), reports)
}

/// All known counters, by `sampler/metric`.
fn counters(samplers: &mut [Box<dyn Sampler>]) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for sampler in samplers {
        let values = read(sampler.as_mut());
        for (metric, value) in sampler.metrics().iter().zip(values) {
            if let (MetricKind::Counter, Some(value)) = (metric.kind, value) {
                all.insert(format!("{}/{}", sampler.name(), metric.name), value);
            }
        }
    }
    all
}

fn read(sampler: &mut dyn Sampler) -> Vec<Option<f64>> {
    sampler.read().unwrap_or_else(|e| panic!("{}: {e}", sampler.name()))
}
