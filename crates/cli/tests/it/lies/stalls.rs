//! Servers and sessions that stall in the window.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mindful_conformance::place;

use crate::lies::neighbours::beside_loops;
use crate::mindful::Mindful;
use crate::mindful::quiet::Quiet;
use crate::mindful::report::{Report, during, next_to, retried};
use crate::mindful::users_server::UsersServer;
use crate::stops::standstill::{Stopped, children};

const SESSIONS: usize = 4;
const STOOD: Duration = Duration::from_secs(2);

/// Waits until so many sessions work, and then for so long; fails if they never do.
pub(super) fn all_at_work(sessions: usize, seconds: f64) -> String {
    format!(
        "DO $$ BEGIN
             LOOP
                 PERFORM pg_stat_clear_snapshot();
                 EXIT WHEN (SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL %') = {sessions};
                 IF clock_timestamp() > now() + interval '5 minutes' THEN RAISE 'no {sessions} sessions are at work'; END IF;
                 PERFORM pg_sleep(0.02);
             END LOOP;
             PERFORM pg_sleep({seconds});
         END $$"
    )
}

/// A run of `duration` s in which the processes that `chosen` names are stopped for [`STOOD`], `after` s of work.
fn stopped_beside(
    mindful: &Mindful,
    server: &UsersServer,
    sessions: usize,
    [after, duration]: [f64; 2],
    chosen: impl Fn() -> Vec<u32> + Send + Sync,
) -> Report {
    let stop = || {
        server.sql(&all_at_work(sessions, after));
        let _stopped = Stopped::of(chosen());
        std::thread::sleep(STOOD);
    };
    next_to(stop, || seconds(mindful, server, sessions, &format!("{duration}s")))
}

fn seconds(mindful: &Mindful, server: &UsersServer, sessions: usize, duration: &str) -> Report {
    server.run(mindful, format!("--sessions {sessions} --duration {duration}"))
}

/// The figure before `unit` in the evidence.
pub(super) fn figure(evidence: &str, unit: &str) -> f64 {
    let words: Vec<_> = evidence.split(unit).next().unwrap().split_whitespace().collect();
    words.last().unwrap().replace(',', "").parse().unwrap_or_else(|_| panic!("no figure before {unit:?}: {evidence}"))
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    #[test]
    fn a_server_that_stood_still_is_reported_first() {
        let mindful = Mindful::at(place());
        let server = UsersServer::start(&mindful, "shared_buffers=1MB");
        let _quiet = Quiet::wait();
        let clean = seconds(&mindful, &server, SESSIONS, "2s");
        assert!(!clean.has("stall") && !clean.has("session-stall"), "{clean}");
        let stopped = stopped_beside(&mindful, &server, SESSIONS, [1.5, 5.5], || {
            let all = children(server.pid()).into_iter().map(|(pid, _)| pid);
            all.chain([server.pid()]).collect()
        });
        stopped.assert_suspect("stall");
        assert_eq!(stopped.codes()[0], "stall", "{stopped}");
        let first = stopped.text.lines().next().unwrap();
        assert!(first.starts_with("SUSPECT  Sessions were inside operations and none of these ended"), "{stopped}");
        let evidence = stopped.evidence("stall");
        assert!((1.9..2.5).contains(&figure(evidence, " s from")), "{stopped}");
        assert!(evidence.contains("at once") && evidence.contains("of the window"), "{stopped}");
        let (with, without) = (figure(evidence, " blocks/s with it"), figure(evidence, " in the slices without"));
        assert!((0.5..0.9).contains(&(with / without)), "{stopped}");
        assert!(stopped.text.contains("limited by a stall"), "{stopped}");
    }

    /// Each second has some work, and each rate is half of the real one.
    #[test]
    fn a_server_that_stops_half_of_the_time_is_reported() {
        let mindful = Mindful::at(place());
        let server = UsersServer::start(&mindful, "shared_buffers=64MB");
        let _quiet = Quiet::wait();
        let half = Duration::from_millis(400);
        let stopping = |done: &AtomicBool| {
            server.sql(&all_at_work(SESSIONS, 0.2));
            while !done.load(Ordering::SeqCst) {
                let sessions = children(server.pid()).into_iter().filter(|(_, title)| title.contains(" CALL"));
                let pids: Vec<_> = sessions.map(|(pid, _)| pid).collect();
                if pids.is_empty() {
                    return;
                }
                let stopped = Stopped::of(pids);
                std::thread::sleep(half);
                drop(stopped);
                std::thread::sleep(half);
            }
        };
        let run = during(stopping, || seconds(&mindful, &server, SESSIONS, "6s"));
        run.assert_suspect_of("stall", " times, ");
        assert!(run.text.contains("limited by a stall"), "{run}");
    }

    #[test]
    fn one_session_that_stood_still_is_reported_with_its_number() {
        let mindful = Mindful::at(place());
        // On a cached server no session waits for a block that the stopped one was about to read.
        let server = UsersServer::start(&mindful, "shared_buffers=64MB");
        let _quiet = Quiet::wait();
        let one =
            || children(server.pid()).into_iter().filter(|(_, title)| title.contains(" CALL")).map(|(pid, _)| pid);
        // A stop between two operations is not inside one: that time is outside of them (`little`).
        let run = || stopped_beside(&mindful, &server, 2, [0.8, 3.8], || one().take(1).collect());
        // On a busy host both sessions may wait for a CPU for so long that they stand still together.
        let stopped =
            retried(run, |stopped| !stopped.has("stall") && (stopped.has("session-stall") || !stopped.has("little")));
        stopped.assert_suspect("session-stall");
        assert!(!stopped.has("stall") || stopped.disturbed(), "{stopped}");
        // If a second session waited long for a CPU, this is the longest of two stalls.
        let evidence = stopped.evidence("session-stall");
        assert!(evidence.starts_with("session ") || evidence.contains("the longest session "), "{stopped}");
        assert!((1.9..2.5).contains(&figure(stopped.evidence("session-stall"), " s from")), "{stopped}");
    }

    /// The client gets a CPU late after them, and all publish their counts at the ends of the window.
    #[test]
    fn hundreds_of_sessions_lose_no_time_between_slices() {
        let mindful = Mindful::at(place()).with_private();
        let _quiet = Quiet::wait();
        let many = "--sessions 256 --set shared_buffers=8MB --warmup 1s --duration 3s";
        let many = retried(|| mindful.private_run(many), |many| !many.warns("little"));
        // While others use the CPUs all the time, a session waits for a CPU between two operations too.
        let off = if many.warns("little") { figure(many.evidence("little"), " % off") } else { 0.0 };
        let most = if many.has("foreign-cpu") { 10.0 } else { 0.0 };
        assert!(off <= most, "{many}");
        for code in ["page-cache", "short-window", "no-window", "late-start"] {
            assert!(!many.warns(code), "{code}: {many}");
        }
        // A read of 64 blocks visits a few blocks of the index.
        let requests = many.figure("logical_reads_per_s") / many.figure("blocks_visited_per_s");
        assert!((1.0..1.2).contains(&requests), "{requests}: {many}");
    }

    /// A wait for a CPU is not a stall.
    #[test]
    fn busy_loops_are_no_stall() {
        let mindful = Mindful::at(place());
        let server = UsersServer::start(&mindful, "shared_buffers=1MB");
        let _quiet = Quiet::wait();
        let stalled = |beside: &Report| beside.has("stall") || beside.has("session-stall");
        let run = || beside_loops(&mindful, &server, SESSIONS, 2, || seconds(&mindful, &server, SESSIONS, "2s"));
        // With many more loops a session may wait for a CPU so long that it counts as a stall.
        let beside = retried(run, |beside| !stalled(beside));
        assert!(!stalled(&beside), "{beside}");
    }
}
