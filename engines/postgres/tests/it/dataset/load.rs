//! The dataset against real servers: layout, no debt, resume, and no change of foreign objects.

use crate::support::{NOTHING_WAITS, Server, dataset, each_server, load, programs, proof, session, work, workload};
use mindful_core::ErrorKind;
use mindful_core::contract::event::{Event, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;

#[test]
fn the_layout_holds_and_reading_every_block_writes_nothing() {
    each_server(|server| {
        let target = server.target(&[]).unwrap();
        let loaded = load(&*target, 3, 4_000).unwrap();
        assert_eq!((loaded.schemas, loaded.blocks_per_schema), (3, 4_000));
        let proof = proof(&*target);
        assert_eq!(proof.failure(), None, "{proof:?}");
        assert!(proof.cross_correlation.is_some());
        for schema in 1..=3 {
            let pages = server.sql(&format!("SELECT pg_relation_size('mindful.blocks_{schema}') / 8192"));
            // The server extends tables by some blocks at a time; those after the last row stay empty.
            assert!((4_000..4_064).contains(&pages[0].parse().unwrap()), "{pages:?}");
            let plan = server.sql(&format!(
                "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT count(seq) FROM mindful.blocks_{schema}"
            ));
            // Planning may set hint bits in the catalogue, which does not belong to the dataset.
            let text: Vec<_> = plan.iter().take_while(|line| !line.starts_with("Planning")).cloned().collect();
            let text = text.join("\n");
            assert!(!text.contains("dirtied") && !text.contains("written"), "{text}");
        }
    });
}

#[test]
fn a_stored_proof_counts_until_the_dataset_is_another() {
    each_server(|server| {
        let target = server.target(&[]).unwrap();
        let load = |schemas, seed| {
            let plan = DatasetPlan { seed, ..dataset(schemas, 500) };
            server.target(&[]).unwrap().load(&plan, &Silent, &StopFlag::default()).unwrap()
        };
        let kept = || server.target(&[]).unwrap().stored_proof().unwrap();
        let prove = || {
            let proof = proof(&*target);
            target.store_proof(&proof).unwrap();
            assert_eq!(kept(), Some(proof));
        };
        load(2, 7);
        assert_eq!(kept(), None, "nothing was proven yet");
        prove();
        server.sql("VACUUM FULL mindful.blocks_2");
        assert_eq!(kept(), None, "its rows are in another file");
        prove();
        load(3, 7);
        assert_eq!(kept(), None, "the third schema was never proven");
        prove();
        target.cleanup().unwrap();
        assert_eq!(kept(), None);
        load(3, 8);
        assert_eq!(kept(), None, "it is another dataset");
    });
}

#[test]
fn an_interrupted_load_resumes_with_the_missing_tables() {
    each_server(|server| {
        let target = server.target(&[]).unwrap();
        let stop = StopFlag::default();
        let stop_half_way = |event| {
            if matches!(event, Event::Progress { done, of, .. } if done * 2 > of) {
                stop.request();
            }
        };
        let plan = DatasetPlan { load_streams: 1, ..dataset(4, 3_000) };
        let error = target.load(&plan, &stop_half_way, &stop).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Interrupted, "{error}");
        let before = server.sql("SELECT name || object FROM mindful.registry ORDER BY 1");
        assert!((1..4).contains(&before.len()), "{before:?}");
        assert_eq!(target.load(&plan, &Silent, &StopFlag::default()).unwrap().schemas, 4);
        let after = server.sql("SELECT name || object FROM mindful.registry ORDER BY 1");
        assert!(before.iter().all(|table| after.contains(table)), "{before:?} stays in {after:?}");
        assert_eq!(proof(&*target).failure(), None);
    });
}

#[test]
fn a_load_that_does_not_fit_is_refused_with_both_figures() {
    each_server(|server| {
        let target = server.target(&[]).unwrap();
        let error = load(&*target, 4, 1 << 40).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(error.what.contains("needs") && error.what.contains("free"), "{error}");
        assert_eq!(target.dataset().unwrap(), None);
    });
}

#[test]
fn a_schema_that_bears_our_name_is_not_touched() {
    each_server(|server| {
        server.sql(
            "CREATE SCHEMA mindful; CREATE TABLE mindful.blocks_1 (k bigint); CREATE TABLE mindful.registry (x int)",
        );
        let target = server.target(&[]).unwrap();
        assert_eq!(target.dataset().unwrap_err().kind, ErrorKind::Target);
        let error = load(&*target, 1, 500).unwrap_err();
        assert!(error.next.contains("--namespace"), "{error}");
        assert!(target.cleanup().is_err());
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'mindful'::regnamespace";
        assert_eq!(server.sql(tables), ["2"]);
    });
}

#[test]
fn cleanup_removes_our_objects_and_leaves_others() {
    each_server(|server| {
        let target = server.loaded(3, 500);
        // A foreign table in our schema, and one that took the name of ours.
        server.sql(
            "CREATE TABLE mindful.diary (x int); DROP TABLE mindful.blocks_2; CREATE TABLE mindful.blocks_2 (x int)",
        );
        let listed = target.inventory().unwrap();
        assert_eq!(target.cleanup().unwrap(), listed);
        let kept: Vec<_> = listed.iter().filter(|o| o.kept_because.is_some()).map(|o| o.name.as_str()).collect();
        assert_eq!(kept, ["mindful.blocks_2", "mindful.diary", "\"mindful\""]);
        let left = server.sql(
            "SELECT relname FROM pg_class WHERE relnamespace = 'mindful'::regnamespace AND relkind = 'r' ORDER BY 1",
        );
        assert_eq!(left, ["blocks_2", "diary"]);
    });
}

#[test]
fn hostile_names_are_only_names() {
    each_server(|server| {
        server.sql("CREATE TABLE public.victim (x int)");
        for name in ["a\"; DROP TABLE public.victim; --", "it's", "Grüße $body$ $_body$ {{table}}", "select"] {
            let target = server.loaded_with(&[("namespace", name)], 1, 300);
            assert_eq!(proof(&*target).failure(), None);
            let w = workload(1, 300, 2, "50");
            let mut session = session(&*target, &w);
            assert_eq!(work(&*target, &mut *session, 0, 20).unwrap().total_ops(), 20);
            drop(session);
            target.cleanup().unwrap();
        }
        assert_eq!(server.sql("SELECT count(*) FROM public.victim"), ["0"]);
    });
}

#[test]
fn a_registry_of_more_than_any_server_holds_is_no_dataset() {
    let server = Server::start(&programs()[0], &NOTHING_WAITS);
    let target = server.loaded(2, 100);
    for blocks in ["9223372036854775807", "-9223372036854775808", "2305843009213693952"] {
        server.sql(&format!("UPDATE mindful.registry SET blocks = {blocks}"));
        assert_eq!(target.dataset().unwrap(), None, "{blocks}");
        let refused = load(&*target, 2, 100).unwrap_err();
        assert!(refused.to_string().contains("instead of 100"), "{refused}");
    }
}

/// Log messages of a server about clients that left in the middle.
const COMPLAINTS: [&str; 4] = ["could not send", "could not receive", "connection to client lost", "unexpected EOF"];

#[test]
fn a_load_leaves_no_complaint_in_the_servers_log() {
    for bin in programs() {
        let server = Server::start(&bin, &NOTHING_WAITS);
        for schemas in [1, 3] {
            let target = server.target(&[]).unwrap();
            target.describe().unwrap();
            load(&*target, schemas, 15_000).unwrap();
            proof(&*target);
            target.describe().unwrap();
        }
        // The server may be a moment late.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let log = server.log();
        let complaints: Vec<_> =
            log.lines().filter(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint))).collect();
        assert_eq!(complaints, Vec::<&str>::new());
    }
}
