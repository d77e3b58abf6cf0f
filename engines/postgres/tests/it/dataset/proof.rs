//! The proof by a sample: it accepts data as written, and leaves every failure to a check of all rows.

use mindful_core::Target;
use mindful_core::contract::stop_flag::StopFlag;

use crate::loaded::Loaded;
use crate::support::{programs, proof};

/// More than a sample, so that the sample leaves some out.
const BLOCKS: u64 = 15_000;

/// The sample size for this layout's size and seed.
const DRAWN: u64 = 11_233;

fn each_server(schemas: u32, test: impl Fn(&Loaded)) {
    for bin in programs() {
        test(&Loaded::new(bin, schemas, BLOCKS));
    }
}

#[test]
fn a_sample_agrees_with_a_check_of_every_row() {
    each_server(2, |database| {
        let target = database.target();
        let (of_load, anew) = (proof(&*target), proof(&*target));
        let all = target.verify_all(&StopFlag::default()).unwrap();
        assert_eq!((all.failure(), all.is_sample()), (None, false));
        for sampled in [of_load, anew] {
            assert_eq!(sampled.failure(), None);
            for (one, whole) in sampled.schemas.iter().zip(&all.schemas) {
                assert_eq!((one.sample, whole.sample), (Some(DRAWN), None));
                assert_eq!((one.rows, one.distinct_blocks), (whole.rows, whole.distinct_blocks));
                assert!((one.rank_correlation - whole.rank_correlation).abs() < 1e-9, "{one:?} {whole:?}");
            }
            let cross = sampled.cross_correlation.unwrap() - all.cross_correlation.unwrap();
            assert!(cross.abs() < 1e-9, "{sampled:?} {all:?}");
        }
    });
}

#[test]
fn a_sample_reads_the_blocks_it_drew_and_no_others() {
    each_server(1, |database| {
        let visited = |work: &dyn Fn(&dyn Target)| {
            let count = || {
                let visits =
                    "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'blocks_1'";
                database.sql(visits)[0].parse::<u64>().unwrap()
            };
            let before = count();
            let target = database.target();
            work(&*target);
            drop(target);
            database.await_alone();
            count() - before
        };
        let sample = visited(&|target| assert!(proof(target).is_sample()));
        let all = visited(&|target| drop(target.verify_all(&StopFlag::default()).unwrap()));
        assert!((DRAWN..DRAWN + 100).contains(&sample), "{sample}");
        assert!(all >= BLOCKS, "{all}");
    });
}

#[test]
fn one_row_in_five_hundred_elsewhere_is_found_each_time() {
    each_server(1, |database| {
        let target = database.target();
        assert!(proof(&*target).is_sample());
        // Each moves to another block, after all others, or to the place of an earlier one.
        database.sql(
            "BEGIN; CREATE TEMP TABLE moved AS SELECT * FROM mindful.blocks_1 WHERE k % 500 = 0;
            DELETE FROM mindful.blocks_1 WHERE k % 500 = 0; INSERT INTO mindful.blocks_1 SELECT * FROM moved; COMMIT",
        );
        for _ in 0..3 {
            let found = proof(&*target);
            assert!(!found.is_sample(), "the sample said yes: {found:?}");
        }
    });
}

#[test]
fn a_wrong_layout_fails_as_in_a_full_check() {
    each_server(1, |database| {
        let target = database.target();
        assert!(proof(&*target).is_sample());
        for (statements, failure) in [
            (["CLUSTER mindful.blocks_1 USING blocks_1_k", "ANALYZE mindful.blocks_1"], "correlate"),
            (["ALTER TABLE mindful.blocks_1 SET (fillfactor = 100)", "VACUUM FULL mindful.blocks_1"], "rows in"),
        ] {
            for sql in statements {
                database.sql(sql);
            }
            let found = proof(&*target);
            assert!(found.failure().is_some_and(|why| why.contains(failure)), "{found:?}");
            assert_eq!(found.schemas, target.verify_all(&StopFlag::default()).unwrap().schemas);
        }
    });
}

#[test]
fn a_table_no_larger_than_a_sample_is_checked_whole() {
    for bin in programs() {
        let database = Loaded::new(bin, 2, 2_000);
        let target = database.target();
        let (looked, all) = (proof(&*target), target.verify_all(&StopFlag::default()).unwrap());
        assert!(looked.failure().is_none() && !looked.is_sample());
        assert_eq!(looked.schemas.len(), all.schemas.len());
        assert!((looked.schemas[1].rank_correlation - all.schemas[1].rank_correlation).abs() < 1e-9);
    }
}
