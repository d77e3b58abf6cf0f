//! The cache is filled before a run in block order and completely, and later runs know that.

use std::time::{Duration, Instant};

use mindful_core::contract::description::CacheFill;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::Workload;

use crate::support::{Server, programs, workload};

const BLOCKS: u64 = 2_500;

/// Servers with an uncached dataset. Each schema is larger than a quarter of the cache: a scan of the whole table uses a
/// ring of buffers then.
fn each_cold_server(test: impl Fn(&Server, &Workload)) {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        drop(server.loaded(2, BLOCKS));
        server.sql("CHECKPOINT");
        empty_cache(&server);
        test(&server, &workload(2, BLOCKS, 1, "0"));
    }
}

/// Ends a process of the server, which restarts.
fn empty_cache(server: &Server) {
    let checkpointer = "SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
    let pid: i32 = server.sql(checkpointer)[0].parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    while !server.try_sql(checkpointer).is_ok_and(|pids| pids.first().is_some_and(|other| *other != pid.to_string())) {
        assert!(Instant::now() < until, "the server does not restart");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn filled(server: &Server, workload: &Workload) -> CacheFill {
    let target = server.target(&[]).unwrap();
    target.prepare(workload, 1).unwrap();
    target.fill_cache(workload, &StopFlag::default()).unwrap().unwrap()
}

#[test]
fn the_whole_cache_is_filled_in_block_order() {
    each_cold_server(|server, workload| {
        let fill = filled(server, workload);
        assert!(fill.is_whole() && fill.blocks.abs_diff(2 * BLOCKS) < 50, "{fill:?}");
        if server.try_sql("CREATE EXTENSION IF NOT EXISTS pg_buffercache").is_ok() {
            let order = "SELECT corr(b.bufferid, b.relblocknumber) > 0.9 FROM pg_buffercache AS b
                         WHERE b.relfilenode = pg_relation_filenode('mindful.blocks_2') AND b.relforknumber = 0
                             AND b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
                         HAVING count(*) >= 2490";
            assert_eq!(server.sql(order), ["t"], "not in block order");
            server.sql("DROP EXTENSION pg_buffercache");
        }
        // Nothing is read any more, and the next run knows why.
        let again = filled(server, workload);
        assert!(again.is_whole() && again.blocks > 0, "{again:?}");
    });
}

#[test]
fn blocks_that_were_in_the_cache_before_are_in_an_unknown_order() {
    each_cold_server(|server, workload| {
        server.sql("SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(f1) FROM mindful.blocks_1 WHERE k <= 1000");
        let fill = filled(server, workload);
        assert!((0.7..0.9).contains(&fill.share()), "{fill:?}");
        // That others have filled it since is unknown, too.
        assert!(!filled(server, workload).is_whole());
    });
}

#[test]
fn a_part_of_the_keys_fills_their_blocks_alone() {
    each_cold_server(|server, workload| {
        let part = Workload { scale: BLOCKS / 5, ..workload.clone() };
        let fill = filled(server, &part);
        assert!(fill.is_whole() && fill.blocks.abs_diff(2 * BLOCKS / 5) < 50, "{fill:?}");
    });
}
