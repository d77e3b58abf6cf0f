//! Options of the engine besides the plan.

use std::time::Duration;

use mindful_core::plan::settings::{self, Key, Settings, parse_switch};
use mindful_core::{Error, Result};
use mindful_instance::options as instance;
use mindful_sql::dataset::run_lock;
use mindful_sql::observe::wait_sampling as sampling;

use crate::names::{self, Namespace};
use crate::private;

/// Keys of the engine: its own, then those of the private server.
pub(crate) static KEYS: [Key; OWN.len() + private::KEYS.len() + instance::KEYS.len()] =
    settings::join_keys(&[OWN, private::KEYS, instance::KEYS]);

const OWN: &[Key] = &[
    Key::unset("namespace", "NAME", "Database for everything that mindful creates (default: from the URL, or mindful)"),
    run_lock::SHARED_KEY,
    sampling::option_key("20ms"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub namespace: Namespace,
    pub shared: bool,
    /// Time between two samples of session waits; `None`: no sampling.
    pub wait_sampling: Option<Duration>,
    pub given_settings: Vec<String>,
}

impl Options {
    /// The options in `settings` for a target with `database` in its URL. `private` are those of the private server.
    pub(crate) fn from_settings(
        settings: &Settings,
        database: Option<&str>,
        private: &private::Options,
    ) -> Result<Self> {
        settings.check_bounds(&KEYS)?;
        let given = settings.parse("namespace", name)?;
        let namespace = given.or(database.map(str::to_owned)).unwrap_or_else(|| names::DEFAULT.to_owned());
        if ["mysql", "information_schema", "performance_schema", "sys"].contains(&namespace.to_lowercase().as_str()) {
            return Err(Error::plan(
                format!("the database {namespace} is the server's own"),
                "choose another --namespace",
            ));
        }
        Ok(Self {
            namespace: Namespace { name: namespace },
            shared: settings.parse("shared", parse_switch)?.unwrap_or(false),
            wait_sampling: settings.parse("wait_sampling", sampling::parse_interval)?.flatten(),
            given_settings: private.server.set.iter().map(|(name, _)| name.clone()).collect(),
        })
    }
}

fn name(text: &str) -> Result<String> {
    let bad = text.is_empty() || text.chars().count() > names::LONGEST_NAME || text.ends_with(' ');
    if bad || text.chars().any(|c| c.is_control() || c as u32 > 0xFFFF) {
        return Err(Error::plan(
            "not a name of a database",
            format!("give 1 to {} letters and digits", names::LONGEST_NAME),
        ));
    }
    Ok(text.to_owned())
}
