//! An instance: one private server with its folder, from its making to its removal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::contract::OwnedObject;
use mindful_core::contract::description::HostView;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::{Error, Result, plan::units};

use crate::account::Account;
use crate::folder::Folder;
use crate::log_folder::LogFolder;
use crate::memory_group::{self, MemoryGroup};
use crate::patience::Patience;
use crate::program::{Chosen, Conditions, Program, Purpose, Site};
use crate::server::Server;
use crate::socket::SocketFolder;
use crate::{data, files, shared_memory, stale};

#[derive(Debug, Clone)]
pub struct Order {
    pub folder: PathBuf,
    /// Folder of the server's log; `None` keeps its place, or puts it into a new data folder.
    pub log: Option<PathBuf>,
    pub account: Account,
    /// Sessions that it must support from its first start on.
    pub sessions: u32,
    /// Most memory of the server and of the page cache of its reads, bytes.
    pub page_cache_limit: Option<u64>,
}

/// A private server that is running. Dropping it stops the server in order.
pub struct Instance {
    program: Arc<dyn Program>,
    account: Account,
    page_cache_limit: Option<u64>,
    events: Arc<dyn Events>,
    patience: Arc<Patience>,
    // Fields are dropped in this order: the server first, the lock on its folder last.
    state: Mutex<State>,
    socket: SocketFolder,
    folder: Folder,
}

/// State that changes with a restart.
struct State {
    server: Option<Server>,
    purpose: Purpose,
    sessions: u32,
    chosen: Vec<Chosen>,
    /// Declared after the server, so that it is dropped after it.
    group: Option<MemoryGroup>,
    free_log_bytes: u64,
}

impl Instance {
    /// Locks the folder, repairs it if necessary, creates a missing data folder, and starts the server for
    /// [`Purpose::Run`].
    pub fn open(order: Order, program: Arc<dyn Program>, events: &Arc<dyn Events>) -> Result<Self> {
        let account = order.account;
        let folder = Folder::open(&order.folder, order.log.as_deref(), &account, &program)?;
        settle(&folder, program.as_ref(), events.as_ref())?;
        shared_memory::clear(&account);
        memory_group::clear(folder.path());
        if data::ensure(&folder, program.as_ref(), &account)? {
            let what = format!("{} {}", program.kind().name, program.version());
            emit_note(events.as_ref(), format!("made a {what} in {}", folder.describe_place()));
        }
        let failed = |error: std::io::Error| Error::target(format!("{}: {error}", folder.path().display()), "");
        let socket = SocketFolder::make(&folder, &account).map_err(failed)?;
        let state = State {
            server: None,
            purpose: Purpose::Run,
            sessions: order.sessions,
            chosen: Vec::new(),
            group: None,
            free_log_bytes: folder.free_log_bytes().map_err(failed)?,
        };
        let instance = Self {
            program,
            account,
            page_cache_limit: order.page_cache_limit,
            events: Arc::clone(events),
            patience: Arc::default(),
            state: Mutex::new(state),
            socket,
            folder,
        };
        instance.apply(&mut instance.state())?;
        Ok(instance)
    }

    /// Sets the server up for `purpose`; returns whether it was restarted, so that all clients must connect again.
    ///
    /// A load begins with [`Purpose::Load`] and ends, well or not, with [`Purpose::Run`]: a crash between them makes the
    /// next `open` begin with an empty data folder.
    pub fn serve(&self, purpose: Purpose) -> Result<bool> {
        let mut state = self.state();
        state.purpose = purpose;
        let restarted = self.apply(&mut state)?;
        let marked = match purpose {
            Purpose::Load => self.folder.mark_loading(),
            Purpose::Run => self.folder.unmark_loading(),
        };
        marked.map(|()| restarted)
    }

    /// Makes room for `sessions` sessions; returns whether the server was restarted for it.
    pub fn carry(&self, sessions: u32) -> Result<bool> {
        let mut state = self.state();
        state.sessions = state.sessions.max(sessions);
        self.apply(&mut state)
    }

    /// Restarts the server, so that its cache is empty. All clients must connect again.
    pub fn restart(&self) -> Result<()> {
        let mut state = self.state();
        state.chosen.clear();
        self.apply(&mut state).map(drop)
    }

    pub fn socket_folder(&self) -> &Path {
        self.socket.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.socket_folder().join(self.program.kind().socket)
    }

    /// Version of the server, such as `18.6`.
    pub fn version(&self) -> &str {
        self.program.version()
    }

    pub fn data(&self) -> PathBuf {
        self.folder.data()
    }

    /// The folder that the server writes its log into, if `--log-dir` moved it out of the data folder.
    pub fn log_files(&self) -> Option<PathBuf> {
        self.folder.log.as_ref().map(LogFolder::files)
    }

    /// The folder that contains data, socket and the server's log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Process id of the server's first process, another one after each restart; 0 while there is no server.
    pub fn pid(&self) -> u32 {
        self.state().server.as_ref().map_or(0, Server::pid)
    }

    /// The settings in force that mindful chose, each with its reason.
    pub fn chosen(&self) -> Vec<Chosen> {
        self.state().chosen.clone()
    }

    pub fn host(&self) -> HostView {
        HostView {
            local: true,
            server_pid: Some(self.pid()).filter(|pid| *pid != 0),
            data_paths: vec![self.data()],
            log_paths: self.log_files().into_iter().collect(),
            log_apart: self.folder.log.as_ref().is_some(),
            private: true,
            ..HostView::default()
        }
    }

    /// The folder as a cleanup lists it. It is kept if the folder, or the server by the names of `others`, contains
    /// foreign objects. It is also kept if an object in the `inventory` of the dataset is kept.
    pub fn owned(&self, others: Vec<String>, inventory: &[OwnedObject]) -> Result<OwnedObject> {
        let mut foreign = self.folder.foreign_files()?;
        foreign.extend(others);
        foreign.sort();
        foreign.dedup();
        let kept = inventory.iter().find(|object| object.kept_because.is_some()).map(|object| &object.name);
        Ok(OwnedObject {
            name: self.folder.describe_place(),
            bytes: Some(self.folder.bytes()),
            kept_because: match foreign.as_slice() {
                [] => kept.map(|kept| format!("it also holds {kept}, not mindful's")),
                [one] => Some(format!("it also holds {one}, not mindful's")),
                [first, more @ ..] => Some(format!("it also holds {first} and {} more, not mindful's", more.len())),
            },
        })
    }

    /// Ends the wait for a start or a stop of the server that is under way, from another thread. A server that was stopping
    /// is ended at once, and recovers when it starts again.
    pub fn cut_wait_short(&self) {
        self.patience.cut_short();
    }

    pub fn close(&self) {
        let mut state = self.state();
        let _wait = self.patience.wait();
        let stopped = state.server.take().is_none_or(|mut server| match server.stop(self.events.as_ref()) {
            Ok(()) => true,
            Err(error) => {
                emit_note(self.events.as_ref(), error.to_string());
                false
            }
        });
        drop(state);
        // An aborted load that stopped in order left nothing half-made.
        if stopped && was_shut_down(&self.folder, self.program.as_ref()) {
            let _ = self.folder.unmark_loading();
        }
    }

    /// Stops the server and removes its folder. Its programs stay.
    pub fn destroy(&self) -> Result<()> {
        let mut state = self.state();
        if let Some(mut server) = state.server.take() {
            server.stop(self.events.as_ref())?;
        }
        shared_memory::clear(&self.account);
        self.folder.destroy()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the server, or restarts it when other settings are due.
    fn apply(&self, state: &mut State) -> Result<bool> {
        let data = self.folder.data();
        let chosen = self.program.choose(&Conditions {
            purpose: state.purpose,
            sessions: state.sessions,
            data: &data,
            free_log_bytes: state.free_log_bytes,
            direct: files::takes_direct_io(&data.join(self.program.kind().first_file)),
        })?;
        if state.server.is_some() && state.chosen == chosen {
            return Ok(false);
        }
        let _wait = self.patience.wait();
        if let Some(mut server) = state.server.take() {
            server.stop(self.events.as_ref())?;
            if self.patience.is_cut_short() {
                return Err(Error::interrupted(format!("interrupted while {} restarted", self.program.kind().name)));
            }
        }
        state.group = None;
        let failed = |error: std::io::Error| Error::target(format!("{}: {error}", self.folder.path().display()), "");
        let (folder, socket) = (self.folder.path(), self.socket.path());
        let site = Site { account: &self.account, folder, data, log_dir: self.log_files(), socket };
        self.remove_pid_files(&site);
        self.program.before_start(&site).map_err(failed)?;
        let server = Server::start(&self.program, &site, &chosen, &self.patience, self.events.as_ref())?;
        state.server = Some(server);
        state.chosen = chosen;
        state.group = self.bound_page_cache(state)?;
        Ok(true)
    }

    /// Removes the numbers that a killed server left: its lock is free, so a process with such a number is another one,
    /// or a dead one that its parent does not wait for.
    fn remove_pid_files(&self, site: &Site<'_>) {
        let kind = self.program.kind();
        let left: Vec<PathBuf> = kind.pid_files.iter().map(|name| site.data.join(name)).collect();
        if !stale::processes(&site.data, kind).is_empty() || !left.iter().any(|f| f.exists()) {
            return;
        }
        self.program.release(&site.data, &self.account);
        for file in left.into_iter().chain(kind.beside_socket.map(|name| site.socket.join(name))) {
            // It is not always there.
            let _ = fs::remove_file(file);
        }
    }

    /// Prevents page caching, if requested and if direct I/O does not do so already.
    fn bound_page_cache(&self, state: &State) -> Result<Option<MemoryGroup>> {
        let Some(limit) = self.page_cache_limit.filter(|_| state.purpose == Purpose::Run) else { return Ok(None) };
        if self.program.passes_page_cache(&state.chosen) {
            emit_note(self.events.as_ref(), "page cache: out of the way by direct I/O, which needs no limit");
            return Ok(None);
        }
        let data = self.folder.data();
        let processes = stale::processes(&data, self.program.kind());
        let group = MemoryGroup::around(&processes, limit, self.folder.path(), &data.join(self.program.tables()))?;
        let size = units::format_bytes(limit);
        emit_note(
            self.events.as_ref(),
            format!("page cache: the server's memory, cache included, is held at {size} by a {}", group.means),
        );
        Ok(Some(group))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.close();
    }
}

/// Ends servers of earlier runs and removes half-made files.
fn settle(folder: &Folder, program: &dyn Program, events: &dyn Events) -> Result<()> {
    folder.sweep();
    let data = folder.data();
    if !data.exists() {
        return folder.unmark_loading();
    }
    stale::stop(folder.path(), &data, program.kind(), events)?;
    match (was_shut_down(folder, program), folder.is_loading()) {
        (true, false) => {}
        (true, true) => emit_note(events, "an earlier load was interrupted: tables it completed are kept"),
        (false, false) => emit_note(events, "the server was not shut down the last time: it recovers first"),
        (false, true) => {
            emit_note(events, "a crash interrupted an earlier load: the data directory is made again");
            folder.remove_data()?;
        }
    }
    folder.unmark_loading()
}

fn was_shut_down(folder: &Folder, program: &dyn Program) -> bool {
    program.was_shut_down(&folder.data(), stale::exit_status(folder.path()))
}
