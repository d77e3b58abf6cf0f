//! The conformance suite on the null engine.

use mindful_conformance::Fixture;

fn fixture() -> Fixture {
    let mut fixture = Fixture::new(&mindful_null::ENGINE, "null:").with("null_latency", "300us");
    fixture.persistent = false;
    fixture
}

mindful_conformance::suite!(fixture);
