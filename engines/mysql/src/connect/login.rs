//! How a server lets a client in: its greeting, TLS, and the proof of a password.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use mindful_core::Error;
use mysql_common::collations::CollationId;
use mysql_common::constants::{CapabilityFlags as Flags, MariadbCapabilities};
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest};
use rustls::ClientConfig;

use super::client::{Conn, serialized};
use super::packets::{EOF, LONGEST, OK, Packets, misread};
use super::wire::Wire;
use crate::error::{Failure, no_tls, unsupported_login};

/// The version of the protocol.
const PROTOCOL: u8 = 10;

/// Steps of `caching_sha2_password`: it knows the password, or asks for all of it; and the request for the server's key.
const MORE: u8 = 1;
const KNOWN: u8 = 3;
const UNKNOWN: u8 = 4;
const KEY: u8 = 2;

pub(super) struct Login<'a> {
    pub user: &'a str,
    pub password: Option<&'a str>,
    /// How the connection is encrypted, and the name in the server's certificate.
    pub tls: Option<(&'a Arc<ClientConfig>, &'a str)>,
    /// Where the server does not offer TLS, the connection is not encrypted.
    pub may_be_clear: bool,
    /// It is a Unix socket: no other host is on the way.
    pub is_socket: bool,
    /// The server is on this host: an attacker on the way cannot replace its key.
    pub is_local: bool,
}

/// What the client can do. `CLIENT_LONG_PASSWORD` is a bit by which MariaDB has capabilities of its own.
fn flags() -> Flags {
    Flags::CLIENT_PROTOCOL_41
        | Flags::CLIENT_SECURE_CONNECTION
        | Flags::CLIENT_LONG_PASSWORD
        | Flags::CLIENT_TRANSACTIONS
        | Flags::CLIENT_LOCAL_FILES
        | Flags::CLIENT_PLUGIN_AUTH
        | Flags::CLIENT_CONNECT_ATTRS
}

/// Logs in by `wire`, all of it `within` this time.
pub(super) fn log_in(wire: Wire, login: &Login<'_>, within: Duration) -> Result<Conn, Failure> {
    let mut packets = Packets::new(wire, within)?;
    let greeting = packets.read_packet().map(<[u8]>::to_vec).map_err(|failure| no_greeting(failure, within))?;
    let greeting = ParseBuf(&greeting).parse::<HandshakePacket<'_>>(()).map_err(|_| misread("another greeting"))?;
    let offered = greeting.capabilities();
    if greeting.protocol_version() != PROTOCOL || !offered.contains(Flags::CLIENT_PROTOCOL_41) {
        return Err(misread("a greeting of another protocol"));
    }
    let mut flags = flags() & offered;
    let of_mariadb = if flags.contains(Flags::CLIENT_LONG_PASSWORD) {
        MariadbCapabilities::empty()
    } else {
        greeting.mariadb_ext_capabilities() & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
    };
    let mut is_private = login.is_socket;
    if let Some((config, name)) = login.tls {
        if offered.contains(Flags::CLIENT_SSL) {
            flags |= Flags::CLIENT_SSL;
            let request = SslRequest::new(flags, LONGEST as u32, CollationId::UTF8MB4_GENERAL_CI as u8);
            // MariaDB reads the capabilities of an encrypted client only here.
            packets.send(&serialized(&request.with_mariadb_capabilities(of_mariadb)))?;
            packets.encrypt(config, name, within)?;
            is_private = true;
        } else if !login.may_be_clear {
            return Err(Failure::Lost(no_tls()));
        }
    }
    let plugin = match greeting.auth_plugin() {
        Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
        _ => AuthPlugin::MysqlNativePassword,
    };
    let nonce = greeting.nonce();
    let attributes = HashMap::from([
        ("program_name", "mindful".to_owned()),
        ("_client_name", "mindful".to_owned()),
        ("_client_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("_pid", std::process::id().to_string()),
    ]);
    let proof = plugin.gen_data(login.password, &nonce);
    let answer = HandshakeResponse::new(
        proof.as_deref(),
        (8, 0, 0),
        Some(login.user.as_bytes()),
        None::<&[u8]>,
        Some(plugin.clone()),
        flags,
        Some(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        LONGEST as u32,
    );
    packets.send(&serialized(&answer.with_mariadb_ext_capabilities(of_mariadb)))?;
    prove(&mut packets, login, is_private, plugin, nonce)?;
    packets.let_in();
    Ok(Conn::new(packets, greeting.connection_id()))
}

/// Proves the password in the way that the server asks for, until it lets the client in.
fn prove(
    packets: &mut Packets,
    login: &Login<'_>,
    is_private: bool,
    mut plugin: AuthPlugin<'static>,
    mut nonce: Vec<u8>,
) -> Result<(), Failure> {
    let mut is_switched = false;
    loop {
        let said = packets.read_packet()?.to_vec();
        match (said.as_slice(), &plugin) {
            ([OK, ..], _) => return Ok(()),
            ([MORE, KNOWN], AuthPlugin::CachingSha2Password) => {}
            ([MORE, UNKNOWN], AuthPlugin::CachingSha2Password) => send_password(packets, login, is_private, &nonce)?,
            ([EOF, ..], _) if !is_switched => {
                let request = ParseBuf(&said).parse::<AuthSwitchRequest<'_>>(());
                plugin = match request.as_ref().map(AuthSwitchRequest::auth_plugin) {
                    Ok(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
                    Ok(AuthPlugin::MysqlNativePassword) => AuthPlugin::MysqlNativePassword,
                    Ok(other) => {
                        return Err(Failure::Lost(unsupported_login(&String::from_utf8_lossy(other.as_bytes()))));
                    }
                    Err(_) => return Err(Failure::Lost(unsupported_login("mysql_old_password"))),
                };
                nonce = request.map_or(Vec::new(), |request| request.plugin_data().to_vec());
                is_switched = true;
                packets.send(plugin.gen_data(login.password, &nonce).as_deref().unwrap_or_default())?;
            }
            _ => return Err(misread("an unknown step of the login")),
        }
    }
}

/// Sends the password itself on a private connection, else encrypted with the server's key.
fn send_password(packets: &mut Packets, login: &Login<'_>, is_private: bool, nonce: &[u8]) -> Result<(), Failure> {
    let mut password = login.password.unwrap_or_default().as_bytes().to_vec();
    password.push(0);
    if is_private {
        return packets.send(&password);
    }
    if !login.is_local {
        let what = "the server requests the password in clear text, which mindful does not send to another host";
        let next = "set ssl-mode=REQUIRED; the server needs ssl_cert and ssl_key for it";
        return Err(Failure::Lost(Error::target(what, next)));
    }
    packets.send(&[KEY])?;
    let key = packets.read_packet()?.to_vec();
    let hidden: Vec<u8> = password.iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    packets.send(&crypto::encrypt(&hidden, &key[1..]))
}

fn no_greeting(failure: Failure, within: Duration) -> Failure {
    match failure {
        Failure::Io(error) if error.kind() == ErrorKind::WouldBlock => Failure::Lost(Error::target(
            format!("accepted the connection, but sent nothing for {} s", within.as_secs()),
            "check that host and port are those of a MariaDB or MySQL server; connect-timeout=SECONDS waits longer",
        )),
        Failure::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            io::Error::new(ErrorKind::InvalidData, "it hung up").into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;
    use crate::connect::tls::{Mode, Tls};

    /// An attacker on the way adds a packet to the greeting.
    #[test]
    fn data_between_a_greeting_and_tls_is_refused() {
        let greeting =
            b"\x0a8.0.31\0\x07\0\0\0abcdefgh\0\x0f\xaa\x2d\x02\0\x28\0\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0\0";
        let packet = |payload: &[u8], number| [&[payload.len() as u8, 0, 0, number], payload].concat();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let within = Duration::from_secs(10);
        let wire = Wire::to_addresses([address].into_iter(), within).unwrap();
        let mut server = listener.accept().unwrap().0;
        server.write_all(&[packet(greeting, 0), packet(&[OK, 0, 0, 2, 0, 0, 0], 2)].concat()).unwrap();
        let config = Tls { mode: Mode::Required, ..Tls::OFF }.config().unwrap().unwrap();
        let tls = Some((&config, "db.test"));
        let login = Login { user: "me", password: None, tls, may_be_clear: false, is_socket: false, is_local: false };
        let line = log_in(wire, &login, within).err().unwrap().at("me@db.test").to_string();
        assert!(line.contains("it sent data between its greeting and TLS"), "{line}");
    }
}
