//! A clock that is set while sessions work. That of this host may not be: the null engine has one of its own, and a
//! PostgreSQL shows one where the role's search path names another `clock_timestamp` before its own.

use crate::lies::bench::{Bench, Reported};
use crate::lies::server::UsersServer;

fn run(bench: &Bench, args: &[&str]) -> Reported {
    let null = ["--target", "null:", "--scale", "1000", "--null-latency", "1ms"];
    bench.reported(&bench.run(&[&null[..], args].concat()))
}

#[test]
fn a_clock_that_was_set_in_the_window_is_reported() {
    let bench = Bench::new();
    assert!(!run(&bench, &["--null-clock-offset", "1h"]).has("clock-step"));
    let stepped = run(&bench, &["--null-clock-offset", "1h", "--null-clock-step", "2s+400ms"]);
    stepped.assert_suspect("clock-step");
    assert!(stepped.evidence("clock-step").contains("moved 4"), "{}", stepped.evidence("clock-step"));
}

#[test]
fn a_servers_clock_set_during_the_run_is_reported() {
    let bench = Bench::new();
    let server = UsersServer::start(&bench, "shared_buffers=64MB");
    server.sql(
        "CREATE SCHEMA settable;
         CREATE TABLE settable.ahead AS SELECT interval '0' AS by;
         SET allow_system_table_mods = on;
         ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock_timestamp;
         CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
             AS 'SELECT pg_catalog.true_clock_timestamp() + by FROM settable.ahead'",
    );
    let kept = server.run(&bench, &[]);
    assert!(!kept.has("clock-step"), "{kept}");
    // A second after both sessions have begun to work, the clock leaps.
    let leap = "DO $$ BEGIN
             LOOP
                 PERFORM pg_stat_clear_snapshot();
                 EXIT WHEN (SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL %') = 2;
                 PERFORM pg_sleep(0.02);
             END LOOP;
             PERFORM pg_sleep(1);
             UPDATE settable.ahead SET by = by + interval '400 ms';
         END $$";
    let set = std::thread::scope(|scope| {
        scope.spawn(|| server.sql(leap));
        server.run(&bench, &[])
    });
    set.assert_suspect("clock-step");
}
