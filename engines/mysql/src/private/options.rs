//! Options of the private server, in addition to those of every private server.

use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::plan::settings::{Key, Settings, parse_choice};
use mindful_instance::options;

use super::kind;
use crate::flavor::Flavor;

pub(crate) const KEYS: &[Key] = &[
    Key::unset("mysql_flavor", "mariadb|mysql", "Private server to start (default: from the target)"),
    Key::unset("mysql_bin", "DIR", "Folder with mariadbd or mysqld (default: fetched, or from the system)").command(),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub flavor: Flavor,
    pub bin: Option<PathBuf>,
    pub server: options::Options,
}

impl Options {
    pub fn parse(settings: &Settings, usual: Flavor) -> Result<Self> {
        settings.check_bounds(KEYS)?;
        let flavors = [("mariadb", Flavor::MariaDb), ("mysql", Flavor::MySql)];
        let flavor = settings.parse("mysql_flavor", |text| parse_choice(text, &flavors))?.unwrap_or(usual);
        let bin = settings.get("mysql_bin").filter(|text| !text.is_empty()).map(PathBuf::from);
        Ok(Self { flavor, bin, server: options::Options::parse(settings, kind::of_flavor(flavor))? })
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::plan::settings::Origin;

    use super::*;

    fn parsed(pairs: &[(&str, &str)]) -> Result<Options> {
        let mut settings = Settings::defaults(KEYS.iter().chain(options::KEYS));
        for (name, value) in pairs {
            settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
        }
        Options::parse(&settings, Flavor::MariaDb)
    }

    #[test]
    fn the_target_says_the_flavor_unless_the_user_does() {
        assert_eq!(parsed(&[]).unwrap().flavor, Flavor::MariaDb);
        assert_eq!(parsed(&[("mysql_flavor", "mysql")]).unwrap().flavor, Flavor::MySql);
    }

    #[test]
    fn bad_options_are_refused_with_place_and_next_move() {
        for (name, value, hint) in [
            ("mysql_flavor", "percona", "mariadb, mysql"),
            ("mode", "fast", "pio, lio"),
            ("set", "innodb_buffer_pool_size", "NAME=VALUE, such as innodb_"),
            ("set", "datadir=/etc", "mindful sets"),
            ("set", "plugin_load=x.so", "mindful sets"),
            ("set", "plugin-load=x.so", "cannot be"),
        ] {
            let message = parsed(&[(name, value)]).unwrap_err().to_string();
            assert!(message.contains(hint) && message.starts_with("--"), "{message}");
        }
    }
}
