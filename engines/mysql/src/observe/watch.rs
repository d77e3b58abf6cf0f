//! Properties of the server that must not change while figures are measured: its settings, the age of its counters, and
//! mindful's tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::metric::Phase;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::Namespace;
use crate::observe::status;

/// How the names of variables begin that move with each commit.
const MOVING: &str = "gtid_";
/// Tables are read at every so many readings, because MariaDB opens the file of each.
const TABLES_EVERY: u32 = 2;
const UPTIME: [&str; 2] = ["Uptime", "Uptime_since_flush_status"];

pub(crate) struct ServerWatch {
    link: Arc<Link>,
    database: String,
    /// Whether mindful's sessions update the tables.
    updates: bool,
    readings: u32,
}

impl ServerWatch {
    pub(crate) fn new(link: &Arc<Link>, namespace: &Namespace, workload: &Workload) -> Self {
        let updates = !workload.update_pct.is_none();
        Self { link: Arc::clone(link), database: namespace.name.clone(), updates, readings: 0 }
    }

    fn read_all(&mut self, conn: &mut Conn) -> Result<Vec<Circumstance>, Failure> {
        let settings: Vec<(String, String)> = conn.query("SHOW GLOBAL VARIABLES")?;
        let settings = settings.into_iter().filter(|(name, _)| !name.starts_with(MOVING));
        let mut found: Vec<Circumstance> =
            settings.map(|(name, value)| Circumstance::new(name, Some(value), Decides::Work)).collect();
        let uptime = status::read(conn, &UPTIME)?;
        let flushed = uptime.get(UPTIME[0]).zip(uptime.get(UPTIME[1])).map(|(up, since)| (up - since).to_string());
        found.push(Circumstance::new("status flushed after, s", flushed, Decides::Counters));
        if self.readings.is_multiple_of(TABLES_EVERY) {
            found.extend(self.read_tables(conn)?);
        }
        self.readings += 1;
        Ok(found)
    }

    fn read_tables(&self, conn: &mut Conn) -> Result<Vec<Circumstance>, Failure> {
        let sql = include_str!("../../sql/watch_tables.sql");
        let tables: Vec<(String, String, String)> = conn.exec(sql, (&self.database,))?;
        let triggers = self.read_triggers(conn)?;
        let mut found = Vec::new();
        for (name, made, updated) in tables {
            let attached = triggers.get(&name).map_or("none".to_owned(), |names| names.join(","));
            found.push(Circumstance::new(format!("table {name} made"), Some(made), Decides::Layout));
            found.push(Circumstance::new(format!("triggers of {name}"), Some(attached), Decides::Layout));
            if !self.updates {
                found.push(Circumstance::new(format!("table {name} updated"), Some(updated), Decides::Layout));
            }
        }
        Ok(found)
    }

    /// The triggers of each table, in the order of their names.
    fn read_triggers(&self, conn: &mut Conn) -> Result<BTreeMap<String, Vec<String>>, Failure> {
        let sql = include_str!("../../sql/watch_triggers.sql");
        let mut rows: Vec<(String, String)> = conn.exec(sql, (&self.database,))?;
        rows.sort();
        let mut triggers = BTreeMap::<String, Vec<String>>::new();
        for (table, trigger) in rows {
            triggers.entry(table).or_default().push(trigger);
        }
        Ok(triggers)
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
        let link = Arc::clone(&self.link);
        link.run("reading settings and tables", |conn| self.read_all(conn))
    }
}
