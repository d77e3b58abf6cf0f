//! Updates on real servers: their log volume, their place, and no deadlock between sessions.

use mindful_conformance::work_side_by_side;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, Server, programs, readings, session, work, workload};
use mindful_core::plan::units::Share;
use mindful_core::workload::{HotSpot, OpKind, Redo, Workload};

const BLOCKS: u64 = 4_000;

#[test]
fn an_updated_block_logs_as_much_as_the_formats_predict() {
    for bin in programs() {
        for images in ["off", "on"] {
            let server = Server::start(&bin, &[&format!("full_page_writes={images}")]);
            let target = server.loaded(1, BLOCKS);
            let expected = target.describe().unwrap().expected_log.unwrap();
            for (redo, [low, high]) in [(Redo::Light, expected.light), (Redo::Heavy, expected.heavy)] {
                let w = Workload { redo, ..workload(1, BLOCKS, 4, "100") };
                let mut session = session(&*target, &w);
                let lsn = "SELECT pg_current_wal_insert_lsn() - '0/0'";
                let pages = "SELECT wal_fpi FROM pg_stat_wal";
                server.sql("CHECKPOINT");
                let (log_before, pages_before) = (server.figure(lsn), server.figure(pages));
                let report = work(&*target, &mut *session, 0, 3_000).unwrap();
                drop(session);
                let blocks = report.op(OpKind::Update).blocks as f64;
                let per_block = (server.figure(lsn) - log_before) / blocks;
                let share = (server.figure(pages) - pages_before) / blocks;
                assert!(share < 0.01 || images == "on", "{share}");
                let high = high + share * expected.images.as_ref().map_or(0.0, |images| images.bytes);
                assert!(
                    (low..=high).contains(&per_block),
                    "{redo:?}: {per_block} not in {low}..{high}, images {images}"
                );
            }
        }
    }
}

#[test]
fn many_sessions_in_one_hot_schema_never_deadlock() {
    let server = Server::start(&programs()[0], &["deadlock_timeout=100ms"]);
    let target = server.loaded(1, BLOCKS);
    let spot = HotSpot { blocks: 24, offset: 100, share: Share::parse("80").unwrap() };
    let w = Workload { hot_spot: Some(spot), ..workload(1, BLOCKS, 8, "100") };
    for report in work_side_by_side(&*target, &w, 16, 2_000_000) {
        assert!(report.unwrap().total_ops() > 0);
    }
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'";
    assert_eq!(server.sql(deadlocks), ["0"]);
}

#[test]
fn writers_of_blocks_add_up_to_the_databases_writes() {
    for bin in programs() {
        let server = Server::start(&bin, &["shared_buffers=2MB", "autovacuum=off", "bgwriter_delay=10ms"]);
        let target = server.loaded(1, BLOCKS);
        let read = || readings(&mut target.samplers().unwrap());
        let before = read();
        for report in work_side_by_side(&*target, &workload(1, BLOCKS, 8, "100"), 4, 1_000_000) {
            report.unwrap();
        }
        server.sql("CHECKPOINT");
        // The sessions reported theirs at their end; the writers report theirs within a second or so.
        let until = Instant::now() + PATIENCE;
        loop {
            std::thread::sleep(Duration::from_secs(2));
            let after = read();
            let [all, sessions, checkpoints, background] =
                ["physical_writes", "session_writes", "checkpoint_writes", "background_writes"]
                    .map(|name| after[name] - before[name]);
            let sum = sessions + checkpoints + background;
            if sessions > 0.0 && checkpoints > 0.0 && (sum / all - 1.0).abs() < 0.005 {
                break;
            }
            assert!(Instant::now() < until, "{sessions} + {checkpoints} + {background} of {all}");
        }
        let after = read();
        let [bytes, writes] = ["log_bytes", "log_writes"].map(|name| after[name] - before[name]);
        assert!(writes > 0.0 && bytes / writes > 100.0, "{bytes} bytes of log in {writes} writes");
    }
}
