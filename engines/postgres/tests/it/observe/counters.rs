//! Counters of real servers show the work between two readings, and nothing earlier.

use std::time::{Duration, Instant};

use crate::support::{Server, placement, programs, proof, readings, workload};
use mindful_core::contract::metric::{Counter, Scope};

const BLOCKS: u64 = 4_000;

/// Servers publish the reads of an idle connection a second after its last publication, with its next statement.
const UNPUBLISHED: Duration = Duration::from_millis(1_200);

#[test]
fn reads_of_the_verification_are_not_counted_after_it() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.loaded(1, BLOCKS);
        std::thread::sleep(UNPUBLISHED);
        assert_eq!(proof(&*target).failure(), None);
        let mut samplers = target.samplers().unwrap();
        // The others read the catalogue while they are read.
        samplers.retain(|sampler| sampler.metrics().iter().any(|metric| metric.name == Counter::LogicalReads));
        let mut logical_reads = || readings(&mut samplers)[Counter::LogicalReads.name()];
        let before = logical_reads();
        std::thread::sleep(UNPUBLISHED);
        target.clock_us().unwrap();
        let counted = logical_reads() - before;
        assert!(counted < BLOCKS as f64 / 4.0, "{counted} blocks were read in the meantime");
    }
}

/// Each source is named after the views that it reads, and these exist in this version.
#[test]
fn sources_are_named_as_the_views_of_the_server() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.target(&[]).unwrap();
        let samplers = target.samplers_for_all_clients(Scope::Database).unwrap();
        let named: Vec<&str> = samplers.iter().map(|s| s.name()).filter(|name| name.starts_with("pg_")).collect();
        assert!(named.len() >= 5, "{named:?}");
        for view in named.iter().flat_map(|name| name.split('+')) {
            let found = server.sql(&format!("SELECT to_regclass('pg_catalog.{view}') IS NOT NULL"));
            assert_eq!(found, ["t"], "{} has no {view}", bin.display());
        }
    }
}

/// Closing connections may take a second, but an orderly close does not need it. The best of a few rounds counts,
/// because a busy host makes any of them late.
#[test]
fn dropping_a_targets_parts_does_not_wait_for_a_goodbye() {
    const GOODBYE: Duration = Duration::from_secs(1);
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        server.loaded_with(&[("wait_sampling", "5ms")], 1, 256);
        let mut quickest = [Duration::MAX; 3];
        for _ in 0..3 {
            let target = server.target(&[("wait_sampling", "5ms")]).unwrap();
            target.prepare(&workload(1, 256, 4, "0"), 1).unwrap();
            let samplers = target.samplers().unwrap();
            let session = target.session(&workload(1, 256, 4, "0"), placement(0, 1, 1)).unwrap();
            let took = [ended(samplers), ended(session), ended(target)];
            quickest = std::array::from_fn(|of| quickest[of].min(took[of]));
        }
        assert!(quickest.iter().all(|took| *took < GOODBYE / 2), "samplers, session, target: {quickest:?}");
    }
}

fn ended(what: impl Sized) -> Duration {
    let began = Instant::now();
    drop(what);
    began.elapsed()
}
