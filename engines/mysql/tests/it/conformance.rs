//! The conformance suite on real servers.

mod mariadb {
    use mindful_conformance::Fixture;

    fn on_mariadb() -> Fixture {
        crate::shared::fixture(crate::support::MARIADB)
    }

    mindful_conformance::suite!(on_mariadb);
}

mod mysql {
    use mindful_conformance::Fixture;

    fn on_mysql() -> Fixture {
        crate::shared::fixture(crate::support::MYSQL)
    }

    mindful_conformance::suite!(on_mysql);
}

mod older {
    use mindful_conformance::Fixture;

    fn on_an_older_mariadb() -> Fixture {
        crate::shared::fixture(crate::support::OLDER)
    }

    mindful_conformance::suite!(on_an_older_mariadb);
}
