//! Properties of the server that must not change while figures are measured: its settings, the age of its counters, and
//! mindful's tables.

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::metric::Phase;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::Namespace;
use crate::observe::status;

/// How the names of variables begin that move with each commit.
const MOVING: &str = "gtid_";
const UPTIME: [&str; 2] = ["Uptime", "Uptime_since_flush_status"];

pub(crate) struct ServerWatch {
    link: Arc<Link>,
    database: String,
    /// Whether mindful's sessions update the tables.
    updates: bool,
}

impl ServerWatch {
    pub(crate) fn new(link: &Arc<Link>, namespace: &Namespace, workload: &Workload) -> Self {
        let updates = !workload.update_pct.is_none();
        Self { link: Arc::clone(link), database: namespace.name.clone(), updates }
    }

    fn read_all(&self, conn: &mut Conn) -> Result<Vec<Circumstance>, Failure> {
        let settings: Vec<(String, String)> = conn.query("SHOW GLOBAL VARIABLES")?;
        let settings = settings.into_iter().filter(|(name, _)| !name.starts_with(MOVING));
        let mut found: Vec<Circumstance> =
            settings.map(|(name, value)| Circumstance::new(name, Some(value), Decides::Work)).collect();
        let uptime = status::read(conn, &UPTIME)?;
        let flushed = uptime.get(UPTIME[0]).zip(uptime.get(UPTIME[1])).map(|(up, since)| (up - since).to_string());
        found.push(Circumstance::new("status flushed after, s", flushed, Decides::Counters));
        let tables: Vec<(String, String, String, String)> =
            conn.exec(include_str!("../../sql/watch_tables.sql"), (&self.database,))?;
        for (name, made, updated, triggers) in tables {
            found.push(Circumstance::new(format!("table {name} made"), Some(made), Decides::Layout));
            found.push(Circumstance::new(format!("triggers of {name}"), Some(triggers), Decides::Layout));
            if !self.updates {
                found.push(Circumstance::new(format!("table {name} updated"), Some(updated), Decides::Layout));
            }
        }
        Ok(found)
    }
}

impl Watch for ServerWatch {
    fn name(&self) -> &'static str {
        "server"
    }

    fn phase(&self) -> Phase {
        Phase::Settled
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        self.link.run("reading settings and tables", |conn| self.read_all(conn))
    }
}
