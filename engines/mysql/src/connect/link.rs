//! The connections of a target.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::{Error, Result};
use mindful_sql::connect::abort::{AbortState, Patience, interrupted};
use mindful_sql::connect::control::{Control, ControlGuard};
use mindful_sql::connect::driver_panic::caught;
use mindful_sql::observe::session_reads;

use crate::connect::abort::{Standing, Use};
use crate::connect::{Conn, Server, thread};
use crate::dataset::storage::Storage;
use crate::error::{Failure, no_mysql};
use crate::flavor::Version;
use crate::work::switches;

pub(crate) struct Link {
    server: Server,
    control: Control<Open>,
    standing: Arc<Standing>,
    abort: AbortState,
    storage: OnceLock<Storage>,
}

/// An open connection that is registered with its link.
pub(crate) struct Open {
    conn: Conn,
    what: Use,
    place: u64,
    standing: Arc<Standing>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.standing.leave(self.place);
    }
}

impl Deref for Open {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
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
    pub(crate) fn connect_session(&self, placement: Placement) -> Result<(Open, String)> {
        let place = session_name(placement.session);
        let flavor = self.version()?.flavor;
        let mut session = self.open(Use::Session).map_err(|error| error.at(&place))?;
        self.run_on(&mut session, &place, |conn| switches::set(conn, flavor))?;
        // MariaDB lists all connections for a query of one thread.
        let seen = self.server.is_local() && placement.sessions as usize <= session_reads::MOST;
        let thread = if seen { thread::of_connection(&mut session, flavor) } else { None };
        self.standing.works_for(session.place, placement.session, thread);
        Ok((session, place))
    }

    /// The session is set up: from now on answers may take any time.
    pub(crate) fn wait_for_answers(&self, session: &mut Open, place: &str) -> Result<()> {
        self.abort.refuse_interrupted(place)?;
        session.wait(None).map_err(|failure| failure.at(place))
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
        let mut conn = self.server.connect()?;
        let place = self.standing.enter(what, &mut conn);
        Ok(Open { conn, what, place, standing: Arc::clone(&self.standing) })
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
        control.set_limit(self.server.limit(Patience::Tables));
        let done = self.run_on(&mut control, place, work);
        control.set_limit(self.server.limit(Patience::Question));
        done
    }

    /// Runs `work` on `open`. Its failure is an interruption if the server was told to end it.
    pub(crate) fn run_on<T>(
        &self,
        open: &mut Open,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        let done = caught(|| work(&mut open.conn));
        let done = done.unwrap_or_else(|words| Err(Failure::Ours(no_mysql(&format!(" ({words})")))));
        done.map_err(|failure| match failure {
            Failure::Ours(error) => error,
            _ if self.abort.is_aborted() || (open.what == Use::Session && self.abort.is_interrupted()) => {
                interrupted(place)
            }
            Failure::NotEnded(_) => self.end_statement(open.place, failure.at(place)),
            other => other.at(place),
        })
    }

    /// Has the server end the statement of the connection at `place`, which reached its time limit.
    fn end_statement(&self, place: u64, mut error: Error) -> Error {
        if let Some(number) = self.standing.end_statement(&self.server, place) {
            error.next = format!("{}; the server may still run the statement; KILL {number} ends it", error.next);
        }
        error
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
