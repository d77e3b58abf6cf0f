//! Faults are reported in one line with the next step, missing privileges with the GRANT.

use std::sync::Arc;

use mindful_conformance::{Notes, Opened, assert_says, slice_of};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Engine, Error, ErrorKind};

use crate::support::{ENGINE, fixture};

/// Does all that a user can with a fresh target; the first error.
fn everything(target: &dyn Target, plan: &DatasetPlan) -> Result<(), Error> {
    target.load(plan, &Silent, &StopFlag::default())?;
    let proof = target.verify(&StopFlag::default())?;
    target.store_proof(&proof)?;
    for looping in [LoopSite::Server, LoopSite::Client] {
        let workload =
            Workload { loop_site: looping, update_pct: mindful_conformance::slices::percent(50), ..work(plan) };
        target.prepare(&workload, 1)?;
        let mut session = target.session(&workload, Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 })?;
        let begin_us = target.clock_us()?;
        let (index, end_us) = (0, begin_us + 60_000_000);
        session.run_slice(&SliceOrder { index, begin_us, end_us, first_op: 0, max_ops: Some(20) })?;
    }
    target.samplers()?.iter_mut().try_for_each(|sampler| sampler.read().map(drop))?;
    target.cleanup().map(drop)
}

fn work(plan: &DatasetPlan) -> Workload {
    Workload::reads_only(plan.schemas, plan.blocks_per_schema, 4)
}

#[test]
fn whichever_call_fails_the_error_is_one_line() {
    let (fixture, whole) = fixture();
    everything(&*fixture.open(), &fixture.dataset).unwrap();
    let seen = whole.state().seen.clone();
    assert!(seen.len() > 30, "{seen:?}");
    for name in seen {
        for code in [1_653, 3_113] {
            let (fixture, database) = crate::support::fixture();
            database.fail(&name, code, u32::MAX);
            let opened = fixture.try_open(&Arc::new(Silent));
            let Err(error) = opened.and_then(|target| everything(&*target, &fixture.dataset)) else {
                // A failed last report of a session, and a failed cleanup after the proof of a plan, are harmless.
                assert!(name.starts_with("my_") || name == "whoami", "{name} fails unnoticed");
                continue;
            };
            mindful_conformance::dataset::assert_one_line(&error);
            assert!(error.kind != ErrorKind::Plan, "{name}: {error:?}");
        }
    }
}

#[test]
fn only_work_on_whole_tables_is_waited_for_longer() {
    let (fixture, database) = fixture();
    everything(&*fixture.open(), &fixture.dataset).unwrap();
    let long = database.state().long.clone();
    let work = ["blocks", "drop", "index", "prove_pair", "prove_schema", "slice"];
    assert_eq!(long.iter().map(String::as_str).collect::<Vec<_>>(), work);
}

/// Each text that reads a view of the server's, and the first word of its finding if it has one.
const VIEWS: &[(&str, Option<&str>)] = &[
    ("own_statistics", Some("v$sesstat")),
    ("own_events", Some("v$session_event")),
    ("own_time", Some("v$sess_time_model")),
    ("instance_statistics", Some("v$sysstat")),
    ("histogram", Some("v$event_histogram_micro")),
    ("host", Some("v$osstat")),
    ("files", Some("v$iostat_file")),
    ("disks", None),
    ("waits", Some("v$session")),
    ("my_statistics", None),
    ("my_events", None),
    ("my_time", None),
    ("whoami", None),
    ("parameters", None),
    ("sga", None),
    ("pools", None),
    ("database", None),
    ("identity", None),
];

#[test]
fn a_view_that_is_not_there_or_has_other_columns_spoils_no_run() {
    for (text, view_of_text) in VIEWS {
        for code in [904, 942] {
            let (fixture, database) = fixture();
            database.fail(text, code, u32::MAX);
            let notes = Arc::new(Notes::default());
            let target = fixture.open_for(&notes);
            target.describe().unwrap();
            everything(&*target, &fixture.dataset).unwrap_or_else(|error| panic!("{text} {code}: {error}"));
            let found = notes.all();
            assert_eq!(
                found.contains("counters-denied"),
                view_of_text.is_some() || *text == "disks" && code == 904,
                "{text}"
            );
            if let Some(view) = view_of_text {
                let why = if code == 904 { "lacks columns of" } else { "cannot read" };
                assert!(found.contains(&format!("{why} {view}")), "{text} {code}: {found}");
                let grant = format!("GRANT SELECT ON {}", view.to_uppercase().replace("V$", "V_$"));
                assert_eq!(found.contains(&grant), code == 942, "{text}: {found}");
                let samplers = target.samplers().unwrap();
                assert!(samplers.iter().all(|sampler| sampler.name() != *view), "{text}: its figures are not unknown");
            }
        }
    }
    let needed = ["all_waits", "banner", "data_files", "instance"];
    for (name, text) in crate::work::shapes::templates() {
        let known = VIEWS.iter().any(|(text, _)| *text == name) || needed.contains(&&*name);
        assert!(known || !text.contains("v$"), "{name}: what if its view is missing?");
    }
}

#[test]
fn files_of_a_server_here_are_those_that_can_be_read() {
    let (mut fixture, database) = fixture();
    let here = tempfile::NamedTempFile::new().unwrap();
    let there = here.path().to_str().unwrap().to_owned();
    database.state().files = vec!["+DATA/FREE/users.dbf".to_owned(), "/no/such/users01.dbf".to_owned(), there];
    assert!(fixture.open().data_files().unwrap().is_empty(), "the server is on another host");
    fixture.url = fixture.url.replace("@host:", "@localhost:");
    assert_eq!(fixture.open().data_files().unwrap(), [here.path()]);
    database.fail("data_files", 942, u32::MAX);
    let notes = Arc::new(Notes::default());
    let target = fixture.open_for(&notes);
    assert!(target.data_files().unwrap().is_empty());
    let notes = notes.all();
    assert!(
        notes.contains("GRANT SELECT ON V_$DATAFILE") && notes.contains("GRANT SELECT ON V_$TABLESPACE"),
        "{notes}"
    );
}

#[test]
fn sqlplus_accepts_the_script_of_grants_unchanged() {
    let script = ENGINE.facts().grants.unwrap();
    let (comments, statements): (Vec<&str>, Vec<&str>) = script.lines().partition(|line| line.starts_with("--"));
    // SQL*Plus ends a statement at such a sign in a comment, continues after a hyphen, and asks for the value of a name
    // after an &.
    let stumbles = |line: &&&str| line.contains([';', '&', '/']) || line.ends_with('-');
    assert_eq!(comments.iter().find(stumbles), None);
    for statement in &statements {
        let begins = ["CREATE USER ", "GRANT "].iter().any(|begin| statement.starts_with(begin));
        let one = statement.matches(';').count() == 1 && statement.ends_with(';');
        assert!(begins && one && !statement.contains('&'), "{statement}");
        assert!(!statement.contains(" ANY ") && !statement.contains("DBA"), "{statement}");
    }
    let read = include_str!("../../columns.txt").lines().filter_map(|line| line.strip_prefix("v$")?.split(':').next());
    for view in read.filter(|view| *view != "version") {
        // All users may read V$VERSION.
        let grant = format!("GRANT SELECT ON V_${} TO mindful_bench;", view.to_uppercase());
        assert!(statements.contains(&grant.as_str()), "no {grant}");
    }
    let readme = include_str!("../../../README.md");
    let views = statements.iter().filter(|statement| statement.contains(" ON V_$")).count();
    assert!(
        views == 17 && readme.contains("seventeen V$ views") && readme.contains("`Grant succeeded` eighteen times")
    );
}

#[test]
fn a_remote_server_reports_its_host_and_files() {
    let (fixture, database) = fixture();
    database.fail("files", 942, u32::MAX);
    let notes = Arc::new(Notes::default());
    let target = fixture.open_for(&notes);
    let mut samplers = target.samplers().unwrap();
    let notes = notes.all();
    assert!(notes.contains("GRANT SELECT ON V_$IOSTAT_FILE") && !notes.contains("ASM"), "{notes}");
    let host = samplers.iter_mut().find(|sampler| sampler.name() == "v$osstat").unwrap();
    let names: Vec<String> = host.metrics().iter().map(|metric| metric.name.clone()).collect();
    assert_eq!(names[..3], [Counter::HostCpuBusyUs.name(), Counter::HostCpuTotalUs.name(), "host_cpus"]);
    assert_eq!(host.read().unwrap()[..4], [Some(1e6), Some(1e7), Some(2.0), Some(1.0)]);
    assert!(samplers.iter().all(|sampler| !["v$iostat_file", "v$asm_disk_iostat"].contains(&sampler.name())));
    database.fail("files", 942, 0);
    let mut samplers = target.samplers().unwrap();
    let files = samplers.iter_mut().find(|sampler| sampler.name() == "v$iostat_file").unwrap();
    let mib = f64::from(1 << 20);
    assert_eq!(files.read().unwrap()[..2], [Some(100.0), Some(10.0 * mib)]);
}

#[test]
fn unfitting_or_foreign_objects_are_left_alone() {
    let (fixture, database) = fixture();
    database.state().quota = Some(1_000_000);
    let target = fixture.open();
    let refused = |plan: &DatasetPlan| target.load(plan, &Silent, &StopFlag::default()).unwrap_err().to_string();
    let error = refused(&fixture.dataset);
    assert!(error.contains("quota leaves") && database.state().tables.is_empty(), "{error}");
    database.state().quota = None;
    database.state().tables.insert("MINDFUL_BLOCKS_1".to_owned(), crate::fake::database::Table::default());
    assert_says(refused(&fixture.dataset), &["MINDFUL_BLOCKS_1", "not made by mindful"]);
    target.cleanup().unwrap();
    assert!(database.state().tables.contains_key("MINDFUL_BLOCKS_1"), "a table of others was dropped");
    database.state().tables.clear();
    database.state().tables.insert("MINDFUL_REGISTRY".to_owned(), crate::fake::database::Table::default());
    assert_says(refused(&fixture.dataset), &["MINDFUL_REGISTRY", "left untouched"]);
    assert!(target.cleanup().is_err() && database.state().tables.len() == 1);
    let content = Content::Mixed { compress_ratio: 1.0, dedupe_ratio: 2.0 };
    assert!(refused(&DatasetPlan { content, ..fixture.dataset.clone() }).contains("dedupe"));
    let large = DatasetPlan { blocks_per_schema: 1 << 31, ..fixture.dataset.clone() };
    assert!(refused(&large).contains("largest whole number"));
}

#[test]
fn an_unfinished_table_is_made_again() {
    let (mut fixture, database) = fixture();
    // With several streams any may reach its index first, and the first schema may be complete when another is cut off.
    fixture.dataset.load_streams = 1;
    let target = fixture.open();
    database.fail("index", 1_652, 1);
    let stop = StopFlag::default();
    assert!(target.load(&fixture.dataset, &Silent, &stop).is_err());
    assert!(!database.state().tables.is_empty());
    assert_eq!(target.dataset().unwrap(), None);
    let dataset = target.load(&fixture.dataset, &Silent, &stop).unwrap();
    assert_eq!(dataset.schemas, fixture.dataset.schemas);
    assert_eq!(target.verify(&stop).unwrap().failure(), None);
    // The same when it only has to end.
    let (fixture, database) = crate::support::fixture();
    database.fail("index", 1_652, 1);
    let target = fixture.open();
    assert!(target.load(&fixture.dataset, &Silent, &stop).is_err());
    target.cleanup().unwrap();
    assert!(database.state().tables.is_empty(), "{:?}", database.state().tables.keys());
}

#[test]
fn parallel_streams_leave_whole_schemas_if_one_is_cut_off() {
    let (fixture, database) = fixture();
    let plan = DatasetPlan { schemas: 6, load_streams: 4, ..fixture.dataset.clone() };
    let target = fixture.open();
    database.fail("index", 1_652, 1);
    assert!(target.load(&plan, &Silent, &StopFlag::default()).is_err());
    let left = target.dataset().unwrap().map_or(0, |left| left.schemas);
    assert!(left < plan.schemas, "{left} schemas");
    assert_eq!(target.load(&plan, &Silent, &StopFlag::default()).unwrap().schemas, plan.schemas);
    assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
}

#[test]
fn a_second_run_is_refused_unless_it_says_that_it_shares() {
    let (fixture, _database) = fixture();
    let (one, other, rank) = (fixture.open(), fixture.open(), fixture.open());
    one.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
    one.prepare(&work(&fixture.dataset), 1).unwrap();
    assert_says(other.prepare(&work(&fixture.dataset), 1).unwrap_err(), &["--shared on"]);
    assert!(other.cleanup().unwrap_err().to_string().contains("another run"));
    let sharing = fixture.with("shared", "on").open();
    sharing.prepare(&Workload::reads_only(2, 500, 4), 1).unwrap();
    // A rank does not need to ask for sharing.
    rank.join_run();
    rank.prepare(&Workload::reads_only(2, 500, 4), 1).unwrap();
    drop((one, sharing, rank));
    other.cleanup().unwrap();
}

#[test]
fn ranks_cannot_meet_in_a_target() {
    let (fixture, _database) = fixture();
    let options = ENGINE.parse_options(&fixture.url, &fixture.settings).unwrap();
    assert!(options.open_rendezvous(&(Arc::new(Silent) as Arc<dyn Events>)).unwrap().is_none());
}

/// How late slices on both endpoints begin, us.
fn late_on_each_endpoint(opened: &Opened, workload: &Workload) -> [i64; 2] {
    let target = &*opened.target;
    target.prepare(workload, 2).unwrap();
    [0, 1].map(|endpoint| {
        let mut session =
            target.session(workload, Placement { session: endpoint, sessions: 2, schema: 1, endpoint }).unwrap();
        let order = slice_of(target, 60_000_000);
        let order = SliceOrder { begin_us: order.begin_us + 200_000, max_ops: Some(20), ..order };
        let report = session.run_slice(&order).unwrap();
        assert!(report.total_ops() > 0, "{report:?}");
        report.begin_us - order.begin_us
    })
}

#[test]
fn sessions_reach_each_service_and_slices_keep_its_clock() {
    let (mut fixture, database) = fixture();
    let name = fixture.url.rsplit_once('/').unwrap().1.to_owned();
    database.also_as(&format!("{name}_b"));
    fixture.url = format!("{},{name}_b", fixture.url);
    let opened = fixture.loaded();
    assert_eq!(opened.target.describe().unwrap().endpoints, 2);
    for late_us in late_on_each_endpoint(&opened, &work(&fixture.dataset)) {
        assert!((0..60_000_000).contains(&late_us), "{late_us}");
    }
}

#[test]
fn an_instance_with_a_fast_clock_begins_with_the_others() {
    const AHEAD_US: i64 = 5_000_000;
    let (mut fixture, database) = fixture();
    let name = fixture.url.rsplit_once('/').unwrap().1.to_owned();
    // The other instance of the cluster sees the same tables, but has its own clock.
    let other = crate::fake::Database::create(&format!("{name}_ahead"));
    fixture.url = format!("{},{name}_ahead", fixture.url);
    let opened = fixture.loaded();
    let tables = database.state().tables.clone();
    {
        let mut state = other.state();
        (state.tables, state.ahead_us) = (tables, AHEAD_US);
    }
    for late_us in late_on_each_endpoint(&opened, &work(&fixture.dataset)) {
        assert!((0..AHEAD_US / 2).contains(&late_us), "it begins {late_us} us late");
    }
}

#[test]
fn a_server_that_is_too_old_or_not_oracles_is_refused() {
    for (banner, part) in [
        ("Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production", "release 12 or later"),
        ("Something else", "calls itself `Something else`"),
    ] {
        let (fixture, database) = fixture();
        database.state().banner = banner.to_owned();
        assert_says(fixture.try_open(&Arc::new(Silent)).err().unwrap(), &[part]);
    }
}
