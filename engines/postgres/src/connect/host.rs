//! Where a server listens.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::url::{encode, show_host};

/// Folders a server puts its socket in unless reported otherwise, most likely first.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// A socket or a port of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// A folder with the server's socket.
    Unix(PathBuf),
    /// A name or address, and the address to use instead of looking the name up.
    Tcp { name: String, address: Option<IpAddr> },
}

impl Host {
    /// The folder where a socket for `port` is, or where it would be first looked for.
    pub(super) fn default_socket(port: u16) -> Self {
        let has_socket = |folder: &&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
        Self::Unix(SOCKET_FOLDERS.iter().find(|folder| has_socket(folder)).unwrap_or(&SOCKET_FOLDERS[0]).into())
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

    /// Its name in a password file.
    pub(super) fn passfile_name(&self) -> String {
        match self {
            Self::Unix(folder) if SOCKET_FOLDERS.iter().any(|known| folder == Path::new(known)) => {
                "localhost".to_owned()
            }
            Self::Unix(folder) => folder.display().to_string(),
            Self::Tcp { name, .. } => name.clone(),
        }
    }

    /// The host part of a URL.
    pub(super) fn in_url(&self, port: u16) -> String {
        match self {
            Self::Unix(folder) => show_host(&encode(&folder.to_string_lossy()), &port.to_string()),
            Self::Tcp { name, .. } if name.contains(':') => show_host(&name.replace('%', "%25"), &port.to_string()),
            Self::Tcp { name, .. } => show_host(&encode(name), &port.to_string()),
        }
    }
}
