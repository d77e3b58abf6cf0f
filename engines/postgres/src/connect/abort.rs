//! The sessions that are at work, so that another thread can end them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mindful_core::Result;

use crate::connect::{Backend, Canceller, Connection, pooled};

/// Largest number of simultaneous cancel requests; each is a separate connection.
const CANCEL_AT_A_TIME: usize = 32;

/// Time limit of all cancel requests together.
pub(crate) const CANCEL_WITHIN: Duration = Duration::from_secs(1);

/// Wait for a cancelled session to end.
const END_WITHIN: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(crate) struct Sessions(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    at_work: BTreeMap<u64, AtWork>,
}

struct AtWork {
    canceller: Canceller,
    backend: Option<Backend>,
    /// The number of the session.
    session: u32,
}

/// A session is at work while it holds this.
pub(crate) struct Presence {
    sessions: Arc<Sessions>,
    number: u64,
}

impl Sessions {
    /// Registers a session on `connection`; refused if its server process already belongs to another session.
    pub(crate) fn enter(self: &Arc<Self>, connection: &Connection, session: u32) -> Result<Presence> {
        let backend = connection.backend();
        let mut held = self.held();
        if held.at_work.values().any(|other| other.backend.is_some() && other.backend == backend) {
            return Err(pooled());
        }
        held.last += 1;
        let number = held.last;
        held.at_work.insert(number, AtWork { canceller: connection.canceller(), backend, session });
        Ok(Presence { sessions: Arc::clone(self), number })
    }

    /// The server processes of working sessions, if all of them are known.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let held = self.held();
        let pids: Option<Vec<u32>> =
            held.at_work.values().map(|session| Some(session.backend?.pid.unsigned_abs())).collect();
        pids.unwrap_or_default()
    }

    /// The sessions by the numbers of their server processes.
    pub(crate) fn by_pid(&self) -> BTreeMap<i32, u32> {
        let held = self.held();
        held.at_work.values().filter_map(|one| Some((one.backend?.pid, one.session))).collect()
    }

    pub(crate) async fn end(&self) {
        end(|| self.held().at_work.values().map(|session| session.canceller.clone()).collect()).await;
    }

    fn held(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work of the sessions `at_work`: sends cancel requests to their server, then closes the connections that are
/// still at work, because the server may have vanished. Takes three seconds at most.
pub(crate) async fn end(at_work: impl Fn() -> Vec<Canceller>) {
    cancel(&at_work()).await;
    tokio::time::sleep(END_WITHIN).await;
    let left = at_work();
    left.iter().for_each(Canceller::sever);
    // A statement that was sent after the cancelled one has begun: a server that waits does not notice that its client
    // is gone.
    cancel(&left).await;
}

/// Best effort: requests that do not finish in time are abandoned.
async fn cancel(sessions: &[Canceller]) {
    let asking = stream::iter(sessions).for_each_concurrent(CANCEL_AT_A_TIME, |session| async move {
        let _ = session.cancel().await;
    });
    let _ = tokio::time::timeout(CANCEL_WITHIN, asking).await;
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.sessions.held().at_work.remove(&self.number);
    }
}
