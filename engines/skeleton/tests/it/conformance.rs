//! The conformance suite on the skeleton.

use mindful_conformance::Fixture;

/// A target that holds nothing yet and that no other test uses.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(&mindful_skeleton::ENGINE, "skeleton:");
    // The rows are gone when the target is dropped. HERE: omit this line if the data stays.
    fixture.persistent = false;
    fixture
}

mindful_conformance::suite!(fixture);
