//! Debian's PgBouncer before a real server: sessions through its session mode, a refusal in its other modes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::Settings;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Engine, ErrorKind};

use mindful_postgres::ENGINE;

use crate::pgbouncer::{self, Behind, Pooler};
use crate::support::{Server, account, load, placement, programs, proof, work, workload};

/// A pooler before `server` that lends at most `pool` server processes in `mode`.
fn before(server: &Server, mode: &str, pool: u32) -> Pooler {
    let (folder, port, account) = (server.socket_folder(), server.port(), account());
    Pooler::start(&Behind { folder, port, database: "postgres", role: "bench", account }, mode, pool)
}

/// The newest server; `None` without a PgBouncer.
fn server() -> Option<Server> {
    pgbouncer::at_hand().then(|| Server::start(&programs()[0], &[]))
}

#[test]
fn a_pooler_that_moves_sessions_is_refused_in_one_line() {
    let Some(server) = server() else { return };
    for mode in ["transaction", "statement"] {
        for pool in [1, 20] {
            let pooler = before(&server, mode, pool);
            let error = Server::target_at(&pooler.url()).err().expect("no session could be kept");
            assert_eq!(error.kind, ErrorKind::Target, "{mode}: {error}");
            assert!(error.what.contains("changes between statements"), "{mode}: {error}");
            assert!(error.next.contains("session mode") && error.next.contains("own port"), "{mode}: {error}");
        }
    }
    let left = server.sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'mindful%'");
    assert!(left.is_empty(), "nothing was made through it: {left:?}");
}

#[test]
fn everything_works_through_a_pooler_that_keeps_sessions() {
    let Some(server) = server() else { return };
    let pooler = before(&server, "session", 20);
    let target = Server::target_at(&pooler.url()).unwrap();
    load(&*target, 2, 500).unwrap();
    assert!(proof(&*target).schemas.iter().all(|schema| schema.rows > 0));
    let server_loop = workload(2, 500, 8, "20");
    for w in [Workload { loop_site: LoopSite::Client, ..server_loop.clone() }, server_loop] {
        // Twice: the second time on server processes that the pooler has used and reset.
        for _ in 0..2 {
            target.prepare(&w, 3).unwrap();
            let mut sessions: Vec<_> = (0..3).map(|n| target.session(&w, placement(n, 3, 2)).unwrap()).collect();
            for session in &mut sessions {
                assert_eq!(work(&*target, &mut **session, 0, 50).unwrap().total_ops(), 50);
            }
        }
    }
    assert!(!target.samplers().unwrap().is_empty());
    assert!(!target.cleanup().unwrap().is_empty());
}

/// Server processes of clients with real-time priority (round robin, policy 2 in the kernel).
fn going_first(server: &Server) -> usize {
    let pids = server.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'");
    let policy = |pid: &String| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        line.rsplit_once(") ")?.1.split(' ').nth(38).map(str::to_owned)
    };
    pids.iter().filter_map(policy).filter(|policy| policy == "2").count()
}

/// The process that served the counters is lent to sessions of the next step.
#[test]
fn no_process_that_a_pooler_gets_back_goes_first() {
    let Some(server) = server() else { return };
    let pooler = before(&server, "session", 20);
    let target = Server::target_at(&pooler.url()).unwrap();
    for _ in 0..2 {
        let samplers = target.samplers().unwrap();
        println!("{} processes go first while counters are read", going_first(&server));
        let begun = Instant::now();
        drop(samplers);
        println!("left after {:?}", begun.elapsed());
        assert_eq!(going_first(&server), 0);
    }
}

#[test]
fn a_pooler_with_room_for_one_session_is_named_at_once() {
    let Some(server) = server() else { return };
    let pooler = before(&server, "session", 1);
    let begun = Instant::now();
    let error = Server::target_at(&pooler.url()).err().expect("there is no room for a second session");
    assert_eq!(error.kind, ErrorKind::Target, "{error}");
    assert!(error.next.contains("default_pool_size"), "{error}");
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn ranks_meet_through_a_pooler_that_lends_a_server_a_statement() {
    let Some(server) = server() else { return };
    let pooler = before(&server, "transaction", 2);
    let settings = Settings::defaults(ENGINE.options());
    let events = Arc::new(Silent) as Arc<dyn Events>;
    let meeting = ENGINE.parse_options(&pooler.url(), &settings).unwrap().open_rendezvous(&events).unwrap().unwrap();
    meeting.prepare().unwrap();
    mindful_conformance::rendezvous::rows_and_chunks_are_kept_apart(&*meeting, &std::thread::sleep);
}
