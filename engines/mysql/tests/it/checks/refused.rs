//! Conditions that would falsify a run are refused.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use mindful_conformance::{Fixture, Notes, Opened, assert_says, dataset_plan, slice_of};
use mindful_core::contract::metric::HostSource;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Commit, LoopSite, OpKind, Workload};
use mindful_mysql::ENGINE;
use mysql::prelude::Queryable;

use crate::by_hand::ByHand;
use crate::shared::{self, Shared};
use crate::support::{Kind, MARIADB, MYSQL, connect, sql};

/// Blocks of a schema if the number does not matter.
const BLOCKS: u64 = 200;

pub(crate) fn loaded(shared: &Shared, schemas: u32, blocks: u64) -> (Box<dyn Target>, String) {
    let name = shared::name();
    let mut fixture = Fixture::new(&ENGINE, shared::url(&shared.server.socket(), &name));
    fixture.dataset = dataset_plan(schemas, blocks);
    (fixture.loaded().target, name)
}

#[test]
fn a_lost_row_is_no_proof() {
    let shared = shared::server(MARIADB);
    let (target, name) = loaded(&shared, 1, 600);
    sql(&shared.server, &format!("DELETE FROM `{name}`.blocks_1 WHERE k = 300"));
    // After its deletion, and again after purge has freed its page, which still contains it.
    for _ in 0..3 {
        for look in [target.verify(&StopFlag::default()), target.verify_all(&StopFlag::default())] {
            assert_says(look.unwrap_err(), &["keys 1 to 600"]);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn an_index_that_is_gone_is_refused() {
    let shared = shared::server(MARIADB);
    let (target, name) = loaded(&shared, 1, 200);
    sql(&shared.server, &format!("ALTER TABLE `{name}`.blocks_1 DROP INDEX k, ADD INDEX other (k)"));
    assert_says(target.prepare(&Workload::reads_only(1, 200, 1), 1).unwrap_err(), &["blocks_1"]);
}

#[test]
fn a_clock_that_does_not_move_is_refused() {
    let server = ByHand::start(MARIADB, &["--sysdate-is-now"]);
    let opened = server.fixture(BLOCKS).loaded();

    let error = opened.target.prepare(&Workload::reads_only(1, BLOCKS, 1), 1).unwrap_err().to_string();

    assert!(error.contains("sysdate-is-now") && error.contains("--loop client"), "{error}");
    let by_client = Workload { loop_site: LoopSite::Client, ..Workload::reads_only(1, BLOCKS, 1) };
    assert_eq!(opened.work_ops(&by_client, 1, Some(3))[0].total_ops(), 3);
}

/// The result of a slice of half a minute during which `harm` is done.
pub(crate) fn harmed(opened: &Opened, looping: LoopSite, harm: impl FnOnce()) -> String {
    let workload = Workload { loop_site: looping, ..Workload::reads_only(2, BLOCKS, 8) };
    let (ready, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let slice = scope.spawn(move || {
            let mut session = opened.session(&workload, 0, 1);
            let order = slice_of(&*opened.target, 30_000_000);
            ready.send(()).unwrap();
            session.run_slice(&order).unwrap_err()
        });
        begun.recv().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        harm();
        slice.join().unwrap().to_string()
    })
}

#[test]
fn a_connection_that_is_lost_ends_its_slice_with_one_line() {
    let (shared, fixture, name) = least(MARIADB);
    let opened = fixture.loaded();
    for looping in [LoopSite::Server, LoopSite::Client] {
        let error = harmed(&opened, looping, || {
            let mut control = connect(&shared.server);
            let of_role = format!("SELECT id FROM information_schema.PROCESSLIST WHERE user = 'u_{name}'");
            for id in control.query::<u64, _>(of_role).unwrap() {
                control.query_drop(format!("KILL {id}")).unwrap();
            }
        });
        assert!(error.contains("session 1") && !error.contains('\n'), "{looping:?}: {error}");
        // The next one works: lost connections are made again.
        let workload = Workload { loop_site: looping, ..Workload::reads_only(2, BLOCKS, 8) };
        assert_eq!(opened.work_ops(&workload, 1, Some(5))[0].total_ops(), 5, "{looping:?}");
    }
}

#[test]
fn a_server_that_dies_is_reported_and_no_report_is_made_up() {
    let server = ByHand::start(MARIADB, &[]);
    let opened = server.fixture(BLOCKS).loaded();
    let workload = Workload::reads_only(2, BLOCKS, 8);
    let mut session = opened.session(&workload, 0, 1);
    let mut samplers = opened.target.samplers().unwrap();
    let mut orders = opened.orders();
    assert_eq!(session.run_slice(&orders.next(0, Some(3))).unwrap().total_ops(), 3);

    let begun = Instant::now();
    let error = harmed(&opened, LoopSite::Server, || drop(server));
    assert!(error.contains("session 1") && !error.contains('\n'), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15), "reported after {:?}", begun.elapsed());

    let error = session.run_slice(&orders.next(1_000, None)).unwrap_err().to_string();
    assert!(error.contains("session 1") && !error.contains('\n'), "{error}");
    assert!(samplers[0].read().is_err(), "old counters pass as new ones");
    assert!(opened.target.dataset().is_err());
}

/// A role that may do all in its own database and nothing else, as on a foreign server.
pub(crate) fn least(kind: Kind) -> (Arc<Shared>, Fixture, String) {
    let shared = shared::server(kind);
    let name = shared::name();
    let user = format!("u_{name}");
    let mut control = connect(&shared.server);
    for statement in [
        format!("CREATE USER `{user}`@localhost"),
        format!("GRANT ALL ON `{name}`.* TO `{user}`@localhost"),
        format!("CREATE DATABASE `{name}`"),
    ] {
        control.query_drop(statement).unwrap();
    }
    let url = format!("mysql://{user}@localhost/{name}?socket={}", shared.server.socket().display());
    let mut fixture = Fixture::new(&ENGINE, url);
    fixture.dataset.blocks_per_schema = BLOCKS;
    (shared, fixture, name)
}

#[test]
fn all_of_it_works_for_a_role_of_its_own_database_alone() {
    for kind in [MARIADB, MYSQL] {
        let (_shared, fixture, _) = least(kind);
        let opened = fixture.loaded();
        assert_eq!(opened.target.verify(&StopFlag::default()).unwrap().failure(), None, "{kind:?}");
        let workload = Workload::reads_only(2, BLOCKS, 8);
        let report = &opened.work_ops(&workload, 1, Some(50))[0];
        assert_eq!(report.ops[0].blocks, 400, "{kind:?}");
        for mut sampler in opened.target.samplers().unwrap() {
            let values = sampler.read().unwrap();
            // Threads are known after the first sample of waits.
            let known = values.iter().any(Option::is_some) || sampler.name() == HostSource::SessionThreads.name();
            assert!(known, "{kind:?}: {} is unknown", sampler.name());
        }
    }
}

#[test]
fn a_table_of_numbers_that_others_changed_is_refused() {
    let (shared, fixture, name) = least(MYSQL);
    // Functions need more than the database where the binary log is on; here no user may call any.
    let opened = fixture.loaded();
    sql(
        &shared.server,
        &format!("REVOKE CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON `{name}`.* FROM `u_{name}`@localhost"),
    );
    drop(opened);
    let opened = Opened { target: fixture.open() };
    let workload = Workload::reads_only(2, BLOCKS, 8);
    let report = &opened.work_ops(&workload, 1, Some(50))[0];
    assert_eq!(report.ops[0].blocks, 400);

    let alter = format!("ALTER TABLE `{name}`.numbers");
    for (lay, why, lift) in [
        (format!("{alter} ENGINE = MEMORY"), "is a table of MEMORY", format!("{alter} ENGINE = InnoDB")),
        (
            format!("CREATE TRIGGER `{name}`.t BEFORE INSERT ON `{name}`.numbers FOR EACH ROW SET NEW.n = 0"),
            "has the trigger t",
            format!("DROP TRIGGER `{name}`.t"),
        ),
        (format!("{alter} ADD x INT"), "has the column x int", format!("{alter} DROP x")),
        (format!("{alter} COMMENT = 'theirs'"), "lacks mindful's mark", String::new()),
    ] {
        sql(&shared.server, &lay);
        let error = opened.target.prepare(&workload, 1).unwrap_err().to_string();
        assert!(error.contains("`numbers` is not as mindful made it") && error.contains(why), "{error}");
        if !lift.is_empty() {
            sql(&shared.server, &lift);
        }
    }
}

#[test]
fn a_load_without_local_infile_goes_by_inserts() {
    let server = ByHand::start(MARIADB, &["--local-infile=OFF"]);
    let fixture = server.fixture(500);
    let (target, notes) = (fixture.open(), Notes::default());
    target.load(&fixture.dataset, &notes, &StopFlag::default()).unwrap();
    assert!(notes.tell("local_infile"), "{}", notes.all());
    assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
}

#[test]
fn commits_that_a_server_of_others_does_not_make_name_the_right() {
    for (kind, right) in [(MARIADB, "GRANT SUPER ON *.*"), (MYSQL, "GRANT SYSTEM_VARIABLES_ADMIN ON *.*")] {
        let (shared, fixture, _) = least(kind);
        let opened = fixture.loaded();
        let waiting = Workload { update_pct: Share::ALL, ..Workload::reads_only(2, BLOCKS, 1) };
        let not_waiting = Workload { commit_wait: false, ..waiting.clone() };

        let error = opened.target.prepare(&not_waiting, 1).unwrap_err().to_string();

        let line = "SET GLOBAL innodb_flush_log_at_trx_commit = 2";
        assert!(error.contains(line) && error.contains(right) && error.contains("--commit-wait on"), "{error}");
        // The server's shared settings are unchanged, and its real behaviour is measured.
        assert_eq!(sql(&shared.server, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit"), "1", "{kind:?}");
        let report = &opened.work_ops(&waiting, 1, Some(20))[0];
        assert_eq!(report.op(OpKind::Update).ops, 20, "{kind:?}");
        for commit in [Commit::Every(5), Commit::Slice] {
            let fewer = Workload { commit, schemas: 2, ..waiting.clone() };
            assert_eq!(opened.work_ops(&fewer, 1, Some(20))[0].op(OpKind::Update).ops, 20, "{kind:?}, {commit:?}");
        }
    }
}
