//! Two on one namespace: runs share it when they say so, a load and a cleanup hold it exclusively.

use std::sync::mpsc;

use crate::support::{dataset, each_server, load, plan, workload};
use mindful_core::contract::event::Event;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::result::Severity;
use mindful_core::{Error, ErrorKind, Target};

const BLOCKS: u64 = 1_000;

const SHARED: [(&str, &str); 1] = [("shared", "on")];

fn assert_in_use(error: &Error) {
    assert_eq!(error.kind, ErrorKind::Target, "{error}");
    assert!(error.what.contains("uses namespace") && error.what.contains("server process"), "{error}");
    assert!(error.next.contains("--shared") && error.next.contains("--namespace"), "{error}");
}

/// Whether another run is reported before this one begins, as a warning.
fn is_warned(target: &dyn Target) -> bool {
    let findings = target.checks(&plan(&[])).unwrap();
    findings.iter().any(|found| found.code == "dataset-shared" && found.severity == Severity::Warning)
}

#[test]
fn a_second_run_is_refused_or_shares_and_says_so() {
    each_server(|server| {
        server.loaded(1, BLOCKS);
        let w = workload(1, BLOCKS, 4, "0");
        let first = server.target(&[]).unwrap();
        assert!(!is_warned(&*first));
        first.prepare(&w, 1).unwrap();
        first.prepare(&w, 2).unwrap();
        assert!(!is_warned(&*first), "a run is not another one to itself");
        let second = server.target(&[]).unwrap();
        assert_in_use(&second.prepare(&w, 1).unwrap_err());
        let sharing = server.target(&SHARED).unwrap();
        assert!(is_warned(&*sharing));
        sharing.prepare(&w, 1).unwrap();
        drop(first);
        // A sharing run exists too; no other holds it exclusively until the last is gone.
        assert_in_use(&second.prepare(&w, 1).unwrap_err());
        drop(sharing);
        second.prepare(&w, 1).unwrap();
        // Another namespace is not affected.
        let elsewhere = server.target(&[("namespace", "other")]).unwrap();
        load(&*elsewhere, 1, BLOCKS).unwrap();
        elsewhere.prepare(&w, 1).unwrap();
    });
}

#[test]
fn nothing_is_loaded_or_removed_under_a_run() {
    each_server(|server| {
        server.loaded(1, BLOCKS);
        let run = server.target(&SHARED).unwrap();
        run.prepare(&workload(1, BLOCKS, 4, "0"), 1).unwrap();
        for options in [&[][..], &SHARED[..]] {
            let other = server.target(options).unwrap();
            assert_in_use(&other.cleanup().unwrap_err());
            assert_in_use(&load(&*other, 2, BLOCKS).unwrap_err());
            // A complete dataset needs nothing.
            load(&*other, 1, BLOCKS).unwrap();
        }
        assert_eq!(run.dataset().unwrap().unwrap().schemas, 1);
        // Its own run does not conflict with others.
        run.cleanup().unwrap();
    });
}

#[test]
fn a_load_is_alone_until_it_ends_however_that_is() {
    each_server(|server| {
        server.loaded(1, BLOCKS);
        let (begun, begins) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let (stop, goes) = (StopFlag::default(), std::sync::Mutex::new(goes));
        let paused = |event| {
            if matches!(event, Event::Progress { .. }) {
                let _ = begun.send(());
                let _ = goes.lock().unwrap().recv();
            }
        };
        let loading = server.target(&[]).unwrap();
        std::thread::scope(|scope| {
            let load = scope.spawn(|| loading.load(&dataset(2, BLOCKS), &paused, &stop));
            begins.recv().unwrap();
            for options in [&[][..], &SHARED[..]] {
                let other = server.target(options).unwrap();
                assert_in_use(&other.prepare(&workload(1, BLOCKS, 4, "0"), 1).unwrap_err());
                assert_in_use(&other.cleanup().unwrap_err());
            }
            stop.request();
            drop(go);
            let _ = load.join().unwrap();
        });
        server.target(&[]).unwrap().prepare(&workload(1, BLOCKS, 4, "0"), 1).unwrap();
    });
}
