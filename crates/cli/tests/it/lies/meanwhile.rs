//! Circumstances that change while a run measures: each is a finding with its time, and figures end before it.

use std::time::Duration;

use mindful_conformance::place;
use rustix::process::Pid;

use crate::lies::control_group::ControlGroup;
use crate::mindful::report::{Report, next_to};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, Words, message, short_run, wait_until};
use crate::stops::standstill::children;

const WINDOW: &str = "--warmup 1s --duration 5s";
const SESSIONS: &str = "SELECT FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.slice%' AND state = 'active'";

/// A run on `server` during which `change` happens in the middle of its window.
fn changed(mindful: &Mindful, server: &UsersServer, args: impl Words, change: impl Fn() + Sync) -> Report {
    let later = || {
        wait_until("no session is at work", || server.count(SESSIONS) > 0);
        std::thread::sleep(Duration::from_secs(4));
        change();
    };
    next_to(later, || server.run(mindful, (WINDOW, PAUSES, args)))
}

/// The window ends at least one and at most four seconds after it began: before the change.
fn assert_cut(run: &Report) {
    let seconds = run.run["steps"][0]["duration_s"].as_f64().unwrap();
    assert!((0.9..4.6).contains(&seconds), "{seconds} s: {run}");
}

#[test]
fn a_setting_that_changes_in_the_window_ends_it() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let slower = || {
        server.sql("ALTER SYSTEM SET commit_delay = 20000");
        server.sql("SELECT pg_reload_conf()");
    };
    let run = changed(&mindful, &server, "--update-pct 100", slower);
    run.assert_suspect("setting-changed");
    assert!(run.evidence("setting-changed").starts_with("commit_delay: 0 became 20000 at "), "{run}");
    assert_cut(&run);
    // A setting from the start is another finding.
    let quiet = changed(&mindful, &server, "", || ());
    assert!(!quiet.has("setting-changed") && !quiet.has("counters-reset") && !quiet.has("layout-changed"), "{quiet}");
}

#[test]
fn counters_that_are_reset_in_the_window_end_it() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=1MB");
    let free = changed(&mindful, &server, "", || ());
    let run = changed(&mindful, &server, "", || {
        server.sql("SELECT pg_stat_reset()");
        server.sql("SELECT pg_stat_reset_shared('io')");
    });
    run.assert_suspect("counters-reset");
    assert_cut(&run);
    // Reads per block visited agree only if the window counts both.
    for report in [&free, &run] {
        let share = report.figure("physical_reads_per_s") / report.figure("blocks_visited_per_s");
        assert!((0.8..1.3).contains(&share), "{share}: {report}");
    }
}

#[test]
fn a_server_that_is_moved_into_a_group_in_the_window_ends_it() {
    let mindful = Mindful::beside_others(place());
    let Some(cpu) = ControlGroup::with_cpu(0.5) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    let run = changed(&mindful, &server, "", || {
        cpu.hold(server.pid());
        for (pid, _) in children(server.pid()) {
            cpu.try_hold(pid);
        }
    });
    run.assert_suspect_of("setting-changed", "CPU limit of the server: none became");
    assert_cut(&run);
}

#[test]
fn a_limit_of_reads_that_comes_or_goes_in_the_window_ends_it() {
    let mindful = Mindful::beside_others(place());
    let Some(reads) = ControlGroup::with_reads_of(&mindful.path("."), 300) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=1MB");
    let place = mindful.path(".");
    let (few, many) = (|| reads.allow_reads(&place, Some(300)), || reads.allow_reads(&place, Some(900)));
    let none = || reads.allow_reads(&place, None);
    let alternating = || {
        for change in [&many as &dyn Fn(), &few, &many] {
            change();
            std::thread::sleep(Duration::from_millis(1_500));
        }
    };
    none();
    reads.hold(server.pid());
    let sets = &few as &(dyn Fn() + Sync);
    for (before, change) in [(&none as &dyn Fn(), sets), (&few, &many), (&few, &none), (&few, &alternating)] {
        before();
        let run = changed(&mindful, &server, "--work-unit 1", change);
        run.assert_suspect_of("setting-changed", "I/O limit of the server");
        assert_cut(&run);
    }
}

#[test]
fn a_server_that_gets_less_cpu_in_the_window_ends_it() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return mindful_conformance::not_run("it takes a CPU away from a server, which needs two");
    }
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let sessions = || {
        let pids = children(server.pid()).into_iter();
        pids.filter_map(|(pid, _)| Pid::from_raw(pid.cast_signed())).collect::<Vec<_>>()
    };
    let run = changed(&mindful, &server, "", || {
        let mut one = rustix::thread::CpuSet::new();
        one.set(0);
        for pid in sessions().into_iter().chain(Pid::from_raw(server.pid().cast_signed())) {
            let _ = rustix::thread::sched_setaffinity(Some(pid), &one);
        }
    });
    run.assert_suspect_of("setting-changed", "CPUs of the server: ");
    assert_cut(&run);
    let run = changed(&mindful, &server, "", || {
        for pid in sessions() {
            let _ = rustix::process::setpriority_process(Some(pid), 15);
        }
    });
    run.assert_suspect_of("setting-changed", "low priority of the server: normal became nice 15");
}

#[test]
fn a_table_that_is_rewritten_in_the_window_ends_it() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let suppressed = "CREATE FUNCTION mindful.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                      CREATE TRIGGER nothing BEFORE UPDATE ON mindful.blocks_1
                      FOR EACH ROW EXECUTE FUNCTION mindful.nothing()";
    let rewrites = ["CLUSTER mindful.blocks_1 USING blocks_1_k", "DELETE FROM mindful.blocks_2 WHERE k % 2 = 0"];
    for rewrite in [suppressed].into_iter().chain(rewrites) {
        let run = changed(&mindful, &server, "", || server.sql(rewrite));
        run.assert_suspect("layout-changed");
        assert_cut(&run);
        server.sql("DROP SCHEMA mindful CASCADE");
    }
}

#[test]
fn a_layout_that_was_changed_before_a_run_is_refused() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let ordered = "BEGIN; CREATE TEMP TABLE moved AS SELECT * FROM mindful.blocks_1; DELETE FROM mindful.blocks_1; \
                   INSERT INTO mindful.blocks_1 SELECT * FROM moved ORDER BY k; COMMIT; VACUUM mindful.blocks_1";
    let dense = "ALTER TABLE mindful.blocks_1 SET (fillfactor = 100); VACUUM FULL mindful.blocks_1";
    for change in
        [ordered, "CLUSTER mindful.blocks_1 USING blocks_1_k", dense, "DELETE FROM mindful.blocks_1 WHERE k % 2 = 0"]
    {
        for statement in change.split("; VACUUM") {
            let vacuum = if statement.starts_with(' ') { "VACUUM" } else { "" };
            server.sql(&format!("{vacuum}{statement}"));
        }
        let run = || mindful.run(short_run(["--target", &server.url()]));
        let refused = run();
        assert!(!refused.status.success() && message(&refused).contains("does not hold"), "{change}: {refused:?}");
        server.sql("DROP SCHEMA mindful CASCADE");
        assert!(run().status.success());
    }
}
