//! Where a server listens.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use mindful_instance::listening;
use mindful_sql::connect::url::encode;

use super::url::show_host;

/// Folders a server puts its socket in unless reported otherwise, most likely first.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Users with sockets that are accepted there, besides root and this user: the second is a pooler's.
const ACCOUNTS: [&str; 2] = ["postgres", "pgbouncer"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// A folder with the server's socket.
    Unix(PathBuf),
    /// A name or address, and the address to use instead of looking the name up.
    Tcp { name: String, address: Option<IpAddr> },
}

impl Host {
    /// The folder where a server has a socket for `port`, or the first folder that is searched. Remarks on foreign
    /// listeners there go to `notes`.
    pub(super) fn default_socket(port: u16, notes: &mut Vec<String>) -> Self {
        let sockets = SOCKET_FOLDERS.map(|folder| Path::new(folder).join(format!(".s.PGSQL.{port}")));
        let (found, passed_over) = listening::first_of_server(&sockets, &ACCOUNTS);
        notes.extend(passed_over);
        let folder = found.as_deref().and_then(Path::parent).unwrap_or(Path::new(SOCKET_FOLDERS[0]));
        Self::Unix(folder.to_owned())
    }

    /// Whether it is on this host: a socket or a loopback address.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp { address: Some(address), .. } => address.is_loopback(),
            Self::Tcp { name, address: None } => {
                name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
        }
    }

    pub(super) fn passfile_name(&self) -> String {
        match self {
            Self::Unix(folder) if SOCKET_FOLDERS.iter().any(|known| folder == Path::new(known)) => {
                "localhost".to_owned()
            }
            Self::Unix(folder) => folder.display().to_string(),
            Self::Tcp { name, .. } => name.clone(),
        }
    }

    pub(super) fn in_url(&self, port: u16) -> String {
        match self {
            Self::Unix(folder) => show_host(&encode(&folder.to_string_lossy()), &port.to_string()),
            Self::Tcp { name, .. } if name.contains(':') => show_host(&name.replace('%', "%25"), &port.to_string()),
            Self::Tcp { name, .. } => show_host(&encode(name), &port.to_string()),
        }
    }
}
