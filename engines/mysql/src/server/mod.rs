//! The private server: mindful finds or fetches its programs, and an [`Instance`] makes its data folder, starts, restarts
//! and stops it, and repairs what a crash left.
//!
//! There is no TCP port, and the socket stands in a folder that only the server's user and mindful can enter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::Result;
use mindful_core::event::Events;
use mindful_core::settings::Settings;
use mindful_instance::account::Account;
use mindful_instance::place::base;
use mindful_instance::{Instance, Order, has_data};

mod complaint;
mod help;
mod kind;
mod options;
mod program;
mod programs;
mod settings;
mod share;

pub use mindful_instance::program::{Chosen, Purpose};
pub use options::{KEYS, Options, given_settings};

use crate::flavor::Flavor;
use programs::Programs;

/// The administrator of the private server, who has no password: the folder of the socket keeps everybody else out.
pub const USER: &str = "root";

/// A private server that is running. Dropping it stops the server in order.
pub struct Private {
    instance: Instance,
    flavor: Flavor,
}

impl Private {
    /// Finds programs and folder, repairs what must be, and starts the server for [`Purpose::Run`].
    pub fn open(usual: Flavor, settings: &Settings, events: &Arc<dyn Events>) -> Result<Self> {
        let options = Options::parse(settings, usual)?;
        let server = &options.server;
        let account = Account::choose(server.run_as.as_deref())?;
        let base = base(&account)?;
        let programs = Programs::find(&options, &base, &account, events.as_ref())?;
        help::check_settings(&programs, &server.set, &account)?;
        settings::check_cache(server.cache)?;
        let order = Order {
            folder: server.data_dir.clone().unwrap_or_else(|| default_folder(&base, &programs)),
            account,
            sessions: server.sessions,
            page_cache_limit: server.page_cache_limit,
        };
        let flavor = options.flavor;
        let program = program::Server { programs, mode: server.mode, cache: server.cache, set: server.set.clone() };
        let instance = Instance::open(order, Arc::new(program), events)?;
        Ok(Self { instance, flavor })
    }

    /// Refuses options that make no sense.
    pub fn accepts(usual: Flavor, settings: &Settings) -> Result<()> {
        Options::parse(settings, usual).map(drop)
    }

    /// The folder in which a server would be made; `None` where there is one. Changes nothing and fetches nothing.
    pub fn would_make(usual: Flavor, settings: &Settings, events: &dyn Events) -> Result<Option<PathBuf>> {
        let options = Options::parse(settings, usual)?;
        let account = Account::choose(options.server.run_as.as_deref())?;
        let folder = if let Some(given) = &options.server.data_dir {
            account.reach(given, "--data-dir")?
        } else {
            let base = base(&account)?;
            // What is not here yet would be fetched.
            let mut here = options.clone();
            here.server.fetch = false;
            let found = Programs::find(&here, &base, &account, events);
            default_folder(&base, &found.unwrap_or_else(|_| Programs::pinned(options.flavor)))
        };
        Ok((!has_data(&folder, kind::of(options.flavor))?).then_some(folder))
    }

    /// Whose server it is.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Sets the server up for `purpose`; tells whether it was restarted, so that all clients must connect anew.
    ///
    /// A load begins with [`Purpose::Load`] and ends, well or not, with [`Purpose::Run`]: a crash between them makes the
    /// next `open` begin with an empty data folder.
    pub fn serve(&self, purpose: Purpose) -> Result<bool> {
        self.instance.serve(purpose)
    }

    /// Makes room for `sessions` sessions; tells whether the server was restarted for it.
    pub fn carry(&self, sessions: u32) -> Result<bool> {
        self.instance.carry(sessions)
    }

    /// The server's socket.
    pub fn socket(&self) -> PathBuf {
        self.instance.socket_folder().join(kind::SOCKET)
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.instance.data()
    }

    /// The folder all of it stands in: data, socket and log.
    pub fn folder(&self) -> &Path {
        self.instance.folder()
    }

    /// Process id of the server, another one after each restart; 0 while there is none.
    pub fn pid(&self) -> u32 {
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

    /// Stops the server and removes its folder. Its programs stay.
    pub fn destroy(&self) -> Result<()> {
        self.instance.destroy()
    }
}

/// One folder for each line of versions, whose data another one does not read.
fn default_folder(base: &Path, programs: &Programs) -> PathBuf {
    let version = &programs.version;
    let line = format!("{}-{}.{}", version.flavor.name().to_lowercase(), version.major, version.minor);
    base.join("embedded").join(line)
}
