//! MariaDB and MySQL: any server that speaks their protocol, or a private one.
#![expect(dead_code, reason = "what loads and measures will use the rest")]

mod client_session;
mod codes;
mod commit;
mod connect;
mod counters;
mod describe;
mod error;
mod flavor;
mod ibd;
mod instance;
mod layout;
mod link;
mod load;
mod lock;
mod names;
mod options;
mod plan_check;
mod prepare;
mod proof;
mod registry;
pub mod server;
mod server_time;
mod session;
mod settle;
mod statement;
mod status;
mod target;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;

use mindful_core::engine::Words;
use mindful_core::event::Events;
use mindful_core::finding::Code;
use mindful_core::settings::{Key, Settings};
use mindful_core::{Capabilities, Engine, Error, Result, Target};

pub use flavor::Flavor;

use crate::connect::Server;
use crate::options::Options;
use crate::server::Private;
use crate::target::MysqlTarget;

/// The engine.
pub static ENGINE: Mysql = Mysql;

/// Measures through MariaDB or MySQL.
pub struct Mysql;

impl Engine for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["mariadb", "mysql"]
    }

    fn summary(&self) -> &'static str {
        "MariaDB 10.6 and MySQL 8.0 or newer: a private server of mindful's own (mariadb:, mysql:) or any other (mysql://…)"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            loads: true,
            updates: true,
            scans: true,
            server_side_loop: true,
            client_side_loop: true,
            rate: true,
            commit_modes: true,
            concurrent_writers: true,
            access_paths: false,
        }
    }

    fn finding_codes(&self) -> &'static [Code] {
        codes::ALL
    }

    fn options(&self) -> &'static [Key] {
        &options::KEYS
    }

    fn words(&self) -> Words {
        Words::new("redo", "buffer pool hits", "index and undo page reads")
    }

    fn redact(&self, url: &str) -> String {
        url.to_owned()
    }

    fn cache_option(&self, url: &str, holds_all: bool) -> Option<(&'static str, &'static str)> {
        private(url).map(|_| ("mode", if holds_all { "lio" } else { "pio" }))
    }

    fn would_make(&self, url: &str, settings: &Settings, events: &Arc<dyn Events>) -> Result<Option<PathBuf>> {
        private(url).map_or(Ok(None), |flavor| Private::would_make(flavor, settings, events.as_ref()))
    }

    fn accepts(&self, url: &str, settings: &Settings) -> Result<()> {
        Options::from_settings(settings, None)?;
        private(url).map_or_else(|| Err(not_private(url)), |flavor| Private::accepts(flavor, settings))
    }

    fn open(&self, url: &str, settings: &Settings, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        let options = Options::from_settings(settings, None)?;
        let flavor = private(url).ok_or_else(|| not_private(url))?;
        let private = Private::open(flavor, settings, events)?;
        let server = Server::from_socket(&private.socket(), server::USER);
        Ok(Box::new(MysqlTarget::open(server, Some(private), options, events)?))
    }
}

fn not_private(url: &str) -> Error {
    Error::plan(format!("{url} names no server"), "write mariadb: or mysql: for a private one")
}

/// Whose private server `url` means, if it means one; it holds no secret then.
fn private(url: &str) -> Option<Flavor> {
    match url {
        "mariadb" | "mariadb:" => Some(Flavor::MariaDb),
        "mysql" | "mysql:" => Some(Flavor::MySql),
        _ => None,
    }
}
