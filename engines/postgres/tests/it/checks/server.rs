//! Conditions that spoil a result are reported before the measurement, on real servers.

use std::time::{Duration, Instant};

use crate::support::{Server, load, plan, programs};
use mindful_core::Target;
use mindful_core::result::{Finding, Severity};
use mindful_host::Kernel;
use mindful_host::memory::Meminfo;

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.code.as_str()).collect()
}

fn found<'a>(findings: &'a [Finding], code: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.code == code).unwrap_or_else(|| panic!("no {code} in {:?}", codes(findings)))
}

fn each_server(settings: &[&str], test: impl Fn(&Server, &dyn Target)) {
    for bin in programs() {
        let server = Server::start(&bin, settings);
        test(&server, &*server.target(&[]).unwrap());
    }
}

#[test]
fn a_server_set_up_to_lie_is_reported_by_code_and_figures() {
    let settings = [
        "fsync=off",
        "synchronous_commit=off",
        "max_wal_size=32MB",
        "min_wal_size=32MB",
        "checkpoint_timeout=30s",
        "log_statement=all",
        "log_min_duration_statement=0",
        "track_io_timing=off",
        "shared_buffers=16MB",
    ];
    each_server(&settings, |_, target| {
        let checked = || {
            let begun = Instant::now();
            (target.checks(&plan(&[("update_pct", "20"), ("duration", "60s")])).unwrap(), begun.elapsed())
        };
        // The best of a few, because a busy host makes any of them late.
        let mut rounds = std::iter::repeat_with(checked).take(10);
        let quick = |(_, took): &(Vec<Finding>, Duration)| *took < Duration::from_secs(2);
        let (findings, _) = rounds.find(quick).expect("checks take less than two seconds");
        for (code, severity, evidence) in [
            ("pg-fsync-off", Severity::Warning, "fsync = off"),
            ("commits-do-not-wait", Severity::Warning, "synchronous_commit = off"),
            ("checkpoints-ahead", Severity::Info, "a checkpoint each 16.84 MiB"),
            ("checkpoints-ahead", Severity::Info, "a checkpoint each 30 s"),
            ("server-setting", Severity::Info, "log_min_duration_statement = 0, log_statement = all"),
            ("io-timing-off", Severity::Info, "ns each here"),
            ("predicted-hits", Severity::Info, "shared_buffers 16 MiB"),
        ] {
            let of_code = |finding: &&Finding| finding.code == code && finding.evidence.contains(evidence);
            let finding = findings.iter().find(of_code).unwrap_or_else(|| panic!("{code}, {evidence}: {findings:#?}"));
            assert_eq!(finding.severity, severity, "{code}");
        }
        let many = target.checks(&plan(&[("sessions", "5000")])).unwrap();
        assert!(found(&many, "connections").evidence.starts_with("5000 sessions do not fit"), "{many:?}");
        let most = target.checks(&plan(&[("sessions", "15000")])).unwrap();
        let free = Meminfo::read(&Kernel::default()).available_bytes.unwrap();
        let memory = most.iter().find(|finding| finding.code == "pg-sessions-memory");
        assert_eq!(memory.is_some(), free < 15_000 * (12 << 20), "{free} bytes free: {most:?}");
        assert!(
            memory.is_none_or(|memory| memory.severity == Severity::Warning && memory.evidence.contains("175.78 GiB"))
        );
        let reading = target.checks(&plan(&[("update_pct", "0")])).unwrap();
        assert!(!codes(&reading).contains(&"pg-sessions-memory"), "{reading:?}");
        assert!(!codes(&reading).contains(&"connections"), "{reading:?}");
        assert!(reading.iter().all(|finding| finding.severity == Severity::Info), "{reading:?}");
    });
}

#[test]
fn others_at_work_are_seen_and_a_quiet_server_is_not_blamed() {
    each_server(&["track_io_timing=on"], |server, target| {
        let quiet = target.checks(&plan(&[("update_pct", "20")])).unwrap();
        for code in ["others-active", "pg-held-horizon", "replication", "pg-autovacuum", "not-seen"] {
            assert!(!codes(&quiet).contains(&code), "{code} on a quiet server: {quiet:?}");
        }
        server.sql("SELECT pg_create_physical_replication_slot('nobody', true)");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| server.try_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_sleep(600)"));
            let others = "FROM pg_stat_activity WHERE query LIKE 'BEGIN ISOLATION%'";
            server.await_that(&format!("EXISTS (SELECT {others} AND xact_start < now() - interval '6 s')"));
            let busy = target.checks(&plan(&[("update_pct", "20")])).unwrap();
            assert!(found(&busy, "others-active").evidence.starts_with("1 active"), "{busy:?}");
            assert_eq!(found(&busy, "pg-held-horizon").severity, Severity::Warning);
            assert!(found(&busy, "replication").evidence.starts_with("1 slot, 1 of them inactive"), "{busy:?}");
            server.sql(&format!("SELECT pg_cancel_backend(pid) {others}"));
            other.join().unwrap().unwrap_err();
        });
    });
}

#[test]
fn a_dataset_half_in_cache_is_predicted_from_the_loaded_size() {
    each_server(&["shared_buffers=16MB", "autovacuum=on"], |server, target| {
        load(target, 2, 2_048).unwrap();
        let findings = target.checks(&plan(&[("sessions", "2")])).unwrap();
        let hits = found(&findings, "predicted-hits");
        assert!(hits.evidence.starts_with("predicted hit ratio 50.0 %:"), "{}", hits.evidence);
        // Only a schema that has a session is visited.
        let findings = target.checks(&plan(&[("sessions", "1")])).unwrap();
        assert!(found(&findings, "predicted-hits").text.contains("no storage"));
        // Tables are made with autovacuum off; if that is undone, it is reported.
        server.sql("ALTER TABLE mindful.blocks_1 RESET (autovacuum_enabled)");
        let findings = target.checks(&plan(&[])).unwrap();
        let is_found = codes(&findings).contains(&"pg-autovacuum");
        assert_eq!(is_found, server.sql("SHOW autovacuum") == ["on"]);
    });
}

#[test]
fn a_role_without_privileges_learns_what_it_cannot_see() {
    each_server(&[], |server, _| {
        server.sql("CREATE ROLE nobody_special LOGIN");
        server.sql("CREATE DATABASE theirs OWNER nobody_special");
        let target = server.target_as("nobody_special", "theirs", &[]).unwrap();
        let findings = target.checks(&plan(&[])).unwrap();
        let hidden = found(&findings, "not-seen");
        assert!(hidden.text.contains("GRANT pg_monitor") && hidden.evidence.contains("sessions"), "{hidden:?}");
    });
}
