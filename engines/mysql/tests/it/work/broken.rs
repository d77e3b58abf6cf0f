//! A failure during work is reported in one line, and later work succeeds.

use std::time::Duration;

use mindful_conformance::{Fixture, slice_of};
use mindful_core::workload::{LoopSite, Workload};
use mindful_mysql::ENGINE;

use crate::checks::refused::harmed;
use crate::connect::tls::Bench;
use crate::support::MARIADB;

#[test]
fn a_network_that_is_cut_ends_the_slice_with_one_line() {
    let bench = Bench::start(MARIADB);
    bench.server.sql(&["CREATE DATABASE bench", "GRANT ALL ON bench.* TO me@127.0.0.1"]);
    for (mode, looping) in [("DISABLED", LoopSite::Server), ("REQUIRED", LoopSite::Client)] {
        let opened = Fixture::new(&ENGINE, bench.url("me", "127.0.0.1", &format!("ssl-mode={mode}"))).loaded();
        let error = harmed(&opened, looping, || bench.relay.cut());
        for part in ["session 1", "the server went away", "see its error log, then run again"] {
            assert!(error.contains(part) && !error.contains('\n'), "{mode}: {error}");
        }
        // The next one works: lost connections are made again.
        let workload = Workload { loop_site: looping, ..Workload::reads_only(2, 500, 8) };
        assert_eq!(opened.work_ops(&workload, 1, Some(5))[0].total_ops(), 5, "{mode}");
    }
}

/// Between two statements no operation is under way, but time still passes.
#[test]
fn an_unreachable_server_stalls_between_reads_too() {
    let bench = Bench::start(MARIADB);
    bench.server.sql(&["CREATE DATABASE bench", "GRANT ALL ON bench.* TO me@127.0.0.1"]);
    let opened = Fixture::new(&ENGINE, bench.url("me", "127.0.0.1", "ssl-mode=DISABLED")).loaded();
    let workload = Workload { loop_site: LoopSite::Server, ..Workload::reads_only(2, 500, 1) };
    let mut session = opened.session(&workload, 0, 1);
    // Within a slice, and beyond its end. On a busy host the server does a part of it with orders it has received
    // before.
    for held_ms in [800, 1_500] {
        let order = slice_of(&*opened.target, 1_200_000);
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                bench.relay.hold(Duration::from_millis(held_ms));
            });
            session.run_slice(&order).unwrap()
        });
        let longest = report.long.iter().map(|long| long.us).max();
        assert!(longest.is_some_and(|us| us > held_ms * 600), "{held_ms} ms: {:?}", report.long);
    }
}
