//! MariaDB and MySQL: any server with their protocol, or a private one.

mod checks;
mod codes;
mod connect;
mod dataset;
mod error;
mod flavor;
mod meeting;
mod names;
mod observe;
mod options;
pub mod private;
mod target;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::contract::description::{HostView, Words};
use mindful_core::contract::engine::{EngineFacts, EngineOptions};
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::plan::Plan;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::Rendezvous;
use mindful_core::{Engine, Error, Result, Target};

pub use flavor::Flavor;

use crate::connect::Server;
use crate::names::quote_ident;
use crate::options::Options;
use crate::target::MysqlTarget;

pub static ENGINE: Mysql = Mysql;

pub struct Mysql;

impl Engine for Mysql {
    fn facts(&self) -> EngineFacts {
        let summary = "MariaDB 10.6 and MySQL 8.0 or newer: a private server of mindful's own (mariadb:, mysql:) or any \
                       other (mysql://…)";
        EngineFacts {
            options: &options::KEYS,
            finding_codes: codes::ALL,
            grants: Some(include_str!("../sql/grants.sql")),
            password_variable: Some("MYSQL_PWD"),
            ..EngineFacts::new("mysql", &["mariadb", "mysql"], summary, mindful_sql::CAPABILITIES)
        }
    }

    fn words(&self) -> Words {
        Words::new("redo", "buffer pool hits", "index, undo and purge reads")
    }

    fn redact(&self, url: &str) -> String {
        if private_flavor(url).is_some() { url.to_owned() } else { connect::redact(url) }
    }

    fn grant_names(&self, url: &str) -> Result<Vec<(&'static str, String)>> {
        if private_flavor(url).is_some() {
            return Ok(Vec::new());
        }
        let server = Server::parse(url)?;
        let database = server.database().unwrap_or(names::DEFAULT);
        Ok(vec![("mindful_bench", quote_ident(server.user())), ("bench", quote_ident(database))])
    }

    fn cache_option(&self, url: &str, holds_all: bool) -> Option<(&'static str, &'static str)> {
        private_flavor(url).map(|_| ("mode", if holds_all { "lio" } else { "pio" }))
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        let flavor = private_flavor(url);
        let server = if flavor.is_none() { Some(Server::parse(url)?) } else { None };
        let private = private::Options::parse(settings, flavor.unwrap_or(Flavor::MariaDb))?;
        let options = Options::from_settings(settings, server.as_ref().and_then(Server::database), &private)?;
        Ok(Arc::new(MysqlOptions { server, place: self.redact(url), options, private }))
    }
}

/// The options of a target, with those of the private server, which are unused with the URL of another server.
struct MysqlOptions {
    /// The server at the URL; `None` for the private one.
    server: Option<Server>,
    /// The URL without its secrets.
    place: String,
    options: Options,
    private: private::Options,
}

impl MysqlOptions {
    /// The server at the URL, if it is not the private one.
    fn remote(&self, events: &dyn Events) -> Option<Server> {
        let server = self.server.clone()?;
        for remark in server.notes() {
            emit_note(events, remark);
        }
        Some(server)
    }
}

impl EngineOptions for MysqlOptions {
    fn open(&self, sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        if let Some(server) = self.remote(&**events) {
            let opened = MysqlTarget::open(server, None, self.options.clone(), events);
            return Ok(Box::new(opened.map_err(Error::of_target)?));
        }
        let instance = private::open(&self.private, sessions, events)?;
        let server = Server::from_socket(&instance.socket(), private::USER);
        Ok(Box::new(MysqlTarget::open(server, Some(instance), self.options.clone(), events)?))
    }

    fn find_folder_to_make(&self, events: &Arc<dyn Events>) -> Result<Option<PathBuf>> {
        if self.server.is_some() { Ok(None) } else { private::find_folder_to_make(&self.private, events.as_ref()) }
    }

    fn check_unmade(&self, folder: &Path, plan: &Plan) -> Result<HostView> {
        private::check_unmade(&self.private, folder, plan)
    }

    fn open_rendezvous(&self, events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        let Some(server) = self.remote(&**events) else {
            return Err(mindful_core::ranks::rendezvous::private_server_error("mysql://…"));
        };
        let namespace = self.options.namespace.clone();
        let place = format!("database {} of {}", namespace.quoted(), self.place);
        meeting::open(server, namespace, place).map(Some)
    }
}

/// The private server that `url` means, if any; it contains no secret then.
fn private_flavor(url: &str) -> Option<Flavor> {
    match url {
        "mariadb" | "mariadb:" => Some(Flavor::MariaDb),
        "mysql" | "mysql:" => Some(Flavor::MySql),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_schemes_are_private_and_urls_shown_without_passwords() {
        assert_eq!((private_flavor("mariadb:"), private_flavor("mysql")), (Some(Flavor::MariaDb), Some(Flavor::MySql)));
        assert_eq!(private_flavor("mysql://db/x"), None);
        assert_eq!(ENGINE.redact("mysql:"), "mysql:");
        assert!(!ENGINE.redact("mariadb://me:secret@db/x").contains("secret"));
    }
}
