//! The real driver: Oracle's own in Rust, with protection against hangs, panics and terminal output.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mindful_sql::connect::driver_panic;
use oracledb::{Config, ErrorKind, ToDbValue};

use crate::connect::driver::{Bind, Connection, Done, Driver, Failure, Login, Row};

/// All rows of an answer, bytes, and for a row and each of its columns in addition to its text.
const ANSWER: usize = 64 << 20;
const KEPT: usize = 32;

pub(crate) struct Thin;

impl Driver for Thin {
    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, Failure> {
        prepare_process();
        let (config, within) = (config(login)?, login.within);
        let (done, answer) = mpsc::channel();
        // Only this thread waits for a silent listener, and it ends with the process.
        let connecting = thread::Builder::new().name("oracle".to_owned()).spawn(move || {
            let _ = done.send(caught(|| oracledb::connect(config)).map_err(|failure| with_timeout(failure, within)));
        });
        connecting.map_err(|error| Failure::Lost(format!("cannot start a thread ({error})")))?;
        let connected = answer.recv_timeout(login.within).map_err(|_| Failure::Silent(login.within))??;
        let connection = Session { connection: connected, within: login.within };
        connection.limit(login.within)?;
        Ok(Box::new(connection))
    }
}

/// Chooses one of the two TLS libraries in this program.
fn prepare_process() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Calls the driver. A panic means that the driver does not support the request.
fn caught<T>(call: impl FnOnce() -> Result<T, oracledb::Error>) -> Result<T, Failure> {
    match driver_panic::caught(call) {
        Ok(done) => done.map_err(|error| failure(&error)),
        Err(words) => Err(Failure::Unable(words)),
    }
}

fn config(login: &Login) -> Result<Config, Failure> {
    let name = |error: oracledb::Error| failure(&error);
    let mut config = Config::default().set_credentials(&login.user, &login.password);
    if let Some(folder) = &login.config {
        config = config.set_config_dir(&folder.to_string_lossy());
    }
    if let Some(folder) = &login.wallet {
        config = config.set_wallet_location(folder.to_string_lossy());
    }
    if let Some(password) = &login.wallet_password {
        config = config.set_wallet_password(password);
    }
    config = config.set_transport_connect_timeout(Some(login.within)).set_program("mindful").map_err(name)?;
    let address = login.address.clone();
    // The reader of descriptors may panic as well.
    caught(move || config.set_connect_string(&address))
}

struct Session {
    connection: oracledb::Connection,
    within: Duration,
}

impl Session {
    fn limit(&self, within: Duration) -> Result<(), Failure> {
        caught(|| self.connection.set_call_timeout(Some(within)))
    }
}

impl Connection for Session {
    fn execute(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Done, Failure> {
        self.limit(within)?;
        let values = Values::new(binds);
        let executed = caught(|| {
            let mut result = self.connection.execute_named(sql, &values.named())?;
            let row = result.out_bind_data();
            let rooms = binds.iter().filter(|(_, bind)| matches!(bind, Bind::Room(_)));
            let out = rooms.map(|(name, _)| row.get::<Option<String>>(*name)).collect::<Result<_, _>>()?;
            Ok(Done { rows: result.rows_affected(), out })
        });
        executed.map_err(|failure| with_timeout(failure, within))
    }

    fn query(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Vec<Row>, Failure> {
        self.limit(within)?;
        let values = Values::new(binds);
        let read = caught(|| {
            let cursor = self.connection.query_named(sql, &values.named())?;
            let columns = cursor.columns().len();
            let mut answer = 0;
            let mut rows = Vec::new();
            for row in cursor {
                let row = row?;
                let row: Row = (0..columns).map(|at| text(&row, at)).collect::<Result<_, _>>()?;
                answer += row.iter().flatten().map(String::len).sum::<usize>() + KEPT * (1 + columns);
                rows.push(row);
                if answer > ANSWER {
                    break;
                }
            }
            Ok((rows, answer))
        });
        match read.map_err(|failure| with_timeout(failure, within))? {
            (rows, 0..=ANSWER) => Ok(rows),
            _ => Err(Failure::Garbled(format!("an answer of more than {} MiB", ANSWER >> 20))),
        }
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.limit(self.within)?;
        caught(|| self.connection.commit()).map_err(|failure| with_timeout(failure, self.within))
    }
}

fn with_timeout(failure: Failure, within: Duration) -> Failure {
    if matches!(failure, Failure::Silent(_)) { Failure::Silent(within) } else { failure }
}

fn text(row: &oracledb::Row, at: usize) -> Result<Option<String>, oracledb::Error> {
    row.get::<Option<String>>(at).or_else(|_| Ok(row.get::<Option<f64>>(at)?.map(|number| number.to_string())))
}

struct Values<'a>(Vec<(&'a str, Box<dyn ToDbValue>)>);

impl<'a> Values<'a> {
    fn new(binds: &[(&'a str, Bind)]) -> Self {
        let value = |bind: &Bind| -> Box<dyn ToDbValue> {
            match bind {
                Bind::Integer(number) => Box::new(*number),
                Bind::Text(text) => Box::new(text.clone()),
                Bind::Bytes(bytes) => Box::new(bytes.clone()),
                Bind::Room(length) => Box::new(" ".repeat(*length)),
            }
        };
        Self(binds.iter().map(|(name, bind)| (*name, value(bind))).collect())
    }

    fn named(&self) -> Vec<(&'a str, &dyn ToDbValue)> {
        self.0.iter().map(|(name, value)| (*name, &**value)).collect()
    }
}

fn failure(error: &oracledb::Error) -> Failure {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::DbError(of_server) => {
            Failure::Server { code: of_server.code() as u32, text: of_server.message().to_owned() }
        }
        ErrorKind::CallTimeoutExceeded => Failure::Silent(Duration::ZERO),
        ErrorKind::InvalidServiceName(..) => Failure::Listener { code: Some(12_514), text },
        ErrorKind::InvalidSid(..) => Failure::Listener { code: Some(12_505), text },
        ErrorKind::ListenerRefusedConnection(.., code) => Failure::Listener { code: Some(*code as u32), text },
        ErrorKind::UnexpectedRefuse(_) => Failure::Listener { code: None, text },
        ErrorKind::InvalidConnectString(..)
        | ErrorKind::InvalidDescriptorNode(..)
        | ErrorKind::InvalidNetworkName(_)
        | ErrorKind::IfileCycleDetected(..)
        | ErrorKind::NoConfigDir
        | ErrorKind::NoConnectString
        | ErrorKind::ParseError(..)
        | ErrorKind::TnsAliasNotFound(..) => Failure::Address(text),
        ErrorKind::TlsOperation
        | ErrorKind::PemFileOperation
        | ErrorKind::WalletPasswordMissingOrInvalid(..)
        | ErrorKind::WalletPrivateKeyInvalid(_)
        | ErrorKind::WalletUnreadable(_) => Failure::Tls(text),
        // The server's certificate is checked while the first bytes are read.
        ErrorKind::StreamOperation if text.contains("certificate") => Failure::Tls(text),
        ErrorKind::DeadConnection | ErrorKind::NotConnected | ErrorKind::StreamOperation | ErrorKind::OutOfData => {
            Failure::Lost(text)
        }
        ErrorKind::NotImplemented(_) | ErrorKind::ServerVersionNotSupported => Failure::Unable(text),
        _ => Failure::Garbled(text),
    }
}
