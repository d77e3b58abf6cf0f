//! The connections of a target.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::connect::Server;
use crate::connect::abort::{Standing, Use};
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::flavor::Version;
use crate::work::switches;

/// Connections to one target.
pub struct Link {
    server: Server,
    control: Mutex<Option<Open>>,
    standing: Arc<Standing>,
    interrupted: AtomicBool,
    given_up: AtomicBool,
    storage: OnceLock<Storage>,
}

/// A connection that is known to its link as long as it stands.
pub struct Open {
    connection: Conn,
    place: u64,
    standing: Arc<Standing>,
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

/// The connection for everything that is not measured, while somebody has it.
pub struct Control<'a>(MutexGuard<'a, Option<Open>>);

impl Deref for Control<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.0.as_ref().expect("made before it is handed out")
    }
}

impl DerefMut for Control<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        self.0.as_mut().expect("made before it is handed out")
    }
}

impl Link {
    /// A link to `server`; connects nothing yet.
    pub fn new(server: Server) -> Self {
        Self {
            server,
            control: Mutex::default(),
            standing: Arc::default(),
            interrupted: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            storage: OnceLock::new(),
        }
    }

    /// The server it leads to.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What it is.
    pub fn version(&self) -> Result<Version> {
        self.run("asking for the version", |control| {
            let text: Option<String> = control.query_first("SELECT VERSION()")?;
            let text = text.unwrap_or_default();
            let version = Version::parse(&text);
            version.ok_or_else(|| Error::target(format!("the server calls itself {text}"), "name another one").into())
        })
    }

    /// What keeps its rows; asked once.
    pub fn storage(&self) -> Result<&Storage> {
        if let Some(known) = self.storage.get() {
            return Ok(known);
        }
        let found = self.run("asking for InnoDB", Storage::read)?;
        Ok(self.storage.get_or_init(|| found))
    }

    /// A new connection, not for a session.
    pub fn connect(&self) -> Result<Open> {
        self.open(Use::Other)
    }

    /// A connection for the session in `placement`, set up for reads, and how messages name it.
    pub fn connect_session(&self, _workload: &Workload, placement: Placement) -> Result<(Open, String)> {
        let place = session_name(placement.session);
        let flavor = self.version()?.flavor;
        let mut session = self.open(Use::Session).map_err(|error| error.at(&place))?;
        self.run_on(&mut session, &place, |conn| switches::set(conn, flavor))?;
        Ok((session, place))
    }

    /// The server's numbers of the sessions' connections.
    pub fn sessions(&self) -> Vec<u32> {
        self.standing.sessions()
    }

    /// Refuses to begin anything once it was given up: its server may let nobody in, and each try would be waited for.
    fn refuse_given_up(&self) -> Result<()> {
        if self.given_up.load(Ordering::SeqCst) {
            return Err(Error::interrupted(format!("what was asked of {} was interrupted", self.server.place())));
        }
        Ok(())
    }

    fn open(&self, what: Use) -> Result<Open> {
        self.refuse_given_up()?;
        let mut connection = self.server.connect()?;
        let place = self.standing.enter(what, &mut connection);
        Ok(Open { connection, place, standing: Arc::clone(&self.standing) })
    }

    /// The connection for everything that is not measured; made anew when it broke. Nobody else has it meanwhile.
    pub fn control(&self) -> Result<Control<'_>> {
        let mut held = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        self.refuse_given_up()?;
        let stands = held.as_mut().is_some_and(|open| self.server.answers(open));
        if !stands {
            *held = None;
            *held = Some(self.connect()?);
        }
        Ok(Control(held))
    }

    /// Does `work` on the control connection. `place` is what is being done, for the message.
    pub fn run<T>(&self, place: &str, work: impl FnOnce(&mut Conn) -> Result<T, Failure>) -> Result<T> {
        let mut control = self.control()?;
        self.run_on(&mut control, place, work)
    }

    /// The same on another connection.
    pub fn run_on<T>(
        &self,
        connection: &mut Conn,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        work(connection).map_err(|failure| Self::failed(failure, place, &self.given_up))
    }

    /// The same for a session, which may have been interrupted on purpose.
    pub fn work<T>(
        &self,
        connection: &mut Conn,
        place: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
    ) -> Result<T> {
        work(connection).map_err(|failure| Self::failed(failure, place, &self.interrupted))
    }

    fn failed(failure: Failure, place: &str, on_purpose: &AtomicBool) -> Error {
        if on_purpose.load(Ordering::SeqCst) && matches!(failure, Failure::Server(_)) {
            return Error::interrupted(format!("{place} was interrupted"));
        }
        failure.at(place)
    }

    /// From now on sessions end because they were asked to, until work is prepared anew.
    pub fn set_interrupted(&self, interrupted: bool) {
        self.interrupted.store(interrupted, Ordering::SeqCst);
    }

    /// Whether sessions were asked to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Ends what sessions are at, by another connection.
    pub fn interrupt(&self) {
        self.set_interrupted(true);
        self.standing.end(&self.server, Some(Use::Session));
    }

    /// From now on whatever fails has been interrupted, and nothing more is asked; all that any connection is at is ended.
    pub fn abort(&self) {
        self.given_up.store(true, Ordering::SeqCst);
        self.set_interrupted(true);
        self.standing.end(&self.server, None);
    }

    /// Closes the control connection, so that a server can be restarted.
    pub fn release(&self) {
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
