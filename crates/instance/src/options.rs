//! The user's options of a private server of any database.

use std::path::{Path, PathBuf};

use mindful_core::contract::description::HostView;
use mindful_core::plan::Bound;
use mindful_core::plan::settings::{Key, Settings, parse_choice, parse_switch};
use mindful_core::{Error, Result, plan::units};

use crate::account::Account;
use crate::data::has_data;
use crate::fetch::BASE;
use crate::instance::Order;
use crate::program::ServerKind;
use crate::{folder, log_folder};

pub const KEYS: &[Key] = &[
    Key::with_default("fetch", "on|off", "on", "Fetch the server's programs from the network if they are missing"),
    Key::unset("fetch_dir", "DIR", "Folder for fetched programs (default: the user's data directory)").command(),
    Key::unset("fetch_url", "URL", "Repository to fetch from, in Maven layout (default: the public one)").command(),
    Key::unset("data_dir", "DIR", "Data directory of the private server; the run measures its storage").command(),
    Key::unset("log_dir", "DIR", "Folder for the private server's log on another volume (default: in --data-dir)")
        .command(),
    Key::unset("run_as", "USER", "User of the private server if mindful runs as root (default: a separate user id)")
        .command(),
    Key::with_default("mode", "MODE", "pio", "Set up the server for pio (physical I/O) or lio (everything cached)"),
    Key::unset("cache", "SIZE", "Size of the database cache (default: by --mode)")
        .bounded(Bound::Size(128 << 10, units::LARGEST)),
    Key::unset(
        "page_cache_limit",
        "SIZE",
        "Memory limit of the server and its page cache, for servers without direct I/O",
    )
    .bounded(Bound::Size(1 << 20, units::LARGEST)),
    Key::unset("set", "NAME=VALUE,…", "Server settings that replace those of mindful, such as wal_buffers=64MB")
        .command()
        .setting_values(),
];

/// Purpose of a run's private server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Physical I/O: a small cache, and reads that reach the device.
    Pio,
    /// Logical I/O: everything cached.
    Lio,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether the network may be used.
    pub fetch: bool,
    pub fetch_dir: Option<PathBuf>,
    pub fetch_url: String,
    pub data_dir: Option<PathBuf>,
    pub log_dir: Option<PathBuf>,
    pub run_as: Option<String>,
    pub mode: Mode,
    /// Size of its cache, bytes.
    pub cache: Option<u64>,
    /// Most memory of the server and of the page cache of its reads, bytes.
    pub page_cache_limit: Option<u64>,
    /// Settings of the user, in the order given.
    pub set: Vec<(String, String)>,
}

impl Options {
    /// Parses the options in `settings` for a private server of `kind`.
    ///
    /// # Errors
    /// An invalid value, or a setting that is reserved for mindful; the error names its origin.
    pub fn parse(settings: &Settings, kind: &ServerKind) -> Result<Self> {
        settings.check_bounds(KEYS)?;
        let path = |name: &str| settings.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        let modes = [("pio", Mode::Pio), ("lio", Mode::Lio)];
        Ok(Self {
            fetch: settings.parse("fetch", parse_switch)?.unwrap_or(true),
            fetch_dir: path("fetch_dir"),
            fetch_url: settings.get("fetch_url").filter(|url| !url.is_empty()).unwrap_or(BASE).to_owned(),
            data_dir: path("data_dir"),
            log_dir: path("log_dir"),
            run_as: settings.get("run_as").map(str::to_owned),
            mode: settings.parse("mode", |text| parse_choice(text, &modes))?.unwrap_or(Mode::Pio),
            cache: settings.parse("cache", units::parse_bytes)?,
            page_cache_limit: settings.parse("page_cache_limit", units::parse_bytes)?,
            set: settings.parse("set", |text| parse_set(text, kind))?.unwrap_or_default(),
        })
    }

    /// Options for opening an instance with room for `sessions` at its first start; in the `usual` folder unless
    /// another is given.
    pub fn order(&self, account: Account, sessions: u32, usual: impl FnOnce() -> PathBuf) -> Order {
        Order {
            folder: self.data_dir.clone().unwrap_or_else(usual),
            log: self.log_dir.clone(),
            account,
            sessions,
            page_cache_limit: self.page_cache_limit,
        }
    }

    /// The folder in which a server of `kind` would be created: the given one, or the one that `usual` names below the
    /// base of the account; `None` if a server exists. Changes nothing.
    pub fn folder_to_make(
        &self,
        kind: &ServerKind,
        usual: impl FnOnce(&Path, &Account) -> PathBuf,
    ) -> Result<Option<PathBuf>> {
        let account = Account::choose(self.run_as.as_deref())?;
        let folder = match &self.data_dir {
            Some(given) => account.reach(given, "--data-dir")?,
            None => usual(&base(&account)?, &account),
        };
        Ok((!has_data(&folder, kind)?).then_some(folder))
    }

    /// The host view of a server of `kind` that would be created in `folder`. Refuses a folder that is unsuitable for
    /// the server or its log. Changes nothing.
    pub fn check_unmade(&self, folder: &Path, kind: &ServerKind) -> Result<HostView> {
        let account = Account::choose(self.run_as.as_deref())?;
        let root = folder::check(folder, &account, kind)?;
        let log = log_folder::examine(self.log_dir.as_deref(), &root, &account, kind)?;
        Ok(HostView {
            local: true,
            private: true,
            data_paths: vec![folder.to_owned()],
            log_apart: log.is_some(),
            log_paths: log.map(|log| log.path).into_iter().collect(),
            ..HostView::default()
        })
    }
}

/// Default place of programs and instances: a folder of the user's data directory, or, as root, a place that the
/// server's user can reach.
pub fn base(account: &Account) -> Result<PathBuf> {
    if account.switched {
        return Ok(PathBuf::from("/var/lib/mindful"));
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = || std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/share"));
    data.or_else(user).map(|folder| folder.join("mindful")).ok_or_else(|| {
        Error::plan("HOME does not name a folder, so data has no place", "pass --data-dir and --fetch-dir")
    })
}

/// `a=1,b=2,3`: a part without `=` belongs to the value before it, for values of settings may be lists.
fn parse_set(text: &str, kind: &ServerKind) -> Result<Vec<(String, String)>> {
    let mut pairs: Vec<String> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        match pairs.last_mut() {
            Some(pair) if !part.contains('=') => *pair = format!("{pair},{part}"),
            _ => pairs.push(part.to_owned()),
        }
    }
    pairs.iter().map(|pair| parse_pair(pair, kind)).collect()
}

fn parse_pair(pair: &str, kind: &ServerKind) -> Result<(String, String)> {
    let (name, value) = pair.split_once('=').ok_or_else(|| {
        Error::plan(format!("`{pair}` is not a server setting"), format!("write NAME=VALUE, such as {}", kind.setting))
    })?;
    let name = name.trim().to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(plain) || value.contains('\0') {
        let next = format!("see the manual of {} for names", kind.name);
        return Err(Error::plan(format!("`{name}` cannot be a server setting"), next));
    }
    if kind.fixed.contains(&name.as_str()) {
        return Err(Error::plan(
            format!("mindful sets {name} of the private server itself"),
            "omit it, or start a server yourself and pass its --target",
        ));
    }
    Ok((name, value.trim().to_owned()))
}
