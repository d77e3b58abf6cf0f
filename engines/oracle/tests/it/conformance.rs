//! The conformance suite on made-up databases: a fresh one a test.

use mindful_conformance::Fixture;

use crate::support;

fn made_up() -> Fixture {
    support::fixture().0
}

mindful_conformance::suite!(made_up);
