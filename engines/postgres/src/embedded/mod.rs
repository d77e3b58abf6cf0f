//! The private PostgreSQL server: mindful finds or fetches its binaries, makes its data directory, starts, restarts and
//! stops it, and repairs what a crash left.
//!
//! Nobody but the user of mindful can connect: there is no TCP port, the socket stands in a folder closed to others, and
//! the kernel tells the server who asks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::event::{Events, note};
use mindful_core::settings::Settings;
use mindful_core::{Error, Result, units};

mod access;
mod binaries;
mod cluster;
mod fetch;
mod folder;
mod options;
mod server;
mod settings;
mod socket;
mod stale;

pub use cluster::{DATABASE, USER};
pub use options::KEYS;
pub use server::PORT;
pub use settings::{Chosen, Phase};

use crate::direct_io;
use binaries::Binaries;
use folder::Folder;
use mindful_instance::account::Account;
use mindful_instance::memory_group::{self, MemoryGroup};
use mindful_instance::{files, shared_memory};
use options::{Mode, Options};
use server::{Server, Site};
use settings::Facts;
use socket::SocketFolder;

/// A private server that is running. Dropping it stops the server in order.
pub struct Embedded {
    options: Options,
    binaries: Binaries,
    account: Account,
    events: Arc<dyn Events>,
    // Fields are dropped in this order: the server first, the lock on its folder last.
    state: Mutex<State>,
    socket: SocketFolder,
    folder: Folder,
}

/// What changes with a restart.
#[derive(Debug)]
struct State {
    server: Option<Server>,
    phase: Phase,
    connections: u32,
    chosen: Vec<Chosen>,
    /// Behind the server, so that it is removed after it.
    group: Option<MemoryGroup>,
    free_bytes: u64,
}

impl Embedded {
    /// Finds binaries and folder, repairs what must be, and starts the server for [`Phase::Run`].
    pub fn open(settings: &Settings, events: &Arc<dyn Events>) -> Result<Self> {
        let options = Options::parse(settings)?;
        let account = Account::choose(options.run_as.as_deref())?;
        let base = base(&account)?;
        let binaries = Binaries::find(&options, &base, &account, events.as_ref())?;
        binaries.check_settings(&options.set, &account)?;
        settings::check_cache(options.cache)?;
        let default = default_folder(&base, binaries.major);
        let folder = Folder::open(options.data_dir.as_deref().unwrap_or(&default), &account)?;
        settle(&folder, events.as_ref())?;
        shared_memory::clear(&account);
        memory_group::clear(folder.path());
        if cluster::ensure(&folder, &binaries, &account)? {
            note(events.as_ref(), format!("made a PostgreSQL {} in {}", binaries.version, folder.path().display()));
        }
        let failed = |error: std::io::Error| Error::target(format!("{}: {error}", folder.path().display()), "");
        let socket = SocketFolder::make(&folder, &account).map_err(failed)?;
        let state = State {
            server: None,
            phase: Phase::Run,
            connections: settings::connections_for(options.sessions),
            chosen: Vec::new(),
            group: None,
            free_bytes: folder.free_bytes().map_err(failed)?,
        };
        let embedded =
            Self { options, binaries, account, events: Arc::clone(events), state: Mutex::new(state), socket, folder };
        embedded.apply(&mut embedded.state())?;
        Ok(embedded)
    }

    /// Refuses options that make no sense.
    pub fn accepts(settings: &Settings) -> Result<()> {
        Options::parse(settings).map(drop)
    }

    /// The folder in which a server would be made; `None` where there is one. Changes nothing and fetches nothing.
    pub fn would_make(settings: &Settings, events: &dyn Events) -> Result<Option<PathBuf>> {
        let options = Options::parse(settings)?;
        let account = Account::choose(options.run_as.as_deref())?;
        let folder = if let Some(given) = &options.data_dir {
            account.reach(given, "--data-dir")?
        } else {
            let base = base(&account)?;
            // What is not here yet would be fetched, in the version that was asked for.
            let here = Binaries::find(&Options { fetch: false, ..options.clone() }, &base, &account, events);
            default_folder(&base, here.map_or(options.version.major, |binaries| binaries.major))
        };
        Ok((!cluster::is_in(&folder)?).then_some(folder))
    }

    /// Sets the server up for `phase`; tells whether it was restarted, so that all clients must connect anew.
    ///
    /// A load begins with [`Phase::Load`] and ends, well or not, with [`Phase::Run`]: a crash between them makes the
    /// next `open` begin with an empty data directory.
    pub fn phase(&self, phase: Phase) -> Result<bool> {
        let mut state = self.state();
        state.phase = phase;
        let restarted = self.apply(&mut state)?;
        let marked = match phase {
            Phase::Load => self.folder.mark_loading(),
            Phase::Run => self.folder.unmark_loading(),
        };
        marked.map(|()| restarted)
    }

    /// Makes room for `sessions` sessions; tells whether the server was restarted for it.
    pub fn carry(&self, sessions: u32) -> Result<bool> {
        let mut state = self.state();
        state.connections = state.connections.max(settings::connections_for(sessions));
        self.apply(&mut state)
    }

    /// Folder of the server's socket.
    pub fn socket_dir(&self) -> PathBuf {
        self.socket.path().to_owned()
    }

    /// Port number in the name of the socket.
    pub fn port(&self) -> u16 {
        PORT
    }

    /// The PostgreSQL data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.data()
    }

    /// The folder all of it stands in: data, socket and log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Version of the server, such as `18.6`.
    pub fn version(&self) -> &str {
        &self.binaries.version
    }

    /// Process id of the postmaster, another one after each restart; 0 while there is no server.
    pub fn postmaster_pid(&self) -> u32 {
        self.state().server.as_ref().map_or(0, Server::pid)
    }

    /// The settings in force that mindful chose, each with its reason.
    pub fn chosen(&self) -> Vec<Chosen> {
        self.state().chosen.clone()
    }

    /// Bytes of the folder on storage.
    pub fn bytes(&self) -> u64 {
        self.folder.bytes()
    }

    /// What is in the folder and not mindful's, by its name there.
    pub fn foreign_files(&self) -> Result<Vec<String>> {
        self.folder.foreign_files()
    }

    /// Stops the server and removes its folder. Binaries stay.
    pub fn destroy(&self) -> Result<()> {
        let mut state = self.state();
        if let Some(mut server) = state.server.take() {
            server.stop()?;
        }
        shared_memory::clear(&self.account);
        self.folder.destroy()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the server, or restarts it when other settings are due.
    fn apply(&self, state: &mut State) -> Result<bool> {
        let chosen = settings::choose(&self.facts(state), state.phase, &self.options.set)?;
        if state.server.is_some() && state.chosen == chosen {
            return Ok(false);
        }
        if let Some(mut server) = state.server.take() {
            server.stop()?;
        }
        state.group = None;
        let failed = |error: std::io::Error| Error::target(format!("{}: {error}", self.folder.path().display()), "");
        let site = Site {
            binaries: &self.binaries,
            account: &self.account,
            data: self.folder.data(),
            socket: self.socket.path().to_owned(),
            log: self.folder.log(),
            lock: self.folder.server_lock(),
            access: access::Access::write(&self.folder).map_err(failed)?,
        };
        state.server = Some(Server::start(&site, &chosen, self.events.as_ref())?);
        state.chosen = chosen;
        state.group = self.bound_page_cache(state)?;
        Ok(true)
    }

    /// Takes the page cache out of the way, if asked for, where direct I/O does not do so already.
    fn bound_page_cache(&self, state: &State) -> Result<Option<MemoryGroup>> {
        let Some(limit) = self.options.page_cache_limit.filter(|_| state.phase == Phase::Run) else { return Ok(None) };
        if state.chosen.iter().any(|one| one.name == "debug_io_direct" && direct_io::of_data(&one.value)) {
            note(self.events.as_ref(), "page cache: out of the way by direct I/O, which needs no limit");
            return Ok(None);
        }
        let data = self.folder.data();
        let group = MemoryGroup::around(&stale::processes(&data), limit, self.folder.path(), &data.join("base"))?;
        let size = units::format_bytes(limit);
        note(
            self.events.as_ref(),
            format!("page cache: the server's memory, cache included, is held at {size} by a {}", group.means),
        );
        Ok(Some(group))
    }

    fn facts(&self, state: &State) -> Facts {
        let lio = self.options.mode == Mode::Lio;
        Facts {
            major: self.binaries.major,
            mode: self.options.mode,
            cache: self.options.cache,
            connections: state.connections,
            data_bytes: if lio { files::bytes_below(&self.folder.data().join("base")) } else { 0 },
            free_bytes: state.free_bytes,
            memory_bytes: settings::memory_bytes(),
            direct: takes_direct_io(&self.folder.data().join("PG_VERSION")),
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        let mut state = self.state();
        let stopped = state.server.take().is_none_or(|mut server| server.stop().is_ok());
        drop(state);
        // A load that was given up in order left nothing half-made.
        if stopped && cluster::was_shut_down(&self.folder.data()) {
            let _ = self.folder.unmark_loading();
        }
    }
}

/// Ends servers of earlier runs and removes what was half-made.
fn settle(folder: &Folder, events: &dyn Events) -> Result<()> {
    folder.sweep();
    let data = folder.data();
    if !data.exists() {
        return folder.unmark_loading();
    }
    stale::stop(&data, &folder.server_lock(), events)?;
    match (cluster::was_shut_down(&data), folder.is_loading()) {
        (true, false) => {}
        (true, true) => note(events, "an earlier load was interrupted: tables it completed are kept"),
        (false, false) => note(events, "the server was not shut down the last time: it recovers first"),
        (false, true) => {
            note(events, "a crash interrupted an earlier load: the data directory is made anew");
            folder.remove_data()?;
        }
    }
    folder.unmark_loading()
}

/// Where mindful keeps binaries and servers when nobody says otherwise: of the user's data directory, or, as root, a
/// place that the server's user can reach.
fn base(account: &Account) -> Result<PathBuf> {
    if account.switched {
        return Ok(PathBuf::from("/var/lib/mindful"));
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
    data.or_else(home)
        .map(|folder| folder.join("mindful"))
        .ok_or_else(|| Error::plan("HOME is not set, so there is no place for data", "give --data-dir and --fetch-dir"))
}

fn default_folder(base: &Path, major: u32) -> PathBuf {
    base.join("embedded").join(major.to_string())
}

#[cfg(target_os = "linux")]
fn takes_direct_io(file: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    files::open_file(file).is_ok() && std::fs::OpenOptions::new().read(true).custom_flags(direct).open(file).is_ok()
}

/// Elsewhere the server asks for uncached I/O in ways that every file system takes.
#[cfg(not(target_os = "linux"))]
fn takes_direct_io(_: &Path) -> bool {
    true
}
