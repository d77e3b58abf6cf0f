//! The one runtime of a target and its connections.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mindful_sql::connect::abort::{AbortState, Patience, interrupted, not_ended};
use mindful_sql::connect::control::Control;
use mindful_sql::connect::driver_panic::caught;
use tokio::runtime::{Builder, Runtime};

use crate::connect::abort;
use crate::connect::explain::no_postgresql;
use crate::connect::{Canceller, Connection, Server};
use crate::error::Failure;
use crate::work::access;

/// Time limit for connections to end after the use of a target.
const GOODBYE: Duration = Duration::from_secs(1);

/// Number of silent timeouts before a probe of the server, and number of failed probes.
const PATIENCE: u32 = 3;
const SILENT_FOR: u32 = 3;

type Work<'w> = Pin<&'w mut dyn Future<Output = ()>>;

/// Work that may fail.
pub(crate) trait Task<T>: Future<Output = Result<T, Failure>> {}

impl<T, F: Future<Output = Result<T, Failure>>> Task<T> for F {}

pub(crate) struct Link {
    runtime: Runtime,
    server: Server,
    control: Control<Arc<Connection>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    connections: Mutex<Vec<Canceller>>,
    abort: AbortState,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Vec<Canceller>> {
        let mut held = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|connection| !connection.is_over());
        held
    }
}

fn cannot_start(error: &std::io::Error) -> Error {
    Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes (ulimit -u)")
}

impl Link {
    /// A link to `server`; connects nothing yet.
    pub(crate) fn new(server: Server) -> Result<Self> {
        // The runtime panics if it cannot start its thread.
        let probe = std::thread::Builder::new().spawn(|| ()).map_err(|error| cannot_start(&error))?;
        let _ = probe.join();
        Self::with_runtime(
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres"),
            server,
            Arc::default(),
        )
    }

    /// A separate link to the same server. Its sockets are driven by the waiting thread, so that only that thread uses
    /// CPU for it.
    pub(crate) fn apart(&self) -> Result<Self> {
        Self::with_runtime(&mut Builder::new_current_thread(), self.server.clone(), Arc::clone(&self.shared))
    }

    fn with_runtime(builder: &mut Builder, server: Server, shared: Arc<Shared>) -> Result<Self> {
        let runtime = builder.enable_all().build().map_err(|error| cannot_start(&error))?;
        Ok(Self { runtime, server, control: Control::default(), shared })
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Waits for `work` on this thread. `place` names the activity in messages.
    pub(crate) fn run<T>(&self, place: &str, work: impl Task<T>) -> Result<T> {
        self.attend(Patience::Question, work).map_err(|failure| self.failed(None, failure, place))
    }

    /// The same for work that takes the longer the larger the tables are.
    pub(crate) fn run_on_tables<T>(&self, place: &str, work: impl Task<T>) -> Result<T> {
        self.attend(Patience::Tables, work).map_err(|failure| self.failed(None, failure, place))
    }

    /// Like [`Self::run`] for work on `connection`, which has the server's reason if it was closed.
    pub(crate) fn run_on<T>(&self, connection: &Connection, place: &str, work: impl Task<T>) -> Result<T> {
        self.attend(Patience::Question, work).map_err(|failure| self.failed(Some(connection), failure, place))
    }

    fn attend<T>(&self, patience: Patience, work: impl Task<T>) -> Result<T, Failure> {
        result_of(work, |work| understood(|| self.runtime.block_on(self.attended(patience, work))))?
    }

    /// Waits for `work` while the server answers others, within the time limit of its kind of work.
    async fn attended(&self, patience: Patience, mut work: Work<'_>) -> Result<(), Failure> {
        let limit = patience.limit(self.server.patience());
        let begun = Instant::now();
        let mut silent = 0;
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            if tokio::time::timeout(left.min(self.server.patience() * PATIENCE), &mut work).await.is_ok() {
                return Ok(());
            }
            if begun.elapsed() >= limit {
                abort::end(|| self.shared.connections().clone()).await;
                return Err(Failure::Ours(not_ended(limit, "connect_timeout").at(self.server.place(0))));
            }
            let answers = tokio::select! {
                () = &mut work => return Ok(()),
                answers = self.server.answers() => answers,
            };
            silent = if answers.is_ok() { 0 } else { silent + 1 };
            if let (Err(error), SILENT_FOR) = (answers, silent) {
                return Err(Failure::Ours(error));
            }
        }
    }

    /// The same for a session, which may have been interrupted on purpose.
    pub(crate) fn work<T>(&self, connection: &Connection, place: &str, work: impl Task<T>) -> Result<T> {
        let done = result_of(work, |work| {
            understood(|| {
                self.runtime.block_on(work);
                Ok(())
            })
        });
        done.and_then(|done| done).map_err(|failure| self.session_failed(connection, place, failure))
    }

    /// The same before the session measures: its server has to answer others meanwhile.
    pub(crate) fn warm_up<T>(&self, connection: &Connection, place: &str, work: impl Task<T>) -> Result<T> {
        self.attend(Patience::Tables, work).map_err(|failure| self.session_failed(connection, place, failure))
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        let Ok(done) = result_of(work, |work| {
            self.runtime.block_on(work);
            Ok::<_, Infallible>(())
        });
        done
    }

    /// The error of a session, which may have been interrupted on purpose.
    pub(crate) fn session_failed(&self, connection: &Connection, place: &str, failure: Failure) -> Error {
        if self.shared.abort.is_interrupted() { interrupted(place) } else { failure.on(connection, place) }
    }

    /// Marks sessions as interrupted, until work is prepared again.
    pub(crate) fn set_interrupted(&self, interrupted: bool) {
        self.shared.abort.set_interrupted(interrupted);
    }

    /// Marks all failures as interruptions from now on, sends no more requests, and cancels the current work of all
    /// connections.
    pub(crate) fn abort(&self) {
        self.shared.abort.abort();
        self.wait(abort::end(|| self.shared.connections().clone()));
    }

    /// The error of failed work; the server may have ended it on request.
    fn failed(&self, connection: Option<&Connection>, failure: Failure, place: &str) -> Error {
        match (connection, &failure) {
            (_, Failure::Server(_)) if self.shared.abort.is_aborted() => interrupted(place),
            (Some(connection), _) => failure.on(connection, place),
            (None, _) => failure.at(place),
        }
    }

    fn refuse_aborted(&self) -> Result<()> {
        self.shared.abort.refuse_aborted(|| self.server.place(0))
    }

    pub(crate) fn connect(&self, endpoint: u32) -> Result<Connection> {
        self.refuse_aborted()?;
        let connection = self.wait(self.server.connect(endpoint))?;
        self.shared.connections().push(connection.canceller());
        Ok(connection)
    }

    /// A connection for the session in `placement`, set up as all sessions of `workload` are, and how messages name it.
    pub(crate) fn connect_session(&self, workload: &Workload, placement: Placement) -> Result<(Connection, String)> {
        let place = session_name(placement.session);
        let client = self.connect(placement.endpoint).map_err(|error| error.at(&place))?;
        self.run_on(&client, &place, async {
            client.batch_execute(include_str!("../../sql/session.sql")).await?;
            if !workload.access.is_index() {
                client.batch_execute(access::settings(workload.access)).await?;
            }
            if !workload.commit_wait {
                client.batch_execute("SET synchronous_commit = off").await?;
            }
            Ok(client.refuse_if_moved().await?)
        })?;
        Ok((client, place))
    }

    /// The connection for everything that is not measured; replaced when it broke.
    pub(crate) fn control(&self) -> Result<Arc<Connection>> {
        self.refuse_aborted()?;
        let control = self.control.get(|client| !client.is_closed(), || Ok(Arc::new(self.connect(0)?)))?;
        Ok(Arc::clone(&control))
    }

    pub(crate) fn release(&self) {
        self.control.release();
    }
}

/// The result of `work` after `wait` for its end. A runtime has hundreds of functions for each type of future that it
/// drives, so all work has one type.
fn result_of<T, E>(work: impl Future<Output = T>, wait: impl FnOnce(Work<'_>) -> Result<(), E>) -> Result<T, E> {
    let mut done = None;
    wait(pin!(async { done = Some(work.await) }))?;
    Ok(done.expect("work that was waited for has ended"))
}

/// The result of `work`; an error if its driver panicked because of an unknown answer.
fn understood(work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    caught(work).unwrap_or_else(|words| Err(Failure::Ours(no_postgresql(&format!(" ({words})")))))
}

impl Drop for Link {
    /// Lets connections terminate in order: a server logs an error if its last answer finds no client.
    fn drop(&mut self) {
        self.release();
        let drivers = self.runtime.metrics();
        self.runtime.block_on(async {
            let ended = async {
                while drivers.num_alive_tasks() > 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let _ = tokio::time::timeout(GOODBYE, ended).await;
        });
    }
}
