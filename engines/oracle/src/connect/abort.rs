//! Calls on separate threads, so that a waiter can leave when a stop is requested. The driver cannot cancel: a
//! statement that never ends is abandoned with its connection, which the end of the process closes.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::{SliceOrder, SliceReport};
use mindful_core::{Error, Result, Session};
use mindful_sql::connect::abort::AbortState;

use crate::codes;
use crate::connect::driver::{Bind, Connection, Done, Failure, Row};
use crate::connect::{Doing, explain};

type Answer<T> = std::result::Result<T, Failure>;

const LOOK: Duration = Duration::from_millis(50);
/// Remaining time of running work after a stop, so that a slice that is nearly over can report.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Does `work`, and continues without it where that is interrupted.
pub(crate) fn done<T: Send + 'static>(abort: &AbortState, work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    let (sender, receiver) = mpsc::channel();
    let spawned = Builder::new().name("oracle".to_owned()).spawn(move || drop(sender.send(work())));
    spawned.map_err(|error| Failure::Lost(format!("cannot start a thread for it: {error}")))?;
    let mut asked: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Lost("its thread broke down".to_owned())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if abort.is_interrupted() && asked.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return Err(Failure::Left);
        }
    }
}

/// A connection or a session with calls, and an end, that can be abandoned.
pub(crate) struct Leavable<T: Send + 'static> {
    /// `None` after a call was abandoned.
    value: Option<T>,
    abort: Arc<AbortState>,
}

impl<T: Send + 'static> Leavable<T> {
    pub(crate) fn new(value: T, abort: Arc<AbortState>) -> Self {
        Self { value: Some(value), abort }
    }

    fn call<R: Send + 'static>(&mut self, call: impl FnOnce(&mut T) -> R + Send + 'static) -> Answer<R> {
        let mut value = self.value.take().ok_or(Failure::Left)?;
        let (called, value) = done(&self.abort, move || {
            let called = call(&mut value);
            (called, value)
        })?;
        self.value = Some(value);
        Ok(called)
    }
}

impl Connection for Leavable<Box<dyn Connection>> {
    fn execute(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Answer<Done> {
        let (sql, binds) = (sql.to_owned(), binds.to_vec());
        self.call(move |connection| connection.execute(&sql, &binds, within))?
    }

    fn query(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Answer<Vec<Row>> {
        let (sql, binds) = (sql.to_owned(), binds.to_vec());
        self.call(move |connection| connection.query(&sql, &binds, within))?
    }

    fn commit(&mut self) -> Answer<()> {
        self.call(|connection| connection.commit())?
    }
}

impl<T: Send + 'static> Drop for Leavable<T> {
    fn drop(&mut self) {
        // The driver takes its leave of the server, and waits for the answer; a session counts its remaining work.
        if let Some(value) = self.value.take() {
            let _ = done(&self.abort, move || drop(value));
        }
    }
}

/// A session with slices on separate threads.
pub(crate) struct LeavableSession<S: Send + 'static> {
    session: Leavable<S>,
    events: Arc<dyn Events>,
    place: String,
}

impl<S: Session + Send> LeavableSession<S> {
    /// Opens the session of `place`; abandoned work is reported to `events`.
    pub(crate) fn open(
        abort: &Arc<AbortState>,
        events: Arc<dyn Events>,
        place: String,
        open: impl FnOnce() -> Result<S> + Send + 'static,
    ) -> Result<Self> {
        let session = done(abort, open).map_err(|failure| explain(&failure, Doing::Work, &place))??;
        Ok(Self { session: Leavable::new(session, Arc::clone(abort)), events, place })
    }
}

impl<S: Session + Send> Session for LeavableSession<S> {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        if self.session.value.is_none() {
            return Err(Error::interrupted(format!("{} was interrupted before", self.place)));
        }
        let order = *order;
        let report = self.session.call(move |session| session.run_slice(&order));
        if matches!(report, Err(Failure::Left)) {
            let text = "A statement did not end soon after the run was interrupted. The server ends it or rolls it \
                        back.";
            self.events.emit(Event::Finding(codes::ORA_STATEMENT_LEFT.finding(text, self.place.clone())));
        }
        report.map_err(|failure| explain(&failure, Doing::Work, &self.place))?
    }
}
