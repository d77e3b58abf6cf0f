//! A waiting session ends soon after a request to stop, whatever it waits for.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Server, programs, session, work, workload};
use mindful_conformance::slice_of;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{ErrorKind, Session, Target};

const BLOCKS: u64 = 500;

/// Longer than any interrupt takes, far shorter than what the sessions wait for.
const SOON: Duration = Duration::from_secs(20);

fn updates(looping: LoopSite) -> Workload {
    Workload { loop_site: looping, ..workload(1, BLOCKS, 1, "100") }
}

/// Interrupts `session` in a long slice, once `blocked` says that it waits.
fn assert_ends_soon(target: &dyn Target, session: &mut dyn Session, blocked: impl FnOnce() + Send) {
    let order = slice_of(target, 600_000_000);
    let took = std::thread::scope(|scope| {
        let interrupting = scope.spawn(|| {
            blocked();
            let began = Instant::now();
            target.interrupt();
            began
        });
        let error = session.run_slice(&order).unwrap_err();
        let ended = Instant::now();
        assert_eq!(error.kind, ErrorKind::Interrupted, "{error}");
        ended.duration_since(interrupting.join().unwrap())
    });
    assert!(took < SOON, "{took:?}");
}

#[test]
fn an_update_waiting_for_a_row_lock_can_be_interrupted() {
    let server = Server::start(&programs()[0], &[]);
    let target = server.loaded(1, BLOCKS);
    for looping in [LoopSite::Client, LoopSite::Server] {
        let mut session = session(&*target, &updates(looping));
        let holding = server.hold("SELECT k FROM mindful.blocks_1 FOR UPDATE");
        assert_ends_soon(&*target, &mut *session, || server.await_lock());
        drop(holding);
    }
    // A later step works again.
    let mut session = session(&*target, &updates(LoopSite::Client));
    assert_eq!(work(&*target, &mut *session, 0, 5).unwrap().total_ops(), 5);
}

#[test]
fn an_interrupt_ends_a_session_of_a_vanished_server() {
    let server = Server::start_on_tcp(&programs()[0]);
    server.loaded(1, BLOCKS);
    let road = Road::to(server.port());
    for looping in [LoopSite::Client, LoopSite::Server] {
        let target = Server::target_at(&format!("postgresql://bench@127.0.0.1:{}/postgres", road.port)).unwrap();
        let mut session = session(&*target, &updates(looping));
        assert_ends_soon(&*target, &mut *session, || {
            let working = "FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()";
            server.await_that(&format!("EXISTS (SELECT {working})"));
            std::thread::sleep(Duration::from_millis(300));
            road.swallow.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(300));
        });
        road.swallow.store(false, Ordering::SeqCst);
    }
}

/// A relay to the server that can drop all traffic silently.
struct Road {
    port: u16,
    swallow: Arc<AtomicBool>,
}

impl Road {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, swallow) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let lost = Arc::clone(&swallow);
        // Ends with the process; so do both directions of each connection.
        std::thread::spawn(move || {
            for here in listener.incoming().flatten() {
                let there = TcpStream::connect(("127.0.0.1", server)).unwrap();
                for (from, to) in [(&here, &there), (&there, &here)] {
                    let (from, to, lost) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&lost));
                    std::thread::spawn(move || carry(from, to, &lost));
                }
            }
        });
        Self { port, swallow }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, lost: &AtomicBool) {
    let mut bytes = [0; 8192];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if !lost.load(Ordering::SeqCst) && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    if !lost.load(Ordering::SeqCst) {
        let _ = to.shutdown(std::net::Shutdown::Both);
    }
}
