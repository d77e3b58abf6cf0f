//! Work and counters on the versions that can be fetched, in addition to those of the other tests.

use crate::support::{NO_WAITS, Server, at_hand, dataset, fetched, proof, session, work, workload};
use mindful_core::contract::event::Silent;
use mindful_core::contract::metric::{Counter, Sampler};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::plan::units::Share;
use mindful_core::workload::{LoopSite, OpKind, Workload};

fn counter(samplers: &mut [Box<dyn Sampler>], name: &str) -> Option<f64> {
    samplers.iter_mut().find_map(|sampler| {
        let at = sampler.metrics().iter().position(|metric| metric.name == name)?;
        sampler.read().expect("a reading")[at]
    })
}

#[test]
fn work_and_counters_agree_on_every_version() {
    for version in ["16", "17", "18"].into_iter().filter(|version| at_hand(version)) {
        let server = Server::start(&fetched(version), &[]);
        let target = server.loaded_with(&NO_WAITS, 1, 1_000);
        assert_eq!(proof(&*target).failure(), None);
        let mut samplers = target.samplers().unwrap();
        let mut read = |name: &str| counter(&mut samplers, name);
        for looping in [LoopSite::Server, LoopSite::Client] {
            let w = Workload { loop_site: looping, ..workload(1, 1_000, 5, "40") };
            let mut session = session(&*target, &w);
            let names = [Counter::LogicalReads.name(), Counter::Commits.name(), Counter::LogBytes.name(), "n_tup_upd"];
            let before = names.map(|name| read(name).unwrap());
            let report = work(&*target, &mut *session, 0, 500).unwrap();
            let after = names.map(|name| read(name).unwrap());
            let [reads, commits, log, rows] = [0, 1, 2, 3].map(|at| after[at] - before[at]);
            assert!(reads >= 2_500.0 && log > 0.0, "{reads} reads, {log} bytes of log on {version}");
            assert!(commits >= 200.0, "{commits} commits on {version}");
            assert_eq!(rows as u64, report.op(OpKind::Update).blocks, "{version}, {looping:?} loop");
        }
    }
}

/// Scans of a table beyond a quarter of shared_buffers go through a ring; the server reports their visits from 16 on.
#[test]
fn visits_of_a_ring_are_reported_by_every_version_that_has_them() {
    for version in ["16", "17", "18"].into_iter().filter(|version| at_hand(version)) {
        let server = Server::start(&fetched(version), &["shared_buffers=4MB"]);
        let target = server.target(&NO_WAITS).unwrap();
        let plan = DatasetPlan { scan_blocks: 600, ..dataset(1, 200) };
        target.load(&plan, &Silent, &StopFlag::default()).unwrap();
        let w = Workload { scan_pct: Share::ALL, ..workload(1, 200, 5, "0") };
        let mut session = session(&*target, &w);
        let mut samplers = target.samplers().unwrap();
        let mut visits = || counter(&mut samplers, "ring_visits").unwrap();
        let before = visits();
        let report = work(&*target, &mut *session, 0, 10).unwrap();
        assert_eq!(report.op(OpKind::Scan).blocks, 6_000);
        // The server extends tables by some blocks at a time; those after the last row are read too.
        let visited = visits() - before;
        assert!((6_000.0..6_640.0).contains(&visited), "{visited} visits of the ring on {version}");
    }
}
