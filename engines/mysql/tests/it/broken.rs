//! What breaks while mindful is at work is told in one line, and what comes after works.

use mindful_conformance::Fixture;
use mindful_core::workload::{LoopSite, Workload};
use mindful_mysql::ENGINE;

use crate::refused::harmed;
use crate::support::MARIADB;
use crate::tls::Bench;

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
        // The next one works: what was lost is connected anew.
        let workload = Workload { looping, ..Workload::reads(2, 500, 8) };
        assert_eq!(opened.work_ops(&workload, 1, Some(5))[0].total_ops(), 5, "{mode}");
    }
}
