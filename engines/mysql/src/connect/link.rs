//! The connections of a target.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mindful_sql::connect::abort::{AbortState, Patience, interrupted};
use mindful_sql::connect::control::{Control, ControlGuard};
use mindful_sql::connect::driver_panic::caught;
use mindful_sql::observe::session_reads;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::connect::abort::Standing;
use crate::connect::direct::Direct;
use crate::connect::explain::{io_fault, no_mysql};
use crate::connect::relay::Handle;
use crate::connect::{Server, Socket, Use, is_not_ended, thread};
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::flavor::Version;
use crate::work::switches;

pub(crate) struct Link {
    server: Server,
    control: Control<Open>,
    standing: Arc<Standing>,
    abort: AbortState,
    storage: OnceLock<Storage>,
}

/// A registered connection of a link. It is removed before its socket is closed, because the next socket may get the
/// same number.
struct Entry {
    place: u64,
    standing: Arc<Standing>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.standing.leave(self.place);
    }
}

/// An open connection that is registered with its link.
pub(crate) struct Open {
    entry: Entry,
    connection: Conn,
    relay: Handle,
}

impl Open {
    /// Allows answers to take as long as work on whole tables from now on.
    pub(crate) fn allow_work_on_tables(&self) {
        self.relay.set_patience(Patience::Tables);
    }
}

impl Deref for Open {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.connection
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.connection
    }
}

/// The connection of a session that is set up and measures.
pub(crate) struct Measuring {
    _entry: Entry,
    direct: Direct,
}

impl Measuring {
    /// From now on answers may take any time.
    pub(crate) fn wait_for_answers(&self, place: &str) -> Result<()> {
        self.direct.socket().wait(None).map_err(|error| io_fault(&error).at(place))
    }
}

impl Deref for Measuring {
    type Target = Direct;

    fn deref(&self) -> &Direct {
        &self.direct
    }
}

impl DerefMut for Measuring {
    fn deref_mut(&mut self) -> &mut Direct {
        &mut self.direct
    }
}

impl Link {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            control: Control::default(),
            standing: Arc::default(),
            abort: AbortState::default(),
            storage: OnceLock::new(),
        }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn version(&self) -> Result<Version> {
        self.run("asking for the version", |control| {
            let text: Option<String> = control.query_first("SELECT VERSION()")?;
            let text = text.unwrap_or_default();
            let version = Version::parse(&text);
            version.ok_or_else(|| {
                Error::target(format!("the server reports the version {text}"), "name another one").into()
            })
        })
    }

    /// The storage of its rows; queried once.
    pub(crate) fn storage(&self) -> Result<&Storage> {
        if let Some(known) = self.storage.get() {
            return Ok(known);
        }
        let found = self.run("asking for InnoDB", Storage::read)?;
        Ok(self.storage.get_or_init(|| found))
    }

    pub(crate) fn connect(&self) -> Result<Open> {
        self.open(Use::Other)
    }

    /// A connection for the session in `placement`, set up for reads, and how messages name it.
    pub(crate) fn connect_session(&self, _workload: &Workload, placement: Placement) -> Result<(Open, String)> {
        let place = session_name(placement.session);
        let flavor = self.version()?.flavor;
        let mut session = self.open(Use::Session).map_err(|error| error.at(&place))?;
        self.run_on(&mut session, &place, |conn| switches::set(conn, flavor))?;
        // MariaDB lists all connections for a query of one thread.
        let seen = self.server.is_local() && placement.sessions as usize <= session_reads::MOST;
        let thread = if seen { thread::of_connection(&mut session, flavor) } else { None };
        self.standing.works_for(session.entry.place, placement.session, thread);
        Ok((session, place))
    }

    /// Takes the connection of a session from the driver, once all its statements are prepared.
    pub(crate) fn measure(&self, session: Open, place: &str) -> Result<Measuring> {
        let Open { entry, connection, relay } = session;
        Socket::from_connection(&connection).sever();
        let within = self.server.patience();
        let direct = Direct::take_over(&relay, within).and_then(|direct| {
            direct.socket().wait(Some(within))?;
            Ok(direct)
        });
        let direct = direct.map_err(|error| io_fault(&error).at(place))?;
        entry.standing.move_to(entry.place, direct.socket());
        self.abort.refuse_interrupted(place)?;
        Ok(Measuring { _entry: entry, direct })
    }

    /// The sessions by the server's numbers of their connections.
    pub(crate) fn sessions(&self) -> BTreeMap<u32, u32> {
        self.standing.sessions()
    }

    /// The server's numbers of all connections of this process.
    pub(crate) fn connections(&self) -> Vec<u32> {
        self.standing.numbers()
    }

    /// The threads of this host that serve the sessions, as far as they are known.
    pub(crate) fn session_threads(&self) -> Vec<u32> {
        self.standing.threads()
    }

    pub(crate) fn abort_state(&self) -> &AbortState {
        &self.abort
    }

    fn refuse_aborted(&self) -> Result<()> {
        self.abort.refuse_aborted(|| self.server.place())
    }

    fn open(&self, what: Use) -> Result<Open> {
        self.refuse_aborted()?;
        let (mut connection, relay) = self.server.connect(what)?;
        let place = self.standing.enter(what, &mut connection);
        Ok(Open { entry: Entry { place, standing: Arc::clone(&self.standing) }, connection, relay })
    }

    /// The connection for everything that is not measured. Held exclusively.
    pub(crate) fn control(&self) -> Result<ControlGuard<'_, Open>> {
        let answers = |open: &mut Open| !self.abort.is_aborted() && self.server.answers(open);
        self.control.get(answers, || self.connect())
    }

    /// Runs `work` on the control connection. `place` names the activity in messages.
    pub(crate) fn run<T>(&self, place: &str, work: impl FnOnce(&mut Conn) -> Result<T, Failure>) -> Result<T> {
        let mut control = self.control()?;
        self.run_on(&mut control, place, work)
    }

    /// The same for work that takes the longer the larger the tables are.
    pub(crate) fn run_on_tables<T>(
        &self,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        let mut control = self.control()?;
        control.relay.set_patience(Patience::Tables);
        let done = self.run_on(&mut control, place, work);
        control.relay.set_patience(Patience::Question);
        done
    }

    pub(crate) fn run_on<T>(
        &self,
        connection: &mut Conn,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        let socket = Socket::from_connection(connection);
        understood(|| work(connection)).map_err(|failure| self.failed(failure, place, socket))
    }

    /// The error of failed work on the connection of `socket`; ends a statement that reached its time limit.
    fn failed(&self, failure: Failure, place: &str, socket: Socket) -> Error {
        let left = matches!(&failure, Failure::Server(error) if is_not_ended(error));
        let left = left.then(|| self.standing.end_statement(&self.server, socket)).flatten();
        let mut error = explain(failure, place, self.abort.is_aborted());
        if let Some(number) = left {
            error.next = format!("{}; the server may still run the statement; KILL {number} ends it", error.next);
        }
        error
    }

    /// Does `work` on the connection of a session that measures.
    pub(crate) fn work<T>(
        &self,
        connection: &mut Direct,
        place: &str,
        work: impl FnOnce(&mut Direct) -> Result<T, Failure>,
    ) -> Result<T> {
        understood(|| work(connection)).map_err(|failure| explain(failure, place, self.abort.is_interrupted()))
    }

    /// Ends the current work of sessions, by another connection.
    pub(crate) fn interrupt(&self) {
        self.abort.set_interrupted(true);
        self.standing.end(&self.server, Some(Use::Session));
    }

    /// Marks all failures as interruptions from now on, sends no more requests, and ends the current work of all
    /// connections.
    pub(crate) fn abort(&self) {
        self.abort.abort();
        self.standing.end(&self.server, None);
    }

    pub(crate) fn release(&self) {
        self.control.release();
    }
}

/// The result of `work`; an error if its driver panicked because of an unknown answer.
fn understood<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    caught(work).unwrap_or_else(|words| Err(Failure::Ours(no_mysql(&format!(" ({words})")))))
}

/// The error of failed work; `on_purpose` if its server was told to end it.
fn explain(failure: Failure, place: &str, on_purpose: bool) -> Error {
    if on_purpose && matches!(failure, Failure::Server(_)) { interrupted(place) } else { failure.at(place) }
}
