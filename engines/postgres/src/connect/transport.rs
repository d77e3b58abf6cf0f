//! The path to a server: its socket, encrypted by `sslmode`, with limits on incoming messages.
//!
//! The driver accepts a stream only if it creates the session on it, and requests TLS at once. So it gets this
//! connector, which creates socket and TLS. Sessions and cancel requests thus use the same path, with and without TLS.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Empty};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::endpoint::Endpoint;
use super::host::Host;
use super::limits::Limited;

/// The request for TLS: its length and its number.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[derive(Clone)]
pub(super) struct Transport {
    endpoint: Endpoint,
    mode: SslMode,
    config: Config,
}

impl Transport {
    /// The way to `endpoint`, and the configuration of a session over it.
    pub(super) fn new(endpoint: &Endpoint, mode: SslMode, config: &Config) -> (Self, Config) {
        let mut session = config.clone();
        session.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        if let Some(password) = &endpoint.password {
            session.password(password);
        }
        (Self { endpoint: endpoint.clone(), mode, config: config.clone() }, session)
    }

    async fn open(self) -> io::Result<Limited> {
        let port = self.endpoint.port;
        match &self.endpoint.host {
            Host::Unix(folder) => {
                let socket = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await?;
                Ok(Limited::new(Box::new(socket), ChannelBinding::none(), self.endpoint.methods))
            }
            Host::Tcp { address: Some(address), name } => {
                let socket = TcpStream::connect((*address, port)).await?;
                self.secure(socket, name).await
            }
            Host::Tcp { address: None, name } => {
                let socket = first_of(lookup_host((name.as_str(), port)).await?).await?;
                self.secure(socket, name).await
            }
        }
    }

    async fn secure(&self, mut socket: TcpStream, name: &str) -> io::Result<Limited> {
        self.set_options(&socket)?;
        let connector = self.endpoint.tls.connector.as_ref().filter(|_| self.mode != SslMode::Disable);
        let offered = match (connector, self.config.get_ssl_negotiation()) {
            (None, _) => None,
            (Some(connector), SslNegotiation::Direct) => Some(connector),
            (Some(connector), _) => self.offers_tls(&mut socket).await?.then_some(connector),
        };
        let Some(connector) = offered else {
            return Ok(Limited::new(Box::new(socket), ChannelBinding::none(), self.endpoint.methods));
        };
        let connect = MakeTlsConnect::<TcpStream>::make_tls_connect(&mut MakeRustlsConnect::clone(connector), name);
        let stream = connect.map_err(io::Error::other)?.connect(socket).await?;
        let binding = stream.channel_binding();
        Ok(Limited::new(Box::new(stream), binding, self.endpoint.methods))
    }

    async fn offers_tls(&self, socket: &mut TcpStream) -> io::Result<bool> {
        socket.write_all(&TLS_REQUEST).await?;
        match socket.read_u8().await? {
            b'S' => Ok(true),
            b'N' if self.mode == SslMode::Prefer => Ok(false),
            b'N' => Err(io::Error::new(io::ErrorKind::Unsupported, "the server does not offer TLS")),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "neither yes nor no to a request for TLS")),
        }
    }

    fn set_options(&self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let options = SockRef::from(socket);
        options.set_tcp_user_timeout(self.config.get_tcp_user_timeout().copied())?;
        if !self.config.get_keepalives() {
            return Ok(());
        }
        let mut keepalive = TcpKeepalive::new().with_time(self.config.get_keepalives_idle());
        if let Some(interval) = self.config.get_keepalives_interval() {
            keepalive = keepalive.with_interval(interval);
        }
        if let Some(retries) = self.config.get_keepalives_retries() {
            keepalive = keepalive.with_retries(retries);
        }
        options.set_tcp_keepalive(&keepalive)
    }
}

async fn first_of(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "could not resolve any addresses");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl TlsConnect<Empty> for Transport {
    type Stream = Limited;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Limited>> + Send>>;

    fn connect(self, _: Empty) -> Self::Future {
        Box::pin(self.open())
    }
}
