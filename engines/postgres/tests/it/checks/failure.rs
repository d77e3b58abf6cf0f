//! Faults on real servers are reported in one line, with the next step, and change nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::{IN_A_SLICE, Server, each_server_with, load, plan, programs, proof, session, workload};
use mindful_conformance::assert_says;
use mindful_core::contract::engine::Engine;
use mindful_core::contract::slice::SliceOrder;
use mindful_core::plan::Plan;
use mindful_core::result::finding::Severity;
use mindful_core::workload::{Access, Commit, Compatibility, LoopSite, Workload};
use mindful_core::{ErrorKind, Target, contract::clock};
use mindful_postgres::ENGINE;
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn a_plan_that_is_not_a_plain_index_scan_is_refused() {
    each_server_with(&[], |server| {
        let target = server.loaded(1, 1_000);
        server.sql("DROP INDEX mindful.blocks_1_k");
        let error = target.prepare(&workload(1, 1_000, 64, "0"), 1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(error.what.contains("Seq Scan") && error.next.contains("cleanup"), "{error}");
        // An index that can only be read as a bitmap does not help.
        server.sql("CREATE INDEX ON mindful.blocks_1 USING brin (k)");
        let error = target.prepare(&workload(1, 1_000, 64, "0"), 1).unwrap_err();
        assert!(error.what.contains("Scan"), "{error}");
    });
}

/// The script that `mindful engines postgres --grants` prints makes a role with all needed privileges.
#[test]
fn the_least_role_does_everything() {
    each_server_with(&[], |server| {
        server.sql("CREATE DATABASE bench");
        server.sql("REVOKE ALL ON DATABASE bench FROM PUBLIC; GRANT CONNECT ON DATABASE bench TO PUBLIC");
        server.sql(ENGINE.facts().grants.unwrap());
        let target = server.target_as("mindful_bench", "bench", &[]).unwrap();
        let plan = plan(&[("sessions", "2"), ("loop", "server")]);
        target.admits(&plan, true).unwrap();
        load(&*target, 1, 300).unwrap();
        proof(&*target);
        target.prepare(&workload(1, 300, 4, "20"), 2).unwrap();
        assert!(target.samplers().unwrap().len() >= 5);
        let codes: Vec<String> = target.checks(&plan).unwrap().into_iter().map(|finding| finding.code).collect();
        for lacking in ["write-refused", "checkpoints-ahead", "not-seen"] {
            assert!(!codes.iter().any(|code| code == lacking), "{codes:?}");
        }
        target.cleanup().unwrap();
    });
}

/// A refusal after the load is already given before it, and the doctor calls it an error with its GRANT.
#[test]
fn missing_rights_are_refused_before_anything_is_loaded() {
    each_server_with(&[], |server| {
        server.sql("CREATE ROLE bare LOGIN; REVOKE TEMP ON DATABASE postgres FROM PUBLIC");
        let target = server.target_as("bare", "postgres", &[]).unwrap();
        let plan = plan(&[("sessions", "2")]);
        let [create, temporary] =
            ["CREATE", "TEMPORARY"].map(|right| format!("GRANT {right} ON DATABASE postgres TO bare"));
        assert_says(target.admits(&plan, true).unwrap_err(), &[&create]);
        let refused = load(&*target, 1, 300).unwrap_err();
        assert!(refused.kind == ErrorKind::Target && refused.next.contains("CREATE"), "{refused}");
        server.sql(&create);
        assert_says(target.admits(&plan, true).unwrap_err(), &[&temporary]);
        let client = Plan { loop_site: LoopSite::Client, ..plan.clone() };
        target.admits(&client, true).unwrap();
        let many = Plan { sessions: 5_000, ..client };
        assert_eq!(target.admits(&many, true).unwrap_err().kind, ErrorKind::Plan);
        let findings = target.checks(&plan).unwrap();
        let temp = findings.iter().find(|finding| finding.code == "write-refused").unwrap();
        assert!(temp.severity == Severity::Error && temp.text.contains(&temporary), "{temp:?}");
        assert!(findings.iter().any(|finding| finding.evidence.contains("may not CHECKPOINT")), "{findings:?}");
        load(&*target, 1, 300).unwrap();
        let in_server = workload(1, 300, 4, "0");
        assert_says(target.prepare(&in_server, 1).unwrap_err(), &[&temporary]);
        target.prepare(&Workload { loop_site: LoopSite::Client, ..in_server }, 1).unwrap();
    });
}

#[test]
fn counters_that_may_not_be_read_are_missing_not_zero() {
    each_server_with(&[], |server| {
        let names = |target: &dyn Target| -> BTreeSet<String> {
            target.samplers().unwrap().iter().map(|sampler| sampler.name().to_owned()).collect()
        };
        let readable = names(&*server.loaded(1, 1_000));
        server.sql("CREATE ROLE plain LOGIN; REVOKE SELECT ON pg_stat_wal FROM PUBLIC");
        let left = names(&*server.target_as("plain", "postgres", &[]).unwrap());
        let lost: Vec<&String> = readable.difference(&left).collect();
        // PostgreSQL 18 shows reads under way to roles that may read all statistics.
        assert!(lost == ["pg_stat_wal"] || lost == ["pg_aios", "pg_stat_wal"], "{lost:?}");
    });
}

#[test]
fn contradictory_work_is_refused_with_the_next_step() {
    let server = Server::start(&programs()[0], &[]);
    let target = server.loaded(1, 1_000);
    let updating = workload(1, 1_000, 4, "50");
    let late = Workload { commit: Commit::Every(10), ..updating.clone() };
    target.prepare(&late, 1).unwrap();
    let [by_bitmap, by_scan] = [Access::Bitmap, Access::Scan].map(|access| Workload { access, ..updating.clone() });
    let like_slob = Workload { compatibility: Compatibility::Slob, ..updating };
    let by_index = "updates use the index";
    for (work, said) in [(late, "--schemas"), (by_bitmap, by_index), (by_scan, by_index), (like_slob, "--loop client")]
    {
        assert_says(target.prepare(&work, 2).unwrap_err(), &[said]);
    }
}

/// The stop is inside an operation or between two, by chance: with short operations a part of the time is between them.
#[test]
fn a_session_that_stands_still_is_reported_wherever_it_was() {
    const STOPS: usize = 10;
    const STOOD: Duration = Duration::from_millis(700);
    let server = Server::start(&programs()[0], &["shared_buffers=64MB"]);
    let target = server.loaded(1, 1_000);
    let w = workload(1, 1_000, 1, "0");
    let mut session = session(&*target, &w);
    let begin_us = target.clock_us().unwrap();
    let end_us = begin_us + 1_000_000 * STOPS as i64;
    let order = SliceOrder { index: 0, begin_us, end_us, first_op: 0, max_ops: None };
    let (report, stopped) = std::thread::scope(|scope| {
        let stopped = scope.spawn(|| {
            server.await_slice();
            let pid = server.sql(&format!("SELECT pid {IN_A_SLICE}")).remove(0).parse().unwrap();
            let pid = Pid::from_raw(pid).unwrap();
            let stop = |_| {
                kill_process(pid, Signal::STOP).unwrap();
                let middle_us = clock::now_us() + STOOD.as_micros() as i64 / 2;
                std::thread::sleep(STOOD);
                kill_process(pid, Signal::CONT).unwrap();
                std::thread::sleep(Duration::from_millis(150));
                middle_us
            };
            (0..STOPS).map(stop).collect::<Vec<_>>()
        });
        (session.run_slice(&order).unwrap(), stopped.join().unwrap())
    });
    // On a full host it may not continue between two stops: then one operation lasts through both.
    let lasted = |us: i64| report.long.iter().any(|long| (long.begin_us..long.begin_us + long.us as i64).contains(&us));
    assert!(stopped.iter().all(|us| lasted(*us)), "stopped at {stopped:?}: {:?}", report.long);
    let outlasted =
        report.long.iter().filter(|long| long.begin_us < begin_us || long.begin_us + long.us as i64 > end_us);
    assert_eq!(outlasted.count(), 0, "{:?}", report.long);
}
