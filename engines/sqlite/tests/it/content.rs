//! Stored pages, read back and compressed, match the request.

use mindful_conformance::{dataset_plan, names};
use mindful_core::ErrorKind;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Content, DatasetPlan};

use crate::fixture;

fn plan(compress_ratio: f64, dedupe_ratio: f64) -> DatasetPlan {
    let content = Content::Mixed { compress_ratio, dedupe_ratio };
    DatasetPlan { content, ..dataset_plan(1, 600) }
}

#[test]
fn stored_pages_have_the_ratio_asked_for() {
    for asked in [1.0, 2.0, 4.0] {
        let (fixture, _) = fixture::fixture();
        let target = fixture.open();
        target.load(&plan(asked, 1.0), &Silent, &StopFlag::default()).unwrap();
        let fact = target.describe().unwrap().stored_blocks.unwrap();
        let numbers: Vec<f64> = fact.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        assert!((numbers[0] / asked - 1.0).abs() < 0.1, "{fact} for {asked}");
        assert!((numbers[1] - 1.0).abs() < f64::EPSILON, "{fact}");
    }
}

#[test]
fn pages_that_repeat_are_refused_before_the_first_byte() {
    let (fixture, path) = fixture::fixture();
    let target = fixture.open();
    let error = target.load(&plan(1.0, 2.0), &Silent, &StopFlag::default()).unwrap_err();
    assert!(error.kind == ErrorKind::Plan && error.next.contains("--dedupe-ratio"), "{error}");
    assert_eq!(target.dataset().unwrap(), None);
    assert!(names(path.parent().unwrap()).is_empty());
}
