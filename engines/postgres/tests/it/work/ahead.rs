//! Slices that are sent before the previous answer is read: nothing is lost or counted twice, and no abandoned call
//! continues.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{IN_A_SLICE, Server, placement, programs, workload};
use mindful_core::contract::slice::{SliceOrder, SliceReport};
use mindful_core::plan::units::Share;
use mindful_core::workload::{OpKind, ThinkTime, Workload};
use mindful_core::{ErrorKind, Result, Session, Target};

const BLOCKS: u64 = 2_000;
const AHEAD: usize = 3;

/// Boundaries of `slices` slices, the first soon.
fn boundaries(target: &dyn Target, slices: i64, length_us: i64, in_us: i64) -> Vec<i64> {
    let begin_us = target.clock_us().unwrap() + in_us;
    (0..=slices).map(|n| begin_us + n * length_us).collect()
}

/// All slices between `boundaries`, with up to `ahead` sent before the previous answer is read.
fn slices(session: &mut dyn Session, boundaries: &[i64], ahead: usize, ops: Option<u64>) -> Result<Vec<SliceReport>> {
    let (mut reports, mut first_op, mut next) = (Vec::new(), 0, 0);
    while next + 1 < boundaries.len() && ops.is_none_or(|ops| first_op < ops) {
        let (begin_us, end_us) = (boundaries[next], boundaries[next + 1]);
        let max_ops = ops.map(|ops| ops - first_op);
        let order = SliceOrder { index: next as u32, begin_us, end_us, first_op, max_ops };
        let last = (next + 1 + ahead).min(boundaries.len() - 1);
        let report = session.run_slice_ahead(&order, boundaries.get(next + 2..=last).unwrap_or_default())?;
        (first_op, next) = (first_op + report.total_ops(), report.index as usize + 1);
        reports.push(report);
    }
    Ok(reports)
}

/// The result of `work` during a disturbance.
fn disturbed<T>(disturb: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        scope.spawn(disturb);
        work()
    })
}

/// A server of `bin`, and the first of `sessions` sessions for `work` on it.
fn one_of(bin: &Path, sessions: u32, work: &Workload) -> (Server, Box<dyn Target>, Box<dyn Session>) {
    let server = Server::start(bin, &[]);
    let target = server.loaded(1, BLOCKS);
    target.prepare(work, 1).unwrap();
    let session = target.session(work, placement(0, sessions, 1)).unwrap();
    (server, target, session)
}

fn newest(work: &Workload) -> (Server, Box<dyn Target>, Box<dyn Session>) {
    one_of(&programs()[0], 1, work)
}

/// A pause of so many milliseconds after each operation.
fn thinking(ms: u64) -> ThinkTime {
    let pause = Duration::from_millis(ms);
    ThinkTime { share: Share::ALL, min: pause, max: pause, exponential: false }
}

/// Rows that the server's own counters say were fetched by the index.
fn fetched(server: &Server) -> i64 {
    server.figure("SELECT sum(idx_tup_fetch)::bigint FROM pg_stat_user_tables WHERE schemaname = 'mindful'") as i64
}

/// Waits until no session of the server is in a slice.
fn await_rest(server: &Server) {
    server.await_that(&format!("NOT EXISTS (SELECT {IN_A_SLICE})"));
}

#[test]
fn the_server_counts_what_slices_sent_ahead_report() {
    for bin in programs() {
        let (server, target, mut session) = one_of(&bin, 1, &workload(1, BLOCKS, 4, "0"));
        await_rest(&server);
        let before = fetched(&server);
        session.rehearse().unwrap();
        let mut blocks = 0;
        let mut round = || {
            let reports = slices(&mut *session, &boundaries(&*target, 8, 150_000, 50_000), AHEAD, None).unwrap();
            assert!(reports.is_sorted_by(|one, next| one.end_us <= next.begin_us), "slices of one session overlap");
            blocks += reports.iter().map(|report| report.op(OpKind::Select).blocks).sum::<u64>();
            assert!(!session.is_under_way());
            // Published with the answer of each slice, though the session was never idle.
            assert_eq!(fetched(&server) - before, blocks as i64);
            reports.iter().filter(|report| report.total_ops() > 0).map(|report| report.index).collect::<Vec<_>>()
        };
        // If a busy host takes the CPU away for a whole slice, that slice has no work.
        let whole = (0..10).any(|_| round() == (0..8).collect::<Vec<_>>());
        assert!(whole, "each time a slice is left out");
    }
}

#[test]
fn one_of_many_sessions_publishes_at_the_ends_of_the_window() {
    let (server, target, mut session) = one_of(&programs()[0], 500, &workload(1, BLOCKS, 4, "0"));
    await_rest(&server);
    let before = fetched(&server);
    let mut blocks = 0;
    let mut published = |session: &mut dyn Session, ends: &[i64]| {
        let reports = slices(session, ends, 1, None).unwrap();
        blocks += reports.iter().map(SliceReport::total_ops).sum::<u64>() * 4;
        (fetched(&server) - before, blocks as i64)
    };
    let ends = boundaries(&*target, 6, 150_000, 50_000);
    session.set_unread_interval(ends[1], ends[6]);
    let began = Instant::now();
    let (counted, visited) = published(&mut *session, &ends[..2]);
    assert!(counted == visited && visited > 0, "{counted} of {visited} at the begin");
    let (counted, visited) = published(&mut *session, &ends[1..6]);
    // The server itself adds up what is held back for a second.
    let late = began.elapsed() >= Duration::from_secs(1);
    assert!(counted < visited || late, "{counted} of {visited} in between");
    let (counted, visited) = published(&mut *session, &ends[5..]);
    assert!(counted == visited, "{counted} of {visited} at the end");
}

/// A slice of more than a second does not force publishing and does not wait: the server adds it up when the call ends.
#[test]
fn long_slices_of_one_of_many_are_counted_when_they_end() {
    for bin in programs() {
        let w = Workload { think_time: Some(thinking(10)), ..workload(1, BLOCKS, 4, "0") };
        let (server, target, mut session) = one_of(&bin, 500, &w);
        await_rest(&server);
        let before = fetched(&server);
        let ends = boundaries(&*target, 3, 1_100_000, 50_000);
        session.set_unread_interval(ends[2], ends[3] + 3_600_000_000);
        let reports = slices(&mut *session, &ends[..3], 1, None).unwrap();
        let visited: u64 = reports.iter().map(SliceReport::total_ops).sum::<u64>() * 4;
        assert!(visited > 0 && fetched(&server) - before == visited as i64, "{visited} blocks are not all counted");
    }
}

#[test]
fn a_fixed_amount_of_work_is_done_to_the_operation() {
    let w = Workload { think_time: Some(thinking(10)), ..workload(1, BLOCKS, 1, "50") };
    let (server, target, mut session) = newest(&w);
    let changed = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'blocks_1'";
    let before = server.figure(changed);
    let reports = slices(&mut *session, &boundaries(&*target, 100, 55_000, 50_000), AHEAD, Some(40)).unwrap();
    drop(session);
    await_rest(&server);
    let ops = |kind| reports.iter().map(|report| report.op(kind).ops).sum::<u64>();
    assert_eq!([ops(OpKind::Select), ops(OpKind::Update)], [20, 20]);
    assert_eq!((server.figure(changed) - before) as u64, 20, "what was sent ahead went on");
    // A pause continues in the next slice.
    let thought: u64 = reports.iter().map(|report| report.think_us).sum();
    assert!(thought >= 39 * 10_000, "{thought} us");
}

/// Reports of an updating session between `ends`, while another one holds its rows for `held_ms`.
fn held_up(server: &Server, session: &mut dyn Session, ends: &[i64], ahead: usize, held_ms: u64) -> Vec<SliceReport> {
    let holding = server.hold("SELECT k FROM mindful.blocks_1 FOR UPDATE");
    let release = move || {
        std::thread::sleep(Duration::from_millis(held_ms));
        drop(holding);
    };
    disturbed(release, || slices(session, ends, ahead, None).unwrap())
}

#[test]
fn an_operation_that_outlasts_slices_is_followed_at_once() {
    let (server, target, mut session) = newest(&workload(1, BLOCKS, 1, "100"));
    let ends = boundaries(&*target, 12, 400_000, 300_000);
    let reports = held_up(&server, &mut *session, &ends, 6, 1_500);
    let (first, next) = (&reports[0], reports.iter().find(|report| report.index > 0).unwrap());
    assert!(first.end_us > ends[2], "the first operation ended before its row was free");
    assert!(next.index > 1, "slice {} was over", next.index);
    assert!(next.begin_us < ends[next.index as usize + 1], "slice {} was over", next.index);
    let ops: Vec<u64> = reports.iter().map(SliceReport::total_ops).collect();
    assert!(ops.iter().filter(|ops| **ops > 0).count() > 3, "{ops:?}");
}

#[test]
fn an_operation_that_outlasts_all_slices_ends_the_work() {
    let (server, target, mut session) = newest(&workload(1, BLOCKS, 1, "100"));
    let ends = boundaries(&*target, 8, 100_000, 600_000);
    let reports = held_up(&server, &mut *session, &ends, 2, 2_000);
    assert_eq!(reports.iter().map(SliceReport::total_ops).sum::<u64>(), 1, "{reports:?}");
    assert!(!session.is_under_way());
}

#[test]
fn slices_sent_ahead_do_nothing_after_a_failed_one() {
    let (server, target, mut session) = newest(&workload(1, BLOCKS, 1, "100"));
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.slice%'";
    let strikes: [(&(dyn Fn() + Sync), ErrorKind); 2] =
        [(&|| drop(server.sql(cancel)), ErrorKind::Run), (&|| target.interrupt(), ErrorKind::Interrupted)];
    for (strike, kind) in strikes {
        let ends = boundaries(&*target, 4, 60_000_000, 0);
        let strike = || {
            server.await_slice();
            strike();
        };
        let failure = disturbed(strike, || slices(&mut *session, &ends, AHEAD, None).unwrap_err());
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(!session.is_under_way());
        await_rest(&server);
        // The session still works, from the ordered operation. On a full host one of the slices may be empty.
        if kind == ErrorKind::Run {
            let again = slices(&mut *session, &boundaries(&*target, 3, 300_000, 0), AHEAD, None).unwrap();
            assert!(again.iter().any(|report| report.total_ops() > 0));
        }
    }
}

#[test]
fn a_session_that_ends_also_ends_the_slice_it_sent_ahead() {
    let (server, target, mut session) = newest(&workload(1, BLOCKS, 1, "0"));
    let begin_us = target.clock_us().unwrap();
    let order = SliceOrder { index: 0, begin_us, end_us: begin_us + 200_000, first_op: 0, max_ops: None };
    let report = session.run_slice_ahead(&order, &[begin_us + 600_000_000]).unwrap();
    assert!(report.total_ops() > 0 && session.is_under_way());
    server.await_slice();
    drop(session);
    await_rest(&server);
}

/// Time between the slices of many parallel sessions, us.
fn all_between_us(target: &dyn Target, w: &Workload, ahead: usize) -> i64 {
    let sessions = 24;
    target.prepare(w, sessions).unwrap();
    let ends = boundaries(target, SLICES, 100_000, 1_500_000);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..sessions)
            .map(|number| {
                let ends = &ends;
                scope.spawn(move || {
                    let mut session = target.session(w, placement(number, sessions, 1)).unwrap();
                    let reports = slices(&mut *session, ends, ahead, None).unwrap();
                    reports.windows(2).map(|pair| pair[1].begin_us - pair[0].end_us).sum::<i64>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

const SLICES: i64 = 8;

#[test]
fn sessions_beyond_the_cpus_lose_less_between_slices_sent_ahead() {
    let w = workload(1, BLOCKS, 64, "0");
    let (_server, target, _) = newest(&w);
    let [mut alone, mut ahead] = [0, 0];
    // More rounds if the host is busy with others.
    let less = (0..4).any(|_| {
        alone += all_between_us(&*target, &w, 0);
        ahead += all_between_us(&*target, &w, SLICES as usize - 1);
        println!("between slices: {alone} us one by one, {ahead} us sent ahead");
        3 * ahead < 2 * alone
    });
    assert!(less, "{ahead} us between slices that were sent ahead, {alone} us otherwise");
}
