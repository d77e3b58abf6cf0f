//! Properties of loading, proving and removing a dataset.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mindful_core::ErrorKind;
use mindful_core::contract::event::{Event, Events, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::dataset::DatasetPlan;

use crate::fixture::Fixture;

/// Before a load nothing exists, and `cleanup` has nothing to do.
pub fn a_fresh_target_holds_nothing_and_lists_nothing(fixture: &Fixture) {
    let target = fixture.open();
    assert_eq!(target.dataset().unwrap(), None);
    let ours = removable(&*target);
    assert!(ours.is_empty(), "a fresh target lists {ours:?}");
    assert!(target.verify(&StopFlag::default()).is_err(), "there is nothing to prove");
}

/// The requested dataset exists, also after opening it again. Loading again does not change it.
pub fn a_load_is_reported_by_dataset_and_is_complete(fixture: &Fixture) {
    let plan = &fixture.dataset;
    let opened = fixture.loaded();
    let described = opened.target.dataset().unwrap();
    let dataset = described.unwrap_or_else(|| panic!("nothing is reported what was loaded"));
    assert_eq!(
        (dataset.schemas, dataset.blocks_per_schema, dataset.scan_blocks, dataset.seed, dataset.content),
        (plan.schemas, plan.blocks_per_schema, plan.scan_blocks, plan.seed, plan.content)
    );
    assert!(dataset.bytes >= u64::from(plan.schemas) * plan.blocks_per_schema * dataset.block_bytes);
    let steps = Mutex::default();
    let again = opened.target.load(plan, &progress(&steps), &StopFlag::default()).unwrap();
    assert_eq!((again, steps.into_inner().unwrap().len()), (dataset.clone(), 0), "loading again works");
    if fixture.persistent {
        drop(opened);
        assert_eq!(fixture.open().dataset().unwrap(), Some(dataset));
    }
}

/// Progress only grows and ends at its total.
pub fn a_load_reports_its_progress(fixture: &Fixture) {
    let steps = Mutex::default();
    fixture.open().load(&fixture.dataset, &progress(&steps), &StopFlag::default()).unwrap();
    let steps = steps.into_inner().unwrap();
    for (what, done, of) in &steps {
        assert!(*of == 0 || done <= of, "{what}: {done} of {of}");
    }
    for pair in steps.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].1 <= pair[1].1, "it fell: {pair:?}");
    }
    assert!(steps.last().is_some_and(|(_, done, of)| done == of), "the last progress is {:?}", steps.last());
}

/// Another scale, seed or scan table is another dataset: it is refused and the loaded one stays.
pub fn a_load_with_other_parameters_is_refused(fixture: &Fixture) {
    let opened = fixture.loaded();
    let before = opened.target.dataset().unwrap();
    let plan = &fixture.dataset;
    let others = [
        DatasetPlan { blocks_per_schema: plan.blocks_per_schema + 1, ..plan.clone() },
        DatasetPlan { seed: plan.seed + 1, ..plan.clone() },
    ];
    for other in others {
        let error = match opened.target.load(&other, &Silent, &StopFlag::default()) {
            Ok(dataset) => panic!("{other:?} made {dataset:?}"),
            Err(error) => error,
        };
        assert!(matches!(error.kind, ErrorKind::Plan | ErrorKind::Target), "{error:?}");
        assert_one_line(&error);
    }
    assert_eq!(opened.target.dataset().unwrap(), before);
}

/// The same parameters with more schemas complete the existing dataset.
pub fn more_schemas_are_added_to_a_load(fixture: &Fixture) {
    let opened = fixture.loaded();
    let more = DatasetPlan { schemas: fixture.dataset.schemas + 1, ..fixture.dataset.clone() };
    let dataset = opened.target.load(&more, &Silent, &StopFlag::default()).unwrap();
    assert_eq!(dataset.schemas, more.schemas);
    let fewer = opened.target.load(&fixture.dataset, &Silent, &StopFlag::default());
    assert_eq!(fewer.unwrap().schemas, more.schemas, "nothing is taken away");
    let proof = opened.target.verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.failure(), None);
}

pub fn a_stopped_load_is_completed_by_the_next(fixture: &Fixture) {
    let target = fixture.open();
    let (stop, seen) = (StopFlag::default(), AtomicUsize::new(0));
    let brake = |event| {
        // At the second progress.
        if matches!(event, Event::Progress { .. }) && seen.fetch_add(1, Ordering::SeqCst) == 1 {
            stop.request();
        }
    };
    if let Err(error) = target.load(&fixture.dataset, &brake, &stop) {
        assert_eq!(error.kind, ErrorKind::Interrupted, "{error}");
        let half = target.dataset().unwrap();
        assert!(half.is_none_or(|half| half.schemas < fixture.dataset.schemas), "a stopped load calls itself complete");
    }
    let dataset = target.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
    assert_eq!(dataset.schemas, fixture.dataset.schemas);
    let proof = target.verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.failure(), None);
}

/// One row a block, random order, every schema different.
pub fn verify_proves_the_layout(fixture: &Fixture) {
    let proof = fixture.loaded().target.verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.failure(), None);
    assert_eq!(proof.schemas.len() as u32, fixture.dataset.schemas);
    for schema in &proof.schemas {
        assert_eq!(schema.rows, fixture.dataset.blocks_per_schema);
        assert_eq!(schema.distinct_blocks, schema.rows);
    }
    assert!(proof.cross_correlation.is_some(), "two schemas are not compared with each other");
}

/// The listed objects are removed and reported; a second cleanup has nothing to do; a load works again.
pub fn cleanup_removes_what_inventory_lists(fixture: &Fixture) {
    let opened = fixture.loaded();
    let listed = opened.target.inventory().unwrap();
    assert!(listed.iter().any(|object| object.kept_because.is_none()), "{listed:?}");
    let removed = opened.target.cleanup().unwrap();
    assert_eq!(removed, listed);
    assert_eq!(opened.target.dataset().unwrap(), None);
    let left = removable(&*opened.target);
    assert!(left.is_empty(), "cleanup left {left:?}");
    opened.target.cleanup().unwrap();
    let again = opened.target.load(&fixture.dataset, &Silent, &StopFlag::default());
    assert_eq!(again.unwrap().schemas, fixture.dataset.schemas);
}

fn removable(target: &dyn Target) -> Vec<String> {
    let objects = target.inventory().unwrap();
    objects.into_iter().filter(|object| object.kept_because.is_none()).map(|object| object.name).collect()
}

/// A message contains each of `parts`.
#[track_caller]
pub fn assert_says(message: impl Display, parts: &[&str]) {
    let message = message.to_string();
    let lacking: Vec<_> = parts.iter().filter(|part| !message.contains(**part)).collect();
    assert!(lacking.is_empty(), "no {lacking:?} in: {message}");
}

/// An error names fault, place and next step in one line.
pub fn assert_one_line(error: &mindful_core::Error) {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() > 10, "{text:?}");
    assert!(error.kind == ErrorKind::Interrupted || !error.next.is_empty(), "no next step: {text}");
}

/// Keeps `(what, done, of)` of each progress event in `steps`.
fn progress(steps: &Mutex<Vec<(String, u64, u64)>>) -> impl Events {
    |event| {
        if let Event::Progress { what, done, of, .. } = event {
            steps.lock().unwrap().push((what, done, of));
        }
    }
}
