//! The open connections, and how their work is ended: by their server, and on this side.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use mindful_core::Result;
use socket2::Socket;

use crate::connect::{Conn, Server};
use crate::error::Failure;

/// Time limit for the server to end connections, all together.
const KILL_WITHIN: Duration = Duration::from_secs(1);
/// Wait for a connection to notice that the server ended it.
const END_WITHIN: Duration = Duration::from_millis(500);
/// `ER_NO_SUCH_THREAD`.
const NO_SUCH_CONNECTION: u16 = 1094;
/// Number of attempts to reach the right server, if several answer to its name.
const WAYS: u32 = 4;

/// A connection with its server's identity. The server is `None` until it is known, and if it is ambiguous: several
/// servers with one name use the same numbers, and so does a restarted one.
#[derive(Clone)]
struct Known {
    number: u32,
    server: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Session,
    Other,
}

struct One {
    what: Use,
    socket: Arc<Socket>,
    known: Known,
    /// The number of its session, and the thread of this host that serves only it.
    session: Option<u32>,
    thread: Option<u32>,
}

#[derive(Default)]
pub(crate) struct Standing {
    all: Mutex<BTreeMap<u64, One>>,
    next: AtomicU64,
}

impl Standing {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, One>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `connection`, and queries the identity of its server. Returns its place.
    pub(crate) fn enter(&self, what: Use, connection: &mut Conn) -> u64 {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let known = Known { number: connection.connection_id(), server: None };
        let socket = Arc::clone(connection.socket());
        self.all().insert(place, One { what, socket, known, session: None, thread: None });
        // The waiter for the answer can be cut off already.
        let server = which_server(connection);
        if let Some(one) = self.all().get_mut(&place) {
            one.known.server = server;
        }
        place
    }

    pub(crate) fn leave(&self, place: u64) {
        self.all().remove(&place);
    }

    /// The connection at `place` belongs to a session, and this thread serves it.
    pub(crate) fn works_for(&self, place: u64, session: u32, thread: Option<u32>) {
        if let Some(one) = self.all().get_mut(&place) {
            (one.session, one.thread) = (Some(session), thread);
        }
    }

    /// The sessions by the server's numbers of their connections.
    pub(crate) fn sessions(&self) -> BTreeMap<u32, u32> {
        self.all().values().filter_map(|one| Some((one.known.number, one.session?))).collect()
    }

    /// The same of all connections.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.all().values().map(|one| one.known.number).collect()
    }

    /// The threads that serve sessions, as far as they are known.
    pub(crate) fn threads(&self) -> Vec<u32> {
        self.all().values().filter_map(|one| one.thread).collect()
    }

    /// Ends the work of the connections for `what`, or of all: sends requests to their server first, then closes the
    /// remaining ones, because the server may have vanished. Takes two seconds at most.
    pub(crate) fn end(&self, server: &Server, what: Option<Use>) {
        let (places, mut doomed): (Vec<u64>, Vec<Known>) = {
            let all = self.all();
            let asked = |one: &&One| what.is_none_or(|what| what == one.what);
            all.iter().filter(|(_, one)| asked(one)).map(|(place, one)| (*place, one.known.clone())).unzip()
        };
        if places.is_empty() {
            return;
        }
        let (answer, answered) = mpsc::channel();
        let server = server.clone();
        let asking = move || {
            let _ = answer.send(kill(&server, &mut doomed).is_ok());
            kill_by_all_ways(&server, &mut doomed, WAYS - 1);
        };
        let asked = thread::Builder::new().name("kill".to_owned()).spawn(asking).is_ok();
        if asked && answered.recv_timeout(KILL_WITHIN) == Ok(true) {
            thread::sleep(END_WITHIN);
            self.sever(|place| places.contains(place));
        } else {
            // A server that refuses the asking connection does not answer the others either.
            self.sever(|_| true);
        }
    }

    /// Has the server end the work of the connection at `place`. Returns its number there if that failed.
    pub(super) fn end_statement(&self, server: &Server, place: u64) -> Option<u32> {
        let mut doomed = vec![self.all().get(&place)?.known.clone()];
        kill_by_all_ways(server, &mut doomed, WAYS);
        doomed.first().map(|one| one.number)
    }

    fn sever(&self, which: impl Fn(&u64) -> bool) {
        for (_, one) in self.all().iter().filter(|(place, _)| which(place)) {
            // A wait for the server ends, even if the server has vanished. One that is cut off already needs no end.
            let _ = one.socket.shutdown(Shutdown::Both);
        }
    }
}

/// Connects so many times, because several servers may answer to the name. Those that remain in `doomed` may still be at
/// work.
fn kill_by_all_ways(server: &Server, doomed: &mut Vec<Known>, ways: u32) {
    for _ in 0..ways {
        if doomed.iter().all(|one| one.server.is_none()) || kill(server, doomed).is_err() {
            break;
        }
    }
}

/// Makes the reached `server` kill those connections that belong to it. The others remain, because on that server their
/// numbers belong to other clients.
fn kill(server: &Server, doomed: &mut Vec<Known>) -> Result<()> {
    let mut other = server.connect_within(KILL_WITHIN)?;
    let here = which_server(&mut other);
    doomed.retain(|one| {
        let is_own = one.server.is_some() && one.server == here;
        !(is_own && is_gone(&other.query_drop(format!("KILL {}", one.number))))
    });
    Ok(())
}

/// Whether the answer to `KILL` is that the connection has ended or ends.
fn is_gone(killed: &Result<(), Failure>) -> bool {
    killed.as_ref().err().is_none_or(|failure| failure.code() == Some(NO_SUCH_CONNECTION))
}

/// The identity of the server of `connection`, which a restart changes. `None` if the server does not report it, or if
/// the client has a connection number other than the server's own.
fn which_server(connection: &mut Conn) -> Option<String> {
    let answer = connection.query_first(include_str!("../../sql/which_server.sql"));
    let (server, number): (Option<String>, u64) = answer.ok()??;
    server.filter(|_| number == u64::from(connection.connection_id()))
}
