//! Options of the engine besides the plan.

use std::time::Duration;

use mindful_core::plan::settings::{self, Key, Settings, parse_switch};
use mindful_core::{Error, Result};
use mindful_instance::options as server;
use mindful_sql::dataset::run_lock;
use mindful_sql::observe::wait_sampling as sampling;

use crate::names::Namespace;
use crate::private;

pub(crate) static KEYS: [Key; OWN.len() + private::KEYS.len() + server::KEYS.len()] =
    settings::join_keys(&[OWN, private::KEYS, server::KEYS]);

const OWN: &[Key] = &[
    Key::with_default("namespace", "NAME", "mindful", "Schema for everything that mindful creates"),
    Key::unset(
        "trust_owner",
        "ROLE",
        "Role other than the current one that may own the namespace; its objects are trusted",
    )
    .command(),
    run_lock::SHARED_KEY,
    Key::unset("tablespace", "NAME", "Tablespace of tables and indexes (default: that of the database)"),
    sampling::option_key("20ms"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub namespace: Namespace,
    pub shared: bool,
    pub tablespace: Option<String>,
    /// Time between two samples of session waits; `None`: no sampling.
    pub wait_sampling: Option<Duration>,
    pub given_settings: Vec<String>,
    /// Rows of a new dataset are shaped for the compress ratio of the plan, because the user set one.
    pub shaped: bool,
}

/// PostgreSQL cuts longer names in silence.
const LONGEST_NAME: usize = 63;

impl Options {
    /// The options in `settings`, without those of the `private` server.
    pub(crate) fn from_settings(settings: &Settings, private: &private::Options) -> Result<Self> {
        settings.check_bounds(&KEYS)?;
        let name = |text: &str| {
            if text.is_empty() || text.len() > LONGEST_NAME || text.contains('\0') {
                return Err(Error::plan("not a name", format!("give 1 to {LONGEST_NAME} bytes other than zero")));
            }
            Ok(text.to_owned())
        };
        let namespace = settings.parse("namespace", name)?.unwrap_or_else(|| "mindful".to_owned());
        if namespace.starts_with("pg_") {
            return Err(Error::plan(
                format!("{}: names that begin with pg_ belong to PostgreSQL", settings.describe_place("namespace")),
                "choose another --namespace",
            ));
        }
        Ok(Self {
            namespace: Namespace { name: namespace, trusted: settings.parse("trust_owner", name)? },
            shared: settings.parse("shared", parse_switch)?.unwrap_or(false),
            tablespace: settings.parse("tablespace", name)?,
            given_settings: private.server.set.iter().map(|(name, _)| name.clone()).collect(),
            shaped: settings.given_text("compress_ratio").is_some(),
            wait_sampling: settings.parse("wait_sampling", sampling::parse_interval)?.flatten(),
        })
    }
}
