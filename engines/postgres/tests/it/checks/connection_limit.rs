//! Limits of connections, at every level: refused before anything runs, with the command that raises them.

use std::path::PathBuf;

use crate::support::{Server, dataset, load, placement, plan, programs, workload};
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, ErrorKind, Target};

const BLOCKS: u64 = 1_000;

/// Servers of `bins` on which `guest`, an ordinary role, has loaded.
fn each_server(bins: &[PathBuf], settings: &[&str], test: impl Fn(&Server, &dyn Fn() -> Box<dyn Target>)) {
    for bin in bins {
        let server = Server::start(bin, settings);
        server.sql("CREATE ROLE guest LOGIN");
        server.sql("CREATE DATABASE guests OWNER guest");
        let open = || server.target_as("guest", "guests", &[]).unwrap();
        load(&*open(), 1, BLOCKS).unwrap();
        test(&server, &open);
    }
}

fn refusal(target: &dyn Target, sessions: u32) -> Error {
    let error = target.prepare(&workload(1, BLOCKS, 4, "0"), sessions).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Plan, "{error}");
    // Doctor and run report the same.
    let findings = target.checks(&plan(&[("sessions", &sessions.to_string())])).unwrap();
    let finding = findings.iter().find(|found| found.code == "connections").unwrap();
    assert!(finding.text.contains(&error.next) && finding.evidence == error.what, "{finding:?}");
    error
}

/// As many sessions as were reported free do fit, next to mindful's own connections.
fn assert_fits(target: &dyn Target, error: &Error) {
    let mut words = error.next.split("--sessions ");
    let most: u32 = words.nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let w = workload(1, BLOCKS, 4, "0");
    target.prepare(&w, most).unwrap();
    let sessions: Vec<_> = (0..most).map(|n| target.session(&w, placement(n, most, 1)).unwrap()).collect();
    let samplers = target.samplers().unwrap();
    assert!(sessions.len() == most as usize && !samplers.is_empty());
}

#[test]
fn limits_of_role_and_database_hold_before_any_session() {
    each_server(&programs(), &[], |server, open| {
        for (owner, name) in [("ROLE", "guest"), ("DATABASE", "guests")] {
            server.sql(&format!("ALTER {owner} {name} CONNECTION LIMIT 6"));
            let target = open();
            let error = refusal(&*target, 5);
            assert!(error.what.contains(&format!("{name} has CONNECTION LIMIT 6")), "{error}");
            let alter = error.next.split(" or ").nth(1).unwrap().to_owned();
            assert_eq!(alter, format!("ALTER {owner} {name} CONNECTION LIMIT 8"));
            assert_fits(&*target, &error);
            // The suggested command helps.
            server.sql(&alter);
            target.prepare(&workload(1, BLOCKS, 4, "0"), 5).unwrap();
            server.sql(&format!("ALTER {owner} {name} CONNECTION LIMIT -1"));
        }
    });
}

#[test]
fn connections_reserved_for_others_are_not_free() {
    each_server(&programs(), &["max_connections=12", "superuser_reserved_connections=4"], |server, open| {
        let target = open();
        let error = refusal(&*target, 9);
        assert!(error.what.contains("max_connections is 12, 4 of them reserved"), "{error}");
        assert!(error.next.contains("ALTER SYSTEM SET max_connections = "), "{error}");
        assert_fits(&*target, &error);
        drop(target);
        // A superuser can use the reserved ones too, and the role's limit does not apply to it.
        server.sql("ALTER ROLE bench CONNECTION LIMIT 1");
        let target = server.loaded(1, BLOCKS);
        target.prepare(&workload(1, BLOCKS, 4, "0"), 9).unwrap();
    });
}

#[test]
fn a_role_that_may_use_reserved_connections_is_granted_them() {
    each_server(&programs()[..1], &["max_connections=14", "reserved_connections=4"], |server, open| {
        let target = open();
        let error = refusal(&*target, 7);
        assert!(error.next.ends_with("GRANT pg_use_reserved_connections TO guest"), "{error}");
        server.sql("GRANT pg_use_reserved_connections TO guest");
        target.prepare(&workload(1, BLOCKS, 4, "0"), 7).unwrap();
    });
}

#[test]
fn more_load_streams_than_connections_are_refused() {
    each_server(&programs(), &[], |server, open| {
        server.sql("ALTER ROLE guest CONNECTION LIMIT 3");
        let target = open();
        let plan = mindful_core::dataset::DatasetPlan { load_streams: 4, ..dataset(6, BLOCKS) };
        let error = target.load(&plan, &Silent, &StopFlag::default()).unwrap_err();
        assert!(
            error.what.starts_with("4 load streams do not fit") && error.next.contains("--load-streams 2"),
            "{error}"
        );
        assert_eq!(target.dataset().unwrap().unwrap().schemas, 1);
    });
}
