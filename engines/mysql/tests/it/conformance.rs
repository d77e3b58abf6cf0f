//! The conformance suite on real servers.

macro_rules! suite_on {
    ($module:ident, $kind:ident) => {
        mod $module {
            use mindful_conformance::Fixture;

            fn fresh() -> Fixture {
                crate::shared::fixture(crate::support::$kind)
            }

            fn maybe_loaded() -> Fixture {
                crate::shared::maybe_loaded(crate::support::$kind)
            }

            mindful_conformance::suite!(fresh, maybe_loaded);
        }
    };
}

suite_on!(mariadb, MARIADB);
suite_on!(mysql, MYSQL);
suite_on!(older, OLDER);
