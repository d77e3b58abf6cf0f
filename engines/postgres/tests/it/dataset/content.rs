//! Stored blocks, read back and compressed, match the request, or the load is refused before its first byte.

use crate::support::{NOTHING_WAITS, Server, dataset, programs, proof, session, work, workload};
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::workload::Redo;
use mindful_core::{ErrorKind, Target};

const BLOCKS: u64 = 600;

/// How far the ratio of stored blocks may be from the requested one, as a share.
const TOLERANCE: f64 = 0.05;

fn mixed(compress_ratio: f64, dedupe_ratio: f64) -> DatasetPlan {
    DatasetPlan { content: Content::Mixed { compress_ratio, dedupe_ratio }, ..dataset(1, BLOCKS) }
}

/// Compress and dedupe ratio of the blocks as the target reports them.
fn stored_ratios(target: &dyn Target) -> (f64, f64) {
    let stored = target.describe().unwrap().stored_blocks.unwrap();
    let numbers: Vec<f64> = stored.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

#[test]
fn stored_blocks_have_the_ratio_asked_for() {
    for bin in programs() {
        let server = Server::start(&bin, &NOTHING_WAITS);
        for asked in [1.0, 2.0, 4.0, 12.0, 30.0] {
            let target = server.target(&[("compress_ratio", &asked.to_string())]).unwrap();
            target.load(&mixed(asked, 1.0), &Silent, &StopFlag::default()).unwrap();
            let (compress, dedupe) = stored_ratios(&*target);
            assert!((compress / asked - 1.0).abs() < TOLERANCE, "{compress} for {asked}");
            assert!((dedupe - 1.0).abs() < f64::EPSILON, "{dedupe}");
            assert_eq!(proof(&*target).failure(), None);
            // Without settings a run uses the existing dataset, and completes it.
            let plain = server.target(&[]).unwrap();
            let more = DatasetPlan { schemas: 2, ..mixed(asked, 1.0) };
            assert_eq!(plain.load(&more, &Silent, &StopFlag::default()).unwrap().schemas, 2);
            target.cleanup().unwrap();
        }
    }
}

#[test]
fn without_a_ratio_narrow_rows_reach_about_seven() {
    let server = Server::start(&programs()[0], &NOTHING_WAITS);
    let target = server.loaded(1, BLOCKS);
    let (compress, _) = stored_ratios(&*target);
    assert!((6.5..8.5).contains(&compress), "{compress}");
    target.cleanup().unwrap();
    let repeated = DatasetPlan { content: Content::Repeated, ..dataset(1, BLOCKS) };
    target.load(&repeated, &Silent, &StopFlag::default()).unwrap();
    assert!(stored_ratios(&*target).0 > 30.0, "{:?}", stored_ratios(&*target));
}

#[test]
fn impossible_ratios_are_refused_with_the_possible_range() {
    let server = Server::start(&programs()[0], &NOTHING_WAITS);
    let target = server.target(&[("compress_ratio", "1")]).unwrap();
    for plan in [mixed(50.0, 1.0), mixed(2.0, 3.0)] {
        let error = target.load(&plan, &Silent, &StopFlag::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Plan, "{error}");
        assert!(error.next.contains("ratio"), "{error}");
    }
    assert_eq!(target.dataset().unwrap(), None);
    // Rows that fill their block leave no space for another version.
    target.load(&mixed(1.0, 1.0), &Silent, &StopFlag::default()).unwrap();
    target.prepare(&workload(1, BLOCKS, 4, "0"), 1).unwrap();
    let error = target.prepare(&workload(1, BLOCKS, 4, "1"), 1).unwrap_err();
    assert!(error.kind == ErrorKind::Plan && error.next.contains("--compress-ratio"), "{error}");
}

#[test]
fn updates_of_shaped_rows_stay_in_block_and_in_kind() {
    let server = Server::start(&programs()[0], &NOTHING_WAITS);
    let target = server.target(&[("compress_ratio", "4")]).unwrap();
    target.load(&mixed(4.0, 1.0), &Silent, &StopFlag::default()).unwrap();
    let w = mindful_core::workload::Workload { redo: Redo::Heavy, ..workload(1, BLOCKS, 1, "100") };
    let mut session = session(&*target, &w);
    work(&*target, &mut *session, 0, 2_000).unwrap();
    drop(session);
    let left = "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'blocks_1'";
    assert_eq!(server.sql(left), ["0"]);
    // A rewritten table contains only the last versions, which are as random as the first.
    server.sql("VACUUM FULL mindful.blocks_1");
    server.sql("CHECKPOINT");
    let (compress, _) = stored_ratios(&*target);
    assert!((compress / 4.0 - 1.0).abs() < TOLERANCE, "{compress}");
}
