//! PostgreSQL, 15 to 18: any server with its protocol, or a private one.

mod checks;
mod codes;
pub mod connect;
mod dataset;
mod error;
mod meeting;
mod names;
mod observe;
mod options;
pub mod private;
mod target;
mod template;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::contract::description::{HostView, Words};
use mindful_core::contract::engine::{EngineFacts, EngineOptions};
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::plan::Plan;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::Rendezvous;
use mindful_core::{Capabilities, Engine, Error, Result, Target};

use crate::connect::Server;
use crate::options::Options;
use crate::target::PostgresTarget;
use crate::template::quote_ident;

pub static ENGINE: Postgres = Postgres;

pub struct Postgres;

impl Engine for Postgres {
    fn facts(&self) -> EngineFacts {
        let summary = "PostgreSQL 15 to 18: a private server of mindful's own (embedded) or any other (postgres://…)";
        let can = Capabilities { access_paths: true, ..mindful_sql::CAPABILITIES };
        EngineFacts {
            options: &options::KEYS,
            finding_codes: codes::ALL,
            grants: Some(include_str!("../sql/grants.sql")),
            password_variable: Some("PGPASSWORD"),
            ..EngineFacts::new("postgres", &["embedded", "postgres", "postgresql"], summary, can)
        }
    }

    fn words(&self) -> Words {
        Words::new("WAL", "buffer hits", "index and visibility-map reads")
    }

    fn grant_names(&self, url: &str) -> Result<Vec<(&'static str, String)>> {
        if is_private(url) {
            return Ok(Vec::new());
        }
        let server = Server::parse(url)?;
        Ok(vec![("mindful_bench", quote_ident(server.user())), ("bench", quote_ident(server.dbname()))])
    }

    fn redact(&self, url: &str) -> String {
        if is_private(url) { url.to_owned() } else { connect::redact(url) }
    }

    fn cache_option(&self, url: &str, holds_all: bool) -> Option<(&'static str, &'static str)> {
        is_private(url).then_some(("mode", if holds_all { "lio" } else { "pio" }))
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        let private = private::Options::parse(settings)?;
        let options = Options::from_settings(settings, &private)?;
        Ok(Arc::new(PostgresOptions { url: url.to_owned(), options, private }))
    }
}

/// The options of a target, with those of the private server, which are unused with the URL of another server.
struct PostgresOptions {
    url: String,
    options: Options,
    private: private::Options,
}

impl PostgresOptions {
    fn server(&self, events: &dyn Events) -> Result<Server> {
        let server = Server::parse(&self.url)?;
        for remark in server.notes() {
            emit_note(events, remark);
        }
        Ok(server)
    }
}

impl EngineOptions for PostgresOptions {
    fn open(&self, sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        if is_private(&self.url) {
            let instance = private::open(&self.private, sessions, events)?;
            let server = Server::from_socket(instance.socket_folder(), private::PORT, private::USER, private::DATABASE);
            return Ok(Box::new(PostgresTarget::open(server, Some(instance), self.options.clone(), events)?));
        }
        let opened = PostgresTarget::open(self.server(&**events)?, None, self.options.clone(), events);
        Ok(Box::new(opened.map_err(Error::of_target)?))
    }

    fn find_folder_to_make(&self, events: &Arc<dyn Events>) -> Result<Option<PathBuf>> {
        if is_private(&self.url) { private::find_folder_to_make(&self.private, events.as_ref()) } else { Ok(None) }
    }

    fn check_unmade(&self, folder: &Path, plan: &Plan) -> Result<HostView> {
        private::check_unmade(&self.private, folder, plan)
    }

    fn open_rendezvous(&self, events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        if is_private(&self.url) {
            return Err(mindful_core::ranks::rendezvous::private_server_error("postgres://…"));
        }
        let (server, namespace) = (self.server(&**events)?, self.options.namespace.clone());
        let place = format!("schema {} of {}", namespace.quoted(), connect::redact(&self.url));
        meeting::open(server, namespace, place).map(Some)
    }
}

/// Whether `url` means the private server; it holds no secret then.
fn is_private(url: &str) -> bool {
    matches!(url, "embedded" | "embedded:")
}
