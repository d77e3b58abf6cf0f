//! A connection: a client, the task that drives its socket, and the reason of its end.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use mindful_core::{Error, ErrorKind, Result};
use tokio::task::AbortHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{CancelToken, Client, Config, Row, Statement};

use super::backend::{Backend, pooled};
use super::endpoint::Endpoint;
use super::explain::{explain, find};
use super::transport::Transport;

pub struct Connection {
    client: Client,
    canceller: Canceller,
    /// The server process that its first statement met.
    pub(super) backend: Option<Backend>,
    prepared: Mutex<HashMap<String, Statement>>,
}

/// Time limit for reading a server's last message: it is available at once, or never.
const LAST_WORDS: Duration = Duration::from_secs(1);

enum End {
    /// The server reported it, or the network failed.
    Fault(tokio_postgres::Error),
    Severed,
}

#[derive(Clone)]
pub struct Canceller {
    ended: Arc<OnceLock<End>>,
    driver: AbortHandle,
    token: CancelToken,
    transport: Transport,
    place: String,
}

pub(super) struct Refusal {
    pub(super) error: Error,
    /// Whether the server itself refused the session: then the others are not tried, as in libpq.
    pub(super) is_final: bool,
}

/// Connects to `endpoint` by one of the ways its TLS allows; `config` has all but host and password.
pub(super) async fn connect(endpoint: &Endpoint, config: &Config, place: &str) -> Result<Connection, Refusal> {
    let mut fault = None;
    for mode in endpoint.tls.attempts() {
        match attempt(endpoint, config, *mode, place).await {
            Ok(connection) => return Ok(connection),
            Err(error) if depends_on_encryption(&error) => {
                fault.get_or_insert(error);
            }
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    // An answer of a server ends the search for a host, except "not now".
    let is_final =
        fault.as_ref().and_then(tokio_postgres::Error::code).is_some_and(|code| *code != SqlState::CANNOT_CONNECT_NOW);
    let error = fault.map_or_else(
        || Error::target(format!("{place}: no way to connect"), "check sslmode"),
        |error| refused(&error, endpoint, place),
    );
    Err(Refusal { error, is_final })
}

/// Whether the same server may accept the connection with encryption instead of without, or the other way round.
fn depends_on_encryption(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) || find::<rustls::Error>(error).is_some()
}

async fn attempt(
    endpoint: &Endpoint,
    config: &Config,
    mode: SslMode,
    place: &str,
) -> Result<Connection, tokio_postgres::Error> {
    let (transport, config) = Transport::new(endpoint, mode, config);
    let ended = Arc::new(OnceLock::new());
    let (client, driver) = config.connect_raw(tokio::io::empty(), transport.clone()).await?;
    let driver = tokio::spawn(drive(driver, Arc::clone(&ended))).abort_handle();
    let canceller = Canceller { ended, driver, token: client.cancel_token(), transport, place: place.to_owned() };
    Ok(Connection { client, canceller, backend: None, prepared: Mutex::default() })
}

/// The error of a server that takes too long to let somebody in.
pub(super) fn no_answer(place: &str, limit: Duration) -> Error {
    let what = format!("{place}: no answer in {} s", limit.as_secs());
    Error::target(what, "check that PostgreSQL listens there, firewalls on the way, or give connect_timeout")
}

/// Drives a connection to its end and records why it ended, before the waiters for answers notice the end.
async fn drive<D>(mut driver: D, ended: Arc<OnceLock<End>>)
where
    D: Future<Output = Result<(), tokio_postgres::Error>> + Unpin,
{
    if let Err(mut error) = (&mut driver).await {
        // A server that ends a session sends the reason and closes. If writing fails, that message must still be read.
        if find::<io::Error>(&error).is_some()
            && let Ok(Err(said)) = tokio::time::timeout(LAST_WORDS, &mut driver).await
            && said.code().is_some()
        {
            error = said;
        }
        let _ = ended.set(End::Fault(error));
    }
}

fn refused(error: &tokio_postgres::Error, endpoint: &Endpoint, place: &str) -> Error {
    let mut explained = Error { kind: ErrorKind::Target, ..explain(error, place) };
    if error.is_closed() {
        explained.next = String::from("check that host and port are those of a PostgreSQL server, and its log");
    }
    if let (true, Some(remark)) = (explained.what.ends_with("asks for a password"), &endpoint.passfile_remark) {
        explained.next.clone_from(remark);
    }
    let about_tls = find::<rustls::Error>(error).is_some() || explained.what.ends_with("does not offer TLS");
    if about_tls && endpoint.tls.verifies_by_default() {
        explained.next.push_str(" (sslmode is not set; for a server on another host it is verify-full by default)");
    }
    explained
}

impl Connection {
    /// `error` as a message. If it only states that the connection is closed, the message contains the server's reason.
    pub fn explain(&self, error: &tokio_postgres::Error) -> Error {
        let Canceller { ended, place, .. } = &self.canceller;
        match ended.get().filter(|_| error.is_closed()) {
            Some(End::Fault(reason)) => explain(reason, place),
            Some(End::Severed) => Error::run(format!("{place}: the session was ended here"), ""),
            None => explain(error, place),
        }
    }

    pub(crate) fn backend(&self) -> Option<Backend> {
        self.backend
    }

    /// Refuses a connection that no longer leads to the server process it began with.
    pub(crate) async fn refuse_if_moved(&self) -> Result<()> {
        let row = self.client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(|error| self.explain(&error))?;
        if self.backend.is_some_and(|backend| backend.pid != row.get::<_, i32>(0)) {
            return Err(pooled().at(&self.canceller.place));
        }
        Ok(())
    }

    /// Rows of `sql`, which stays prepared for the next time: a server takes longer to plan a query of the catalogue
    /// than to run it.
    pub(crate) async fn query_again(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let known = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = known().get(sql).cloned();
        let statement = match prepared {
            Some(statement) => statement,
            None => self.client.prepare(sql).await?,
        };
        known().entry(sql.to_owned()).or_insert_with(|| statement.clone());
        self.client.query(&statement, params).await
    }

    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.canceller.place)
    }
}

impl Canceller {
    pub async fn cancel(&self) -> Result<()> {
        let asked = self.token.cancel_query_raw(tokio::io::empty(), self.transport.clone()).await;
        asked.map_err(|error| explain(&error, &self.place))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.driver.is_finished()
    }

    /// Ends the connection on this side: a wait for the server's answer ends, even if the server has vanished.
    pub fn sever(&self) {
        let _ = self.ended.set(End::Severed);
        self.driver.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncWrite, AsyncWriteExt, DuplexStream, duplex, join};
    use tokio_postgres::NoTls;

    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    /// The way to a server that takes the first packet, and has ended the session when the next comes.
    struct Ending {
        server: DuplexStream,
        sent: usize,
    }

    impl AsyncWrite for Ending {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, packet: &[u8]) -> Poll<io::Result<usize>> {
            self.sent += 1;
            if self.sent == 1 {
                return Poll::Ready(Ok(packet.len()));
            }
            let said = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
            let _ = Pin::new(&mut self.server).poll_write(cx, &said);
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn why_a_session_ended_is_read_where_nothing_can_be_written() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut server, from_server) = duplex(1024);
            server.write_all(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat()).await.unwrap();
            let stream = join(from_server, Ending { server, sent: 0 });
            let (client, driver) = Config::new().user("me").connect_raw(stream, NoTls).await.unwrap();
            let ended = Arc::new(OnceLock::new());
            let driving = tokio::spawn(drive(driver, Arc::clone(&ended)));
            let error = client.simple_query("SELECT 1").await.unwrap_err();
            driving.await.unwrap();
            let Some(End::Fault(fault)) = ended.get() else { panic!("no fault") };
            // The caller gets an answer, or the reason why the connection ended.
            let codes = [error.code(), fault.code()];
            assert!(codes.contains(&Some(&SqlState::ADMIN_SHUTDOWN)), "{error} {fault}");
        });
    }
}
