//! The conformance suite on real servers.

mod mariadb {
    use mindful_conformance::Fixture;

    fn on_mariadb() -> Fixture {
        crate::shared::fixture(crate::support::MARIADB)
    }

    fn maybe_loaded() -> Fixture {
        crate::shared::maybe_loaded(crate::support::MARIADB)
    }

    mindful_conformance::suite!(on_mariadb, maybe_loaded);
}

mod mysql {
    use mindful_conformance::Fixture;

    fn on_mysql() -> Fixture {
        crate::shared::fixture(crate::support::MYSQL)
    }

    fn maybe_loaded() -> Fixture {
        crate::shared::maybe_loaded(crate::support::MYSQL)
    }

    mindful_conformance::suite!(on_mysql, maybe_loaded);
}

mod older {
    use mindful_conformance::Fixture;

    fn on_an_older_mariadb() -> Fixture {
        crate::shared::fixture(crate::support::OLDER)
    }

    fn maybe_loaded() -> Fixture {
        crate::shared::maybe_loaded(crate::support::OLDER)
    }

    mindful_conformance::suite!(on_an_older_mariadb, maybe_loaded);
}
