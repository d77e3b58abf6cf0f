//! Ranks of one run on a MariaDB of the user's own, where they meet too.

use mindful_conformance::quick_place;
use mysql::prelude::Queryable as _;
use rustix::process::Signal;

use crate::mariadb::server::UsersMariaDb;
use crate::mindful::quiet::Quiet;
use crate::mindful::{Mindful, PAUSES, figure, wait_until};
use crate::ranks::processes::{four_ranks_of, has_mpirun, mpirun};
use crate::stops::assert_interrupted;

fn server() -> (Mindful, UsersMariaDb) {
    let mindful = Mindful::at(quick_place());
    let server = UsersMariaDb::start(&mindful.path("db"), &[("set", "innodb_flush_method=nosync")]);
    (mindful, server)
}

#[test]
fn mpirun_starts_four_ranks_that_meet_in_a_mariadb() {
    if !has_mpirun() {
        return;
    }
    let (mindful, server) = server();
    let _beside = Quiet::beside();
    let url = server.url();
    // The first rank loads, and makes the functions by which all read several pages.
    let work = "--schemas 2 --scale 8MiB --sessions 8 --work-unit 8 --update-pct 20 --warmup 1s --duration 2s";
    let rank = mindful.command((format!("run -q --format json --target {url}"), work, PAUSES));
    let output = mpirun(&rank).output().unwrap();
    let summary = four_ranks_of(&output);
    // The server counted the work of all four.
    let step = &summary["steps"][0];
    let ratio = figure(step, "logical_reads_per_s") / figure(step, "blocks_visited_per_s");
    assert!((0.9..8.0).contains(&ratio), "{step:#}");
    assert_eq!(server.count("SELECT COUNT(*) FROM mindful.meeting"), 0, "nothing is left where they met");
    // Ranks of a remote target meet there as well; a single rank has no row in a private server.
    let meet = "run --target null: --ranks 2 --rank 1 --meet mariadb:";
    mindful.refuses(meet, "ranks cannot share a private server");
    mindful.succeed(format!("cleanup --yes --target {url}"));
    assert_eq!(server.count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'mindful'"), 0);
}

#[test]
fn a_signal_ends_ranks_with_a_locked_rendezvous_in_mariadb() {
    let (mindful, server) = server();
    let url = server.url();
    let rank =
        |number| mindful.start(format!("run --target null: --ranks 3 --rank {number} --meet {url} --sessions 3"));
    let first = rank("0");
    let meeting = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'meeting'";
    wait_until("the rank does not come", || {
        server.count(meeting) == 1 && server.count("SELECT COUNT(*) FROM mindful.meeting") > 0
    });
    let mut holding = server.connect();
    holding.query_drop("LOCK TABLES mindful.meeting WRITE").unwrap();
    let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'";
    let second = rank("1");
    wait_until("they do not both wait for the lock", || server.count(waiting) == 2);
    for mut child in [first, second] {
        assert_interrupted(&mindful, &mut child, Signal::TERM, "it");
    }
    wait_until("a statement is left on the server", || server.count(waiting) == 0);
}
