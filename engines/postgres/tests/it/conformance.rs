//! The conformance suite on real servers: the newest and an older one.

mod newest {
    use mindful_conformance::Fixture;

    fn on_the_newest() -> Fixture {
        crate::support::fixture(crate::support::programs().remove(0))
    }

    fn maybe_loaded() -> Fixture {
        crate::support::maybe_loaded(crate::support::programs().remove(0))
    }

    mindful_conformance::suite!(on_the_newest, maybe_loaded);
}

mod older {
    use mindful_conformance::Fixture;

    fn on_an_older() -> Fixture {
        crate::support::fixture(crate::support::programs().pop().expect("there is one at least"))
    }

    fn maybe_loaded() -> Fixture {
        crate::support::maybe_loaded(crate::support::programs().pop().expect("there is one at least"))
    }

    mindful_conformance::suite!(on_an_older, maybe_loaded);
}
