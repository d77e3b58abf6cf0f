//! Options of the engine besides the plan.

use std::path::PathBuf;
use std::time::Duration;

use mindful_core::plan::Bound;
use mindful_core::plan::settings::{Key, Settings, parse_switch};
use mindful_core::{Error, Result, plan::units};
use mindful_sql::dataset::run_lock;
use mindful_sql::observe::wait_sampling as sampling;

use crate::names::Namespace;
use crate::work::statement::Storage;

pub(crate) const KEYS: &[Key] = &[
    Key::with_default(
        "namespace",
        "NAME",
        "mindful",
        "Prefix of the tables that mindful creates in the schema of the account",
    ),
    Key::unset("tablespace", "NAME", "Tablespace of tables and indexes (default: that of the account)"),
    Key::with_default("nologging", "on|off", "off", "Load without redo; recovery and standbys lose the data"),
    Key::with_default("load_parallel", "N", "1", "Parallel server processes that write each table")
        .bounded(Bound::Count(1, 256)),
    Key::unset("password_file", "FILE", "File (mode 0600) with the password of the account in its first line").place(),
    Key::unset("tns_admin", "DIR", "Folder of tnsnames.ora (default: TNS_ADMIN)").place(),
    Key::unset("wallet", "DIR", "Folder of ewallet.pem for TCPS").place(),
    Key::with_default("connect_timeout", "TIME", "15s", "Time limit for listener and login (1s to 10m)")
        .bounded(Bound::Time(Duration::from_secs(1), Duration::from_mins(10))),
    sampling::option_key("50ms"),
    run_lock::SHARED_KEY,
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub namespace: Namespace,
    pub storage: Storage,
    pub password_file: Option<PathBuf>,
    pub tns_admin: Option<PathBuf>,
    pub wallet: Option<PathBuf>,
    pub connect_timeout: Duration,
    /// Time between two samples of session waits; `None`: no sampling.
    pub wait_sampling: Option<Duration>,
    pub shared: bool,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        settings.check_bounds(KEYS)?;
        let folder = |name| settings.get(name).map(PathBuf::from);
        let switch = |name| Ok::<_, Error>(settings.parse(name, parse_switch)?.unwrap_or(false));
        let namespace = settings.parse("namespace", Namespace::parse)?;
        Ok(Self {
            namespace: namespace.map_or_else(|| Namespace::parse("mindful"), Ok)?,
            storage: Storage {
                tablespace: settings.parse("tablespace", identifier)?,
                nologging: switch("nologging")?,
                parallel: settings.parse("load_parallel", units::parse_count)?.unwrap_or(1) as u32,
            },
            password_file: folder("password_file"),
            tns_admin: folder("tns_admin"),
            wallet: folder("wallet"),
            connect_timeout: settings
                .parse("connect_timeout", units::parse_duration)?
                .unwrap_or(Duration::from_secs(15)),
            wait_sampling: settings.parse("wait_sampling", sampling::parse_interval)?.flatten(),
            shared: switch("shared")?,
        })
    }
}

fn identifier(text: &str) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_$#".contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() <= 128 && text.chars().all(plain) {
        return Ok(text.to_ascii_uppercase());
    }
    Err(Error::plan(format!("`{text}` is not the name of a tablespace"), "give letters, digits, _, $ and #"))
}
