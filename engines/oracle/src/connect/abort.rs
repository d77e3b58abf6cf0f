//! Calls on separate threads, so that a waiter can leave when a stop is requested. The driver cannot cancel: a
//! statement that never ends is abandoned with its connection, which the end of the process closes.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::{SliceOrder, SliceReport};
use mindful_core::{Error, Result, Session};
use mindful_sql::connect::abort::AbortState;

use crate::codes;
use crate::connect::driver::{Bind, Connection, Done, Failure, Row};
use crate::connect::{Doing, explain};

const LOOK: Duration = Duration::from_millis(50);
/// Remaining time of running work after a stop, so that a slice that is nearly over can report.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Does `work`, and continues without it where that is interrupted.
pub(crate) fn done<T: Send + 'static>(
    abort: &AbortState,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::result::Result<T, Failure> {
    let (sender, receiver) = mpsc::channel();
    spawn(move || drop(sender.send(work())))?;
    wait(&receiver, abort)
}

fn spawn(work: impl FnOnce() + Send + 'static) -> std::result::Result<JoinHandle<()>, Failure> {
    let spawned = Builder::new().name("oracle".to_owned()).spawn(work);
    spawned.map_err(|error| Failure::Lost(format!("cannot start a thread for it: {error}")))
}

fn wait<T>(receiver: &Receiver<T>, abort: &AbortState) -> std::result::Result<T, Failure> {
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

/// A connection with calls, and an end, that can be abandoned.
pub(crate) struct Leavable {
    /// `None` after a call was abandoned.
    connection: Option<Box<dyn Connection>>,
    abort: Arc<AbortState>,
}

impl Leavable {
    pub(crate) fn new(connection: Box<dyn Connection>, abort: Arc<AbortState>) -> Self {
        Self { connection: Some(connection), abort }
    }

    fn call<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut dyn Connection) -> std::result::Result<T, Failure> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let mut connection = self.connection.take().ok_or(Failure::Left)?;
        let (called, connection) = done(&self.abort, move || {
            let called = call(&mut *connection);
            (called, connection)
        })?;
        self.connection = Some(connection);
        called
    }
}

impl Connection for Leavable {
    fn execute(&mut self, sql: &str, binds: &[(&str, Bind)], within: Duration) -> std::result::Result<Done, Failure> {
        let (sql, binds) = (sql.to_owned(), owned(binds));
        self.call(move |connection| connection.execute(&sql, &borrowed(&binds), within))
    }

    fn query(&mut self, sql: &str, binds: &[(&str, Bind)], within: Duration) -> std::result::Result<Vec<Row>, Failure> {
        let (sql, binds) = (sql.to_owned(), owned(binds));
        self.call(move |connection| connection.query(&sql, &borrowed(&binds), within))
    }

    fn commit(&mut self) -> std::result::Result<(), Failure> {
        self.call(|connection| connection.commit())
    }
}

impl Drop for Leavable {
    fn drop(&mut self) {
        // The driver takes its leave of the server, and waits for the answer.
        if let Some(connection) = self.connection.take() {
            let _ = done(&self.abort, move || drop(connection));
        }
    }
}

fn owned(binds: &[(&str, Bind)]) -> Vec<(String, Bind)> {
    binds.iter().map(|(name, bind)| ((*name).to_owned(), bind.clone())).collect()
}

fn borrowed(binds: &[(String, Bind)]) -> Vec<(&str, Bind)> {
    binds.iter().map(|(name, bind)| (name.as_str(), bind.clone())).collect()
}

/// A session that works on a separate thread.
pub(crate) struct Apart {
    abort: Arc<AbortState>,
    events: Arc<dyn Events>,
    place: String,
    orders: Option<Sender<SliceOrder>>,
    reports: Receiver<Result<SliceReport>>,
    worker: Option<JoinHandle<()>>,
}

impl Apart {
    /// Starts a thread that opens the session of `place` and works in it; abandoned work is reported to `events`.
    pub(crate) fn open<S: Session>(
        abort: Arc<AbortState>,
        events: Arc<dyn Events>,
        place: String,
        open: impl FnOnce() -> Result<S> + Send + 'static,
    ) -> Result<Self> {
        let (orders, ordered) = mpsc::channel();
        let (report, reports) = mpsc::channel();
        let (opened, is_open) = mpsc::channel();
        let work = move || {
            let (mut session, said) = match open() {
                Ok(session) => (Some(session), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let _ = opened.send(said);
            let Some(session) = session.as_mut() else { return };
            for order in ordered {
                if report.send(session.run_slice(&order)).is_err() {
                    return;
                }
            }
        };
        let failed = |failure: Failure| explain(&failure, Doing::Work, &place);
        let worker = spawn(work).map_err(failed)?;
        wait(&is_open, &abort).map_err(failed)??;
        Ok(Self { abort, events, place, orders: Some(orders), reports, worker: Some(worker) })
    }
}

impl Session for Apart {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(*order).is_ok());
        if !sent || self.worker.is_none() {
            return Err(Error::interrupted(format!("{} was interrupted before", self.place)));
        }
        let report = wait(&self.reports, &self.abort);
        if report.is_err() {
            // It is not joined, now or on drop.
            drop((self.worker.take(), self.orders.take()));
        }
        if matches!(report, Err(Failure::Left)) {
            let text = "A statement did not end soon after the run was interrupted. The server ends it or rolls it \
                        back.";
            self.events.emit(Event::Finding(codes::ORA_STATEMENT_LEFT.finding(text, self.place.clone())));
        }
        report.map_err(|failure| explain(&failure, Doing::Work, &self.place))?
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        drop(self.orders.take());
        // Its remaining work is counted before counters are read.
        let Some(worker) = self.worker.take() else { return };
        while wait(&self.reports, &self.abort).is_ok() {}
        if worker.is_finished() || !self.abort.is_interrupted() {
            let _ = worker.join();
        }
    }
}
