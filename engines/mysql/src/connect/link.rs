//! The connections of a target.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mindful_sql::connect::abort::{AbortState, interrupted};
use mindful_sql::connect::control::{Control, ControlGuard};
use mindful_sql::connect::driver_panic::caught;
use mindful_sql::observe::session_reads;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::connect::abort::{Standing, Use};
use crate::connect::explain::{io_fault, no_mysql};
use crate::connect::{Server, Socket, thread};
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

/// A connection that its link knows while it is open.
pub(crate) struct Open {
    connection: Conn,
    place: u64,
    standing: Arc<Standing>,
}

impl Open {
    /// From now on answers may take any time: a session measures.
    pub(crate) fn wait_for_answers(&self, place: &str) -> Result<()> {
        Socket::from_connection(&self.connection).wait(None).map_err(|error| io_fault(&error).at(place))
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

impl Drop for Open {
    fn drop(&mut self) {
        self.standing.leave(self.place);
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

    /// What keeps its rows; asked once.
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
        // To be asked for its thread, MariaDB lists all connections.
        let seen = self.server.is_local() && placement.sessions as usize <= session_reads::MOST;
        let thread = if seen { thread::of_connection(&mut session, flavor) } else { None };
        self.standing.works_for(session.place, placement.session, thread);
        Ok((session, place))
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
        let mut connection = match what {
            Use::Session => self.server.connect_session()?,
            Use::Other => self.server.connect()?,
        };
        let place = self.standing.enter(what, &mut connection);
        Ok(Open { connection, place, standing: Arc::clone(&self.standing) })
    }

    /// The connection for everything that is not measured. Held exclusively.
    pub(crate) fn control(&self) -> Result<ControlGuard<'_, Open>> {
        let answers = |open: &mut Open| !self.abort.is_aborted() && self.server.answers(open);
        self.control.get(answers, || self.connect())
    }

    /// Does `work` on the control connection. `place` is what is being done, for the message.
    pub(crate) fn run<T>(&self, place: &str, work: impl FnOnce(&mut Conn) -> Result<T, Failure>) -> Result<T> {
        let mut control = self.control()?;
        self.run_on(&mut control, place, work)
    }

    pub(crate) fn run_on<T>(
        &self,
        connection: &mut Conn,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        understood(|| work(connection)).map_err(|failure| explain(failure, place, self.abort.is_aborted()))
    }

    pub(crate) fn work<T>(
        &self,
        connection: &mut Conn,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        understood(|| work(connection)).map_err(|failure| explain(failure, place, self.abort.is_interrupted()))
    }

    /// Ends what sessions are at, by another connection.
    pub(crate) fn interrupt(&self) {
        self.abort.set_interrupted(true);
        self.standing.end(&self.server, Some(Use::Session));
    }

    /// From now on whatever fails has been interrupted, and nothing more is asked; all that any connection is at is ended.
    pub(crate) fn abort(&self) {
        self.abort.abort();
        self.standing.end(&self.server, None);
    }

    pub(crate) fn release(&self) {
        self.control.release();
    }
}

/// What `work` returns; an error where its driver panicked because it did not know the answer.
fn understood<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    caught(work).unwrap_or_else(|words| Err(Failure::Ours(no_mysql(&format!(" ({words})")))))
}

/// The error of work that failed; `on_purpose` where its server was asked to end it.
fn explain(failure: Failure, place: &str, on_purpose: bool) -> Error {
    if on_purpose && matches!(failure, Failure::Server(_)) { interrupted(place) } else { failure.at(place) }
}
