//! Properties of the server that must not change while figures are measured: its settings, the age of its counters, and
//! mindful's tables.

use std::sync::Arc;

use mindful_core::contract::metric::Phase;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use tokio_postgres::Row;

use crate::connect::link::Link;
use crate::template::render;

/// Views with separate resets. A server has those of its version, and a role may be denied any of them.
const VIEWS: [&str; 5] = ["pg_stat_database", "pg_stat_wal", "pg_stat_bgwriter", "pg_stat_io", "pg_stat_checkpointer"];

/// The existing views of $1 that the role may read.
const READABLE: &str = "SELECT c.relname::text FROM pg_catalog.pg_class AS c \
    WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname = ANY ($1::text[]) \
    AND pg_catalog.has_table_privilege(c.oid, 'SELECT')";

/// While our sessions update, this part of the rows may come or go before it is a change. Rows that updates move and the pages
/// they fill are no change then, since a hot row finds no room in its block: the next run proves the layout again.
const PARTS: i64 = 100;

pub(crate) struct ServerWatch {
    link: Arc<Link>,
    /// The statement, and the views that it reads; made at the first reading.
    statement: Option<(String, Vec<&'static str>)>,
    tables: Vec<u32>,
    rows: i64,
    /// Whether mindful's sessions update them.
    updates: bool,
    /// Pages, rows added or removed, and updated rows at the first reading.
    first: Option<[i64; 3]>,
    /// Time of the last load of the settings, and their values then.
    settings: (String, Vec<Circumstance>),
}

impl ServerWatch {
    pub(crate) fn new(link: &Arc<Link>, tables: Vec<u32>, workload: &Workload) -> Self {
        let rows = i64::from(workload.schemas).saturating_mul(i64::try_from(workload.scale).unwrap_or(i64::MAX));
        Self {
            link: Arc::clone(link),
            statement: None,
            tables,
            rows,
            updates: !workload.update_pct.is_none(),
            first: None,
            settings: Default::default(),
        }
    }

    fn of_tables(&mut self, row: &Row) -> Vec<Circumstance> {
        let read = ["pages", "replaced", "updated"].map(|column| row.get::<_, i64>(column));
        let first = *self.first.get_or_insert(read);
        // In parts, so that a few rows do not count as a change; in tables without updates each row counts.
        let grown = |at: usize, part: i64| (read[at] - first[at]).div_euclid(part.max(1)) * part.max(1);
        let part = if self.updates { self.rows / PARTS } else { 1 };
        let text = |name: &str, value: i64| Circumstance::new(name, Some(value.to_string()), Decides::Layout);
        let mut found = vec![
            Circumstance::new("files of the tables", row.get("files"), Decides::Layout),
            Circumstance::new("options of the tables", row.get("options"), Decides::Layout),
            Circumstance::new("triggers and rules of the tables", row.get("attached"), Decides::Layout),
            text("rows added or removed", grown(1, part)),
        ];
        if !self.updates {
            found.push(text("pages added to the tables", grown(0, 1)));
            found.push(text("rows updated by others", grown(2, 1)));
        }
        found
    }
}

/// The statement that reads these properties, with the time of reset of each of the views `readable`.
fn statement(readable: &[String]) -> (String, Vec<&'static str>) {
    let views: Vec<_> = VIEWS.into_iter().filter(|view| readable.iter().any(|name| name == view)).collect();
    let column = |view: &&str| {
        let own = if *view == "pg_stat_database" { " WHERE v.datname = current_database()" } else { "" };
        format!("(SELECT coalesce(max(v.stats_reset)::text, 'never') FROM {view} AS v{own}) AS {view},\n       ")
    };
    let columns: String = views.iter().map(column).collect();
    (render(include_str!("../../sql/watch.sql"), &[("views", &columns)]), views)
}

impl Watch for ServerWatch {
    fn name(&self) -> &'static str {
        "server"
    }

    fn phase(&self) -> Phase {
        Phase::Settled
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        let control = self.link.control()?;
        if self.statement.is_none() {
            let readable = self.link.run("reading the views of the server", async {
                Ok(control.query_again(READABLE, &[&VIEWS.as_slice()]).await?)
            })?;
            let readable: Vec<String> = readable.iter().map(|row| row.get(0)).collect();
            self.statement = Some(statement(&readable));
        }
        let Some((sql, views)) = self.statement.clone() else { return Ok(Vec::new()) };
        let (row, settings) = self.link.run("reading settings and tables", async {
            let rows = control.query_again(&sql, &[&self.tables]).await?;
            let row = rows.into_iter().next().ok_or_else(|| Error::target("the server shows no state", "try again"))?;
            let loaded: String = row.get("loaded");
            let settings = if loaded == self.settings.0 {
                None
            } else {
                let all = "SELECT name, setting FROM pg_settings ORDER BY name";
                Some((loaded, control.query_again(all, &[]).await?))
            };
            Ok((row, settings))
        })?;
        if let Some((loaded, all)) = settings {
            let one = |row: &Row| Circumstance::new(row.get::<_, String>(0), row.get(1), Decides::Work);
            self.settings = (loaded, all.iter().map(one).collect());
        }
        let mut found = self.settings.1.clone();
        let reset = |view: &&str| Circumstance::new(format!("reset of {view}"), row.get(*view), Decides::Counters);
        found.extend(views.iter().map(reset));
        for (name, column) in [("recovery", "in_recovery"), ("standbys", "standbys")] {
            found.push(Circumstance::new(name, row.get(column), Decides::Work));
        }
        found.extend(self.of_tables(&row));
        Ok(found)
    }
}
