//! The conformance suite on real SQLite files.

use mindful_conformance::Fixture;

use crate::fixture;

fn on_a_file() -> Fixture {
    let (mut fixture, _) = fixture::fixture();
    fixture.bad_urls.extend(["sqlite:".to_owned(), "sqlite:/".to_owned(), "sqlite:/proc/version".to_owned()]);
    fixture
}

mindful_conformance::suite!(on_a_file);
