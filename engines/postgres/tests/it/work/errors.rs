//! Servers that fail during a load or a run: one line with the fault, its place and the next step.

use std::fs;
use std::os::unix::fs::chown;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Server, dataset, load, programs, session, workload};
use mindful_conformance::{Mount, slice_of};
use mindful_core::contract::event::Event;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, ErrorKind, Target};

const BLOCKS: u64 = 1_000;

/// The error names the fault and the next step on one line.
fn assert_plain(error: &Error) {
    let line = error.to_string();
    assert!(!line.contains('\n') && !error.what.is_empty() && !error.next.is_empty(), "{error:?}");
}

/// The error of a session in a long slice after `strike`, which is repeated until it has an effect.
fn struck(target: &dyn Target, looping: LoopSite, strike: impl Fn() + Send + Sync) -> Error {
    let mut session = session(target, &Workload { loop_site: looping, ..workload(1, BLOCKS, 4, "20") });
    let order = slice_of(target, 120_000_000);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            while !over.load(Ordering::Relaxed) {
                strike();
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let slice = session.run_slice(&order);
        over.store(true, Ordering::Relaxed);
        slice.unwrap_err()
    })
}

#[test]
fn a_server_that_crashes_in_a_run_ends_it_with_one_line() {
    for bin in programs() {
        for looping in [LoopSite::Server, LoopSite::Client] {
            let server = Server::start(&bin, &[]);
            let target = server.loaded(1, BLOCKS);
            let error = struck(&*target, looping, || server.crash());
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            assert_plain(&error);
            assert!(error.next.contains("log"), "{error}");
            // Later requests report that the server does not answer.
            assert_plain(&target.clock_us().and_then(|_| target.describe()).unwrap_err());
        }
    }
}

#[test]
fn a_session_that_is_terminated_or_cancelled_says_so() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.loaded(1, BLOCKS);
        for (looping, query) in [(LoopSite::Server, "CALL pg_temp.slice%"), (LoopSite::Client, "%blocks_1%")] {
            let strike = |call: &str| {
                let of_session = format!("WHERE query LIKE '{query}' AND pid <> pg_backend_pid()");
                // A statement is short: cancelling may come between two of them, on a busy host for long.
                drop(server.try_sql(&format!("SELECT {call}(pid) FROM pg_stat_activity {of_session}")));
            };
            for (call, words) in [("pg_terminate_backend", "terminating connection"), ("pg_cancel_backend", "cancel")] {
                let error = struck(&*target, looping, || strike(call));
                assert_eq!(error.kind, ErrorKind::Run, "{error}");
                assert!(error.what.contains(words) && error.to_string().contains("session 1"), "{error}");
                assert_plain(&error);
            }
        }
    }
}

#[test]
fn a_server_that_became_read_only_takes_no_updates() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        server.loaded(1, BLOCKS);
        server.sql("ALTER DATABASE postgres SET default_transaction_read_only = on");
        let target = server.target(&[]).unwrap();
        for looping in [LoopSite::Server, LoopSite::Client] {
            let w = Workload { loop_site: looping, ..workload(1, BLOCKS, 4, "20") };
            let error = target.prepare(&w, 1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Target, "{error}");
            assert!(error.what.contains("read-only"), "{error}");
            assert_plain(&error);
        }
        let reads = Workload { loop_site: LoopSite::Client, ..workload(1, BLOCKS, 4, "0") };
        target.prepare(&reads, 1).unwrap();
        let error = load(&*target, 2, BLOCKS).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Target, "{error}");
        assert_plain(&error);
    }
}

#[test]
fn a_disk_that_fills_during_a_load_is_reported() {
    let server = Server::start(&programs()[0], &[]);
    let Some(disk) = Mount::new(&["-t", "tmpfs", "-o", "size=192m,mode=777", "tmpfs"]) else { return };
    let [folder, others] = ["space", "of_another"].map(|name| disk.path().join(name));
    fs::create_dir(&folder).unwrap();
    let (uid, gid) = support::account().unwrap();
    chown(&folder, Some(uid), Some(gid)).unwrap();
    server.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()));
    let target = server.target(&[("tablespace", "small")]).unwrap();
    let is_full = Mutex::new(false);
    // Another user takes all free space as soon as the load has begun; that this fails at the end is intended.
    let fill = |event| {
        let mut is_full = is_full.lock().unwrap();
        if matches!(event, Event::Progress { done: 1.., .. }) && !std::mem::replace(&mut *is_full, true) {
            let _ = fs::write(&others, vec![7; 256 << 20]);
        }
    };
    let error = target.load(&dataset(2, 5_000), &fill, &StopFlag::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Run, "{error}");
    assert!(error.what.contains("No space left") && error.next.contains("free space"), "{error}");
    assert_plain(&error);
    fs::remove_file(&others).unwrap();
    // The server frees the space of the streams when each of them has ended.
    let again = || load(&*target, 2, 5_000);
    let until = Instant::now() + support::PATIENCE;
    let mut loaded = again();
    while loaded.as_ref().is_err_and(|error| error.what.contains("free")) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
        loaded = again();
    }
    assert_eq!(loaded.unwrap().schemas, 2);
    drop((target, server));
}
