//! Work on real servers of every version: reads by index, bitmap and scan with exact blocks, the plan that carries them out,
//! the size of a request, and the process that makes it; and the counters of all that.

use crate::support::{
    NO_WAITS, Server, at_hand, dataset, fetched, placement, programs, proof, readings, session, work, workload,
};
use mindful_core::contract::event::Silent;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Access, LoopSite, OpKind, Workload};

const BLOCKS: u64 = 2_000;

fn of(access: Access) -> Workload {
    let plain = Workload { access, ..workload(2, BLOCKS, 64, "0") };
    match access {
        Access::Scan => Workload { scan_pct: Share::ALL, work_unit: BLOCKS, ..plain },
        _ => plain,
    }
}

fn every_version() -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> = ["16", "17"].into_iter().filter(|version| at_hand(version)).map(fetched).collect();
    all.extend(programs());
    all.sort();
    all.dedup();
    all
}

#[test]
fn each_access_path_is_as_asked_and_visits_exactly_its_blocks() {
    for bin in every_version() {
        let server = Server::start(&bin, &["shared_buffers=4MB"]);
        let target = server.loaded_with(&NO_WAITS, 2, BLOCKS);
        for (access, kind, shape) in [
            (Access::Index, OpKind::Select, "Index Scan using blocks_1_k"),
            (Access::Bitmap, OpKind::Select, "Bitmap Heap Scan on blocks_1 and Bitmap Index Scan using blocks_1_k"),
            (Access::Scan, OpKind::Scan, "Seq Scan on blocks_1"),
        ] {
            let ops = if access == Access::Scan { 4 } else { 20 };
            for looping in [LoopSite::Server, LoopSite::Client] {
                let w = Workload { loop_site: looping, ..of(access) };
                let shapes = target.prepare(&w, 2).unwrap();
                let [found] = &shapes[..] else { panic!("one kind of operation: {shapes:?}") };
                assert!(found.shape.starts_with(shape) && found.kind == kind.name(), "{bin:?}: {found:?}");
                let mut session = target.session(&w, placement(1, 2, 2)).unwrap();
                let counts = "SELECT seq_scan || ' ' || coalesce(idx_scan, 0) FROM pg_stat_user_tables
                              WHERE relname = 'blocks_2'";
                let before = server.sql(counts);
                let report = work(&*target, &mut *session, 0, ops).unwrap();
                assert_eq!(report.total_ops(), ops);
                assert_eq!(report.op(kind).blocks, ops * w.work_unit, "{access} in the {looping} loop of {bin:?}");
                // The server's own counters: all operations used this access path, on the table of the session's
                // schema.
                let counted =
                    |rows: &[String]| -> Vec<u64> { rows[0].split(' ').map(|n| n.parse().unwrap()).collect() };
                let (before, after) = (counted(&before), counted(&server.sql(counts)));
                let [scans, by_index] = [0, 1].map(|at| after[at] - before[at]);
                let expected = if access == Access::Scan { (ops, 0) } else { (0, ops) };
                assert_eq!((scans, by_index), expected, "{access} in the {looping} loop of {bin:?}");
            }
        }
    }
}

#[test]
fn requests_of_several_blocks_are_reported_where_counted() {
    for bin in every_version() {
        // A session may hold as many blocks as the cache has for each connection: few connections, long requests.
        let server = Server::start(&bin, &["shared_buffers=16MB", "max_connections=10", "max_wal_senders=0"]);
        let target = server.loaded_with(&NO_WAITS, 1, 2 * BLOCKS);
        for (first_op, ops, access) in [(0, 20, Access::Index), (1_000, 20, Access::Bitmap), (2_000, 4, Access::Scan)] {
            let w = Workload { schemas: 1, scale: 2 * BLOCKS, ..of(access) };
            let mut session = session(&*target, &w);
            // As in a run, after the work is prepared: its reads are counted before the first reading.
            let mut samplers = target.samplers().unwrap();
            let before = readings(&mut samplers);
            work(&*target, &mut *session, first_op, ops).unwrap();
            let after = readings(&mut samplers);
            let major: u32 =
                server.sql("SELECT current_setting('server_version_num')::int / 10000")[0].parse().unwrap();
            let grew = |counter: Counter| Some(after.get(counter.name())? - before.get(counter.name())?);
            let blocks = grew(Counter::PhysicalReads).unwrap();
            assert!(blocks >= 300.0, "{blocks} physical reads of {access} on {major}");
            match (major, grew(Counter::ReadRequests)) {
                // 17 counts blocks where it means requests, 15 counts none: unknown, not one block each.
                (15 | 17, requests) => assert_eq!(requests, None, "{major}"),
                (_, Some(requests)) if access == Access::Scan && major >= 18 => {
                    assert!(blocks / requests > 1.5, "{blocks} blocks in {requests} requests of a scan on {major}");
                }
                (_, Some(requests)) if access == Access::Index || major < 17 => {
                    assert!(
                        (blocks / requests - 1.0).abs() < 0.01,
                        "{blocks} blocks in {requests} requests on {major}"
                    );
                }
                (_, Some(requests)) => assert!(requests > 0.0 && requests <= blocks, "{requests} of {blocks}"),
                (_, None) => panic!("{major} counts its read requests"),
            }
        }
    }
}

/// Bytes that the server's processes of that kind have requested since they began, by `/proc/PID/io`.
fn asked_by(server: &Server, kind: &str) -> u64 {
    let pids = server.sql(&format!("SELECT pid FROM pg_stat_activity WHERE backend_type = '{kind}'"));
    pids.iter()
        .map(|pid| {
            let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
            let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
            line.parse::<u64>().unwrap()
        })
        .sum()
}

/// The report before a run matches the server: workers read nothing for an index scan, and everything for a scan.
#[test]
fn workers_take_part_in_scans_and_not_in_index_scans() {
    let server = Server::start(&fetched("18"), &["shared_buffers=4MB", "io_method=worker", "io_workers=3"]);
    let target = server.loaded_with(&NO_WAITS, 2, BLOCKS);
    for access in [Access::Index, Access::Bitmap, Access::Scan] {
        let w = of(access);
        let shapes = target.prepare(&w, 1).unwrap();
        let mut session = session(&*target, &w);
        let before = asked_by(&server, "io worker");
        let report = work(&*target, &mut *session, 0, 20).unwrap();
        let by_workers = asked_by(&server, "io worker") - before;
        let visited = report.op(OpKind::Select).blocks + report.op(OpKind::Scan).blocks;
        println!("{access}: workers read {by_workers} bytes for {visited} blocks visited");
        let idle = shapes[0].idle_settings.iter().any(|name| name == "io_workers");
        assert_eq!(idle, access == Access::Index, "{access}: {:?}", shapes[0].idle_settings);
        assert_eq!(idle, by_workers < 64 << 10, "{access}: workers read {by_workers} bytes of {visited} blocks");
    }
}

#[test]
fn work_and_counters_agree_on_every_version() {
    for bin in every_version() {
        let server = Server::start(&bin, &[]);
        let target = server.loaded_with(&NO_WAITS, 1, 1_000);
        assert_eq!(proof(&*target).failure(), None);
        let mut samplers = target.samplers().unwrap();
        for looping in [LoopSite::Server, LoopSite::Client] {
            let w = Workload { loop_site: looping, ..workload(1, 1_000, 5, "40") };
            let mut session = session(&*target, &w);
            let before = readings(&mut samplers);
            let report = work(&*target, &mut *session, 0, 500).unwrap();
            let after = readings(&mut samplers);
            let names = [Counter::LogicalReads.name(), Counter::Commits.name(), Counter::LogBytes.name(), "n_tup_upd"];
            let [reads, commits, log, rows] = names.map(|name| after[name] - before[name]);
            assert!(reads >= 2_500.0 && log > 0.0, "{reads} reads, {log} bytes of log on {bin:?}");
            assert!(commits >= 200.0, "{commits} commits on {bin:?}");
            assert_eq!(rows as u64, report.op(OpKind::Update).blocks, "{bin:?}, {looping:?} loop");
        }
    }
}

/// Scans of a table beyond a quarter of shared_buffers go through a ring; the server reports their visits from 16 on.
#[test]
fn visits_of_a_ring_are_reported_by_every_version_that_has_them() {
    for version in ["16", "17", "18"].into_iter().filter(|version| at_hand(version)) {
        let server = Server::start(&fetched(version), &["shared_buffers=4MB"]);
        let target = server.target(&NO_WAITS).unwrap();
        let plan = DatasetPlan { scan_blocks: 600, ..dataset(1, 200) };
        target.load(&plan, &Silent, &StopFlag::default()).unwrap();
        let w = Workload { scan_pct: Share::ALL, ..workload(1, 200, 5, "0") };
        let mut session = session(&*target, &w);
        let mut samplers = target.samplers().unwrap();
        let mut visits = || readings(&mut samplers)["ring_visits"];
        let before = visits();
        let report = work(&*target, &mut *session, 0, 10).unwrap();
        assert_eq!(report.op(OpKind::Scan).blocks, 6_000);
        // The server extends tables by some blocks at a time; those after the last row are read too.
        let visited = visits() - before;
        assert!((6_000.0..6_640.0).contains(&visited), "{visited} visits of the ring on {version}");
    }
}
