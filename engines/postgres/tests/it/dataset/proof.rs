//! The proof by a sample: it accepts data as written, and leaves every failure to a check of all rows.

use mindful_core::Target;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::LayoutProof;

use crate::support::{Server, each_server, proof};

/// More than a sample, so that the sample leaves some out.
const BLOCKS: u64 = 15_000;

/// The sample size for this layout's size and seed.
const DRAWN: u64 = 11_233;

fn proof_of_all(target: &dyn Target) -> LayoutProof {
    target.verify_all(&StopFlag::default()).unwrap()
}

#[test]
fn a_sample_stands_for_every_row_until_rows_move() {
    each_server(|server| {
        assert_sample_agrees_with_every_row(&*server.loaded(2, BLOCKS));
        assert_sample_reads_what_it_drew(server);
        assert_moved_rows_are_found(server);
    });
}

fn assert_sample_agrees_with_every_row(target: &dyn Target) {
    let (of_load, anew, all) = (proof(target), proof(target), proof_of_all(target));
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
}

fn assert_sample_reads_what_it_drew(server: &Server) {
    let visited = || {
        // The work of a client is counted before it is gone.
        server.await_that("1 = (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')");
        server.figure("SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'blocks_1'")
    };
    let before = visited();
    assert!(proof(&*server.target(&[]).unwrap()).is_sample());
    let sampled = visited();
    drop(proof_of_all(&*server.target(&[]).unwrap()));
    let [sample, all] = [sampled - before, visited() - sampled].map(|visits| visits as u64);
    assert!((DRAWN..DRAWN + 100).contains(&sample) && all >= BLOCKS, "{sample} and {all} visits");
}

fn assert_moved_rows_are_found(server: &Server) {
    let target = server.target(&[]).unwrap();
    // One row in five hundred moves to another block, after all others or to the place of an earlier one.
    server.sql(
        "BEGIN; CREATE TEMP TABLE moved AS SELECT * FROM mindful.blocks_1 WHERE k % 500 = 0;
        DELETE FROM mindful.blocks_1 WHERE k % 500 = 0; INSERT INTO mindful.blocks_1 SELECT * FROM moved; COMMIT",
    );
    for _ in 0..3 {
        let found = proof(&*target);
        assert!(!found.is_sample(), "the sample said yes: {found:?}");
    }
    for (statements, failure) in [
        (["CLUSTER mindful.blocks_1 USING blocks_1_k", "ANALYZE mindful.blocks_1"], "correlate"),
        (["ALTER TABLE mindful.blocks_1 SET (fillfactor = 100)", "VACUUM FULL mindful.blocks_1"], "rows in"),
    ] {
        for sql in statements {
            server.sql(sql);
        }
        let found = proof(&*target);
        assert!(found.failure().is_some_and(|why| why.contains(failure)), "{found:?}");
        assert_eq!(found.schemas, proof_of_all(&*target).schemas);
    }
}

#[test]
fn a_table_no_larger_than_a_sample_is_checked_whole() {
    each_server(|server| {
        let target = server.loaded(2, 2_000);
        let (looked, all) = (proof(&*target), proof_of_all(&*target));
        assert!(looked.failure().is_none() && !looked.is_sample());
        assert_eq!(looked.schemas.len(), all.schemas.len());
        assert!((looked.schemas[1].rank_correlation - all.schemas[1].rank_correlation).abs() < 1e-9);
    });
}
