//! Counters compared with the work they measure.

use std::collections::BTreeMap;
use std::path::Path;

use mindful_conformance::{Fixture, Opened};
use mindful_core::contract::metric::Counter;
use mindful_core::contract::target::Target;
use mindful_core::plan::units::Share;
use mindful_core::workload::{LoopSite, OpKind, Redo, Workload};

use crate::shared::{self, BLOCKS};
use crate::support::{Kind, MARIADB, MYSQL, OLDER, each};

fn read(target: &dyn Target) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for mut sampler in target.samplers().unwrap() {
        let values = sampler.read().unwrap();
        all.extend(
            sampler.metrics().iter().zip(values).filter_map(|(metric, value)| Some((metric.name.clone(), value?))),
        );
    }
    all
}

fn grown(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, counter: Counter) -> f64 {
    after[counter.name()] - before[counter.name()]
}

#[test]
fn every_metric_is_on_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    for kind in [MARIADB, MYSQL] {
        let mut seen = 0;
        for sampler in shared::fixture(kind).open().samplers().unwrap() {
            assert!(page.contains(&format!("## mysql: {}\n", sampler.name())), "{}", sampler.name());
            for metric in sampler.metrics() {
                let kind = format!("{:?}", metric.kind).to_lowercase();
                let row = format!("| `{}` | {} | {kind} | {} |", metric.name, metric.unit, metric.help);
                assert!(page.lines().any(|line| line == row), "docs/metrics.md lacks, for {}:\n{row}", sampler.name());
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen} metrics of {kind:?}");
    }
}

#[test]
fn redo_is_reported_to_the_byte_by_how_much_an_update_changes() {
    // No other test may write to the server meanwhile.
    let fixture = shared::own(MARIADB);
    let opened = fixture.loaded();
    for (redo, band) in [(Redo::Light, 60.0..700.0), (Redo::Heavy, 1_900.0..3_200.0)] {
        let update_pct = Share::ALL;
        let workload = Workload { update_pct, redo, ..Workload::reads_only(1, BLOCKS, 1) };
        let before = read(&*opened.target);
        let report = &opened.work_ops(&workload, 1, Some(400))[0];
        let after = read(&*opened.target);

        assert_eq!(report.op(OpKind::Update).blocks, 400);
        let each = grown(&before, &after, Counter::LogBytes) / 400.0;
        assert!(band.contains(&each), "{redo:?}: {each} bytes of redo a block, expected {band:?}");
        assert_eq!(grown(&before, &after, Counter::Commits) as u64, 400);
    }
    // The rest of updates is settled before reads, which then do not write.
    let reads = Workload::reads_only(1, BLOCKS, 8);
    opened.target.prepare(&reads, 1).unwrap();
    let before = read(&*opened.target);
    assert!(before["Innodb_history_list_length"] < 1.0, "purge has not done its work");
    let blocks = opened.work_ops(&reads, 1, Some(500))[0].op(OpKind::Select).blocks as f64;
    let after = read(&*opened.target);
    // A checkpoint of earlier writes adds a record of 16 bytes, on a busy host as late as this.
    let redo = grown(&before, &after, Counter::LogBytes) as u64;
    assert!(redo <= 64, "reads wrote {redo} bytes of redo");
    let written = grown(&before, &after, Counter::PhysicalWrites);
    assert!(written < 5.0, "{written} pages were written under reads alone");
    let logical = grown(&before, &after, Counter::LogicalReads) / blocks;
    assert!((1.9..5.5).contains(&logical), "{logical} logical reads a block");
}

/// A server with a cache that can hold all blocks.
fn with_room(kind: Kind) -> Fixture {
    shared::own(kind).with("cache", "128MiB").with("wait_sampling", "off")
}

/// Bytes that the kernel fetched from storage for a process.
fn fetched_bytes(pid: u32) -> f64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok()).unwrap()
}

/// One operation on every block of an uncached table that fits the cache, in an order that visits none twice: nothing
/// depends on time, and all counters are read at rest. With the client's loop, which does not read before.
fn ledger_of_a_pass(kind: Kind) {
    let fixture = with_room(kind);
    let opened = fixture.loaded();
    let method = opened.target.describe().unwrap().facts["innodb_flush_method"].clone();
    assert_eq!(method, "O_DIRECT", "the page cache serves what the ledger is of: test on another file system");
    let workload = Workload { loop_site: LoopSite::Client, ..Workload::reads_only(1, BLOCKS, BLOCKS) };
    let mut session = opened.session(&workload, 0, 1);
    let pid = opened.target.host_view().server_pid.unwrap();
    let look = || (read(&*opened.target), fetched_bytes(pid));

    let (before, fetched_before) = look();
    let report = session.run_slice(&opened.orders().next(0, Some(1))).unwrap();
    let (after, fetched_after) = look();

    let visited = report.op(OpKind::Select).blocks;
    assert_eq!(visited, BLOCKS);
    let pages = grown(&before, &after, Counter::PhysicalReads);
    let page = 16_384.0;
    for (what, other) in [
        ("blocks visited", visited as f64),
        ("misses of the buffer pool", after["Innodb_buffer_pool_reads"] - before["Innodb_buffer_pool_reads"]),
        ("read requests", grown(&before, &after, Counter::ReadRequests)),
        ("bytes that InnoDB read", (after["Innodb_data_read"] - before["Innodb_data_read"]) / page),
        ("bytes that the kernel fetched", (fetched_after - fetched_before) / page),
    ] {
        let off = (other / pages - 1.0).abs();
        assert!(off < 0.01, "{kind:?}: {pages} pages read, {other} by {what}");
    }
}

#[test]
fn a_cold_pass_balances_to_one_percent() {
    each([MARIADB, OLDER, MYSQL], ledger_of_a_pass);
}

/// Reads of several work units, by both loops, each compared with the cost of its trees: a row visited after the end of
/// a range would be one more walk through the table.
fn requests_of_reads(kind: Kind) {
    let fixture = with_room(kind);
    let opened = fixture.loaded();
    let requests = opened.target.describe().unwrap().cache_requests.unwrap();
    // Pages that are missing now are cached in the counted slices.
    let all = Workload { loop_site: LoopSite::Client, ..Workload::reads_only(1, BLOCKS, BLOCKS) };
    opened.session(&all, 0, 1).run_slice(&opened.orders().next(0, Some(1))).unwrap();
    for looping in [LoopSite::Server, LoopSite::Client] {
        for unit in [1_u64, 2, 8, 64] {
            let workload = Workload { loop_site: looping, ..Workload::reads_only(1, BLOCKS, unit) };
            let most = unit as f64 * requests.visited + requests.operation;
            let least = unit as f64 * requests.visited;
            let each = requests_of_one(&opened, &workload, most);
            let within = each > least && each < most + 0.1;
            assert!(within, "{kind:?} {looping:?}, work unit {unit}: {each:.2} requests, not {least} to {most}");
        }
    }
}

/// Requests to the buffer pool that an operation makes: the fewest of several slices, unless the first has `enough`.
/// What the server does on its own (purge looks through 128 segments) adds to some, never to all.
fn requests_of_one(opened: &Opened, workload: &Workload, enough: f64) -> f64 {
    const SLICES: usize = 5;
    let mut session = opened.session(workload, 0, 1);
    let mut fewest = f64::MAX;
    for _ in 0..SLICES {
        let before = read(&*opened.target);
        let report = session.run_slice(&opened.orders().next(0, Some(2_048 / workload.work_unit))).unwrap();
        let after = read(&*opened.target);

        let done = report.op(OpKind::Select);
        assert_eq!(done.blocks, done.ops * workload.work_unit);
        fewest = fewest.min(grown(&before, &after, Counter::LogicalReads) / done.ops as f64);
        if fewest <= enough {
            break;
        }
    }
    fewest
}

#[test]
fn reads_ask_for_their_own_rows_alone() {
    each([MARIADB, OLDER, MYSQL], requests_of_reads);
}
