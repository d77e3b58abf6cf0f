//! Statements that never end are abandoned when a stop is requested.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_conformance::slice_of;
use mindful_core::contract::event::Silent;
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, ErrorKind};

use crate::support::fixture;

/// The result of `work` when `target` is interrupted, 300 ms after it began.
fn interrupted<T>(target: &Arc<dyn Target>, work: impl FnOnce() -> Result<T, Error>) -> Error {
    let stopping = Arc::clone(target);
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        stopping.abort();
    });
    let began = Instant::now();
    let Err(error) = work() else { panic!("it came to its end") };
    stop.join().unwrap();
    assert!((1..60).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    error
}

#[test]
fn a_session_in_an_operation_without_end_is_left() {
    let (fixture, database) = fixture();
    let target: Arc<dyn Target> = Arc::from(fixture.open());
    target.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
    for (looping, text) in [(LoopSite::Server, "slice"), (LoopSite::Client, "select")] {
        let workload = Workload { loop_site: looping, ..fixture.workload() };
        target.prepare(&workload, 1).unwrap();
        let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
        let mut session = target.session(&workload, placement).unwrap();
        database.hang(text, true);
        let order = slice_of(&*target, 100_000);
        let error = interrupted(&target, || session.run_slice(&order));
        assert!(error.kind == ErrorKind::Interrupted && error.to_string().contains("session 1"), "{error:?}");
        let began = Instant::now();
        drop(session);
        assert!(began.elapsed() < Duration::from_secs(30), "its end waits for the statement");
        database.hang(text, false);
    }
}

#[test]
fn sessions_views_and_a_proof_without_end_are_left() {
    let (fixture, database) = fixture();
    let target: Arc<dyn Target> = Arc::from(fixture.open());
    target.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
    let workload = fixture.workload();
    target.prepare(&workload, 1).unwrap();
    let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
    for text in ["slice", "enter", "host", "waits"] {
        database.hang(text, true);
        let error = match text {
            "slice" => interrupted(&target, || target.session(&workload, placement)),
            _ => interrupted(&target, || target.samplers()),
        };
        assert!(
            error.kind == ErrorKind::Interrupted && error.to_string().contains("the server still has its statement"),
            "{error:?}"
        );
        database.hang(text, false);
        target.prepare(&workload, 1).unwrap();
    }
    database.hang("slice", true);
    database.state().seen.clear();
    let stop = StopFlag::default();
    let (asked, stopping, seen) = (stop.clone(), Arc::clone(&target), Arc::clone(&database));
    let asking = std::thread::spawn(move || {
        while !seen.state().seen.contains("slice") {
            std::thread::sleep(Duration::from_millis(5));
        }
        asked.request();
        stopping.abort();
    });
    let error = target.self_proof(&stop).unwrap_err();
    asking.join().unwrap();
    let message = error.to_string();
    assert!(error.kind == ErrorKind::Interrupted && message.contains("its tables are removed"), "{message}");
    assert!(!database.state().tables.keys().any(|table| table.contains("DOCTOR")), "its tables were left");
    database.hang("slice", false);
}

#[test]
fn a_load_and_a_question_without_end_are_left() {
    let (fixture, database) = fixture();
    let target: Arc<dyn Target> = Arc::from(fixture.open());
    database.hang("blocks", true);
    let error = interrupted(&target, || target.load(&fixture.dataset, &Silent, &StopFlag::default()));
    assert!(error.kind == ErrorKind::Interrupted && error.to_string().contains("loading MINDFUL_"), "{error:?}");
    database.hang("blocks", false);
    let (fixture, database) = crate::support::fixture();
    let target: Arc<dyn Target> = Arc::from(fixture.open());
    database.hang("look", true);
    assert_eq!(interrupted(&target, || target.dataset()).kind, ErrorKind::Interrupted);
    database.hang("look", false);
    // The next request has a new connection.
    assert_eq!(target.dataset().unwrap(), None);
}
