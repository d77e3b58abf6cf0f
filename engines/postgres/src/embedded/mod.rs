//! The private PostgreSQL server: mindful finds or fetches its binaries, and an [`Instance`] makes its data directory,
//! starts, restarts and stops it, and repairs what a crash left.
//!
//! Nobody but the user of mindful can connect: there is no TCP port, the socket stands in a folder closed to others, and
//! the kernel tells the server who asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::Result;
use mindful_core::event::Events;
use mindful_core::settings::Settings;
use mindful_instance::account::Account;
use mindful_instance::place::base;
use mindful_instance::{Instance, Order, has_data};

mod access;
mod binaries;
mod cluster;
mod fetch;
mod kind;
mod options;
mod settings;

pub use access::USER;
pub use cluster::{DATABASE, PORT};
pub use mindful_instance::program::{Chosen, Purpose};
pub use options::{KEYS, Options};
pub use settings::is_direct_io;

use binaries::Binaries;
use cluster::Cluster;

/// A private server that is running. Dropping it stops the server in order.
pub struct Embedded {
    instance: Instance,
    version: String,
}

impl Embedded {
    /// Finds binaries and folder, repairs what must be, and starts the server for [`Purpose::Run`].
    pub fn open(settings: &Settings, events: &Arc<dyn Events>) -> Result<Self> {
        let options = Options::parse(settings)?;
        let server = &options.server;
        let account = Account::choose(server.run_as.as_deref())?;
        let base = base(&account)?;
        let binaries = Binaries::find(&options, &base, &account, events.as_ref())?;
        binaries.check_settings(&server.set, &account)?;
        settings::check_cache(server.cache)?;
        let default = || default_folder(&base, binaries.major);
        let order = Order {
            folder: server.data_dir.clone().unwrap_or_else(default),
            account,
            sessions: server.sessions,
            page_cache_limit: server.page_cache_limit,
        };
        let version = binaries.version.clone();
        let cluster = Cluster { binaries, mode: server.mode, cache: server.cache, set: server.set.clone() };
        Ok(Self { instance: Instance::open(order, Arc::new(cluster), events)?, version })
    }

    /// The folder of the programs that [`Embedded::open`] would start, fetched where they are nowhere.
    pub fn programs(settings: &Settings, events: &dyn Events) -> Result<PathBuf> {
        let options = Options::parse(settings)?;
        let account = Account::choose(options.server.run_as.as_deref())?;
        Ok(Binaries::find(&options, &base(&account)?, &account, events)?.bin)
    }

    /// Refuses options that make no sense.
    pub fn accepts(settings: &Settings) -> Result<()> {
        Options::parse(settings).map(drop)
    }

    /// The folder in which a server would be made; `None` where there is one. Changes nothing and fetches nothing.
    pub fn would_make(settings: &Settings, events: &dyn Events) -> Result<Option<PathBuf>> {
        let options = Options::parse(settings)?;
        let account = Account::choose(options.server.run_as.as_deref())?;
        let folder = if let Some(given) = &options.server.data_dir {
            account.reach(given, "--data-dir")?
        } else {
            let base = base(&account)?;
            // What is not here yet would be fetched, in the version that was asked for.
            let mut here = options.clone();
            here.server.fetch = false;
            let here = Binaries::find(&here, &base, &account, events);
            default_folder(&base, here.map_or(options.version.major, |binaries| binaries.major))
        };
        Ok((!has_data(&folder, &kind::KIND)?).then_some(folder))
    }

    /// Sets the server up for `purpose`; tells whether it was restarted, so that all clients must connect anew.
    ///
    /// A load begins with [`Purpose::Load`] and ends, well or not, with [`Purpose::Run`]: a crash between them makes the
    /// next `open` begin with an empty data directory.
    pub fn serve(&self, purpose: Purpose) -> Result<bool> {
        self.instance.serve(purpose)
    }

    /// Makes room for `sessions` sessions; tells whether the server was restarted for it.
    pub fn carry(&self, sessions: u32) -> Result<bool> {
        self.instance.carry(sessions)
    }

    /// Folder of the server's socket.
    pub fn socket_dir(&self) -> PathBuf {
        self.instance.socket_folder().to_owned()
    }

    /// Port number in the name of the socket.
    pub fn port(&self) -> u16 {
        PORT
    }

    /// The PostgreSQL data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.instance.data()
    }

    /// The folder all of it stands in: data, socket and log.
    pub fn folder(&self) -> &Path {
        self.instance.folder()
    }

    /// Version of the server, such as `18.6`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Process id of the postmaster, another one after each restart; 0 while there is no server.
    pub fn postmaster_pid(&self) -> u32 {
        self.instance.pid()
    }

    /// The settings in force that mindful chose, each with its reason.
    pub fn chosen(&self) -> Vec<Chosen> {
        self.instance.chosen()
    }

    /// Bytes of the folder on storage.
    pub fn bytes(&self) -> u64 {
        self.instance.bytes()
    }

    /// What is in the folder and not mindful's, by its name there.
    pub fn foreign_files(&self) -> Result<Vec<String>> {
        self.instance.foreign_files()
    }

    /// Stops the server and removes its folder. Binaries stay.
    pub fn destroy(&self) -> Result<()> {
        self.instance.destroy()
    }
}

fn default_folder(base: &Path, major: u32) -> PathBuf {
    base.join("embedded").join(major.to_string())
}
