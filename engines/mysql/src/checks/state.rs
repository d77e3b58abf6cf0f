//! The input of all checks: settings, activity, plan.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::workload::LoopSite;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::dataset::layout::PAGE_BYTES;
use crate::dataset::lock;
use crate::error::Failure;
use crate::names::{MEETING, quote_ident};
use crate::options::Options;

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub settings: BTreeMap<String, String>,
    pub activity: Activity,
    pub planned: Planned,
    /// Connections of other runs, loads and cleanups on the namespace.
    pub users: Option<String>,
    pub clock_stands: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Activity {
    pub sees_all: bool,
    /// Statements of others that run now, by user, such as `2 of app`.
    pub by_whom: Vec<String>,
    pub connected: u32,
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a plan")]
pub(super) struct Planned {
    pub active_bytes: u64,
    pub uniform: bool,
    pub updates: bool,
    /// Whether anything is written first: a load, or the functions of the server-side loop.
    pub writes: bool,
    pub commit_wait: bool,
    pub sessions: u32,
}

impl State {
    pub(super) fn read(link: &Link, options: &Options, plan: &Plan, dataset: Option<&Dataset>) -> Result<Self> {
        link.run("checking the server", |conn| {
            let settings: Vec<(String, String)> = conn.query("SHOW GLOBAL VARIABLES")?;
            Ok(Self {
                settings: settings.into_iter().collect(),
                activity: Activity::read(conn)?,
                planned: Planned::from_plan(plan, dataset),
                users: lock::others(conn, &options.namespace)?,
                clock_stands: clock_stands(conn)?,
            })
        })
    }

    /// A setting; `None` if this version lacks it.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("ON") || text == "1")
    }

    pub(super) fn is_off(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("OFF") || text == "0")
    }
}

/// Commands of idle connections, and of the server itself, which has no user.
const IDLE: [&str; 4] = ["Sleep", "Daemon", "Binlog Dump", "Binlog Dump GTID"];

impl Activity {
    fn read(conn: &mut Conn) -> Result<Self, Failure> {
        let own = u64::from(conn.connection_id());
        // Ranks of the run that search for each other are not others.
        let sessions: Vec<(u64, String, String)> = conn.query(format!(
            "SELECT ID, COALESCE(USER, ''), COMMAND FROM information_schema.PROCESSLIST \
             WHERE COALESCE(INFO, '') NOT LIKE '%`.{}%'",
            quote_ident(MEETING)
        ))?;
        let mut by_user: BTreeMap<String, u32> = BTreeMap::new();
        for (id, user, command) in &sessions {
            let of_server = matches!(user.as_str(), "system user" | "event_scheduler" | "");
            if *id != own && !of_server && !IDLE.contains(&command.as_str()) {
                *by_user.entry(user.clone()).or_default() += 1;
            }
        }
        // Without the right to see others, the list does not contain them. With it, the list contains at least this
        // connection.
        let grants: Vec<String> = conn.query("SHOW GRANTS")?;
        let sees = |grant: &String| {
            grant.contains(" ON *.* ") && (grant.contains("ALL PRIVILEGES") || grant.contains("PROCESS"))
        };
        let connected: Option<(String, u32)> = conn.query_first("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
        Ok(Self {
            sees_all: grants.iter().any(sees),
            by_whom: by_user.into_iter().map(|(user, count)| format!("{count} of {user}")).collect(),
            connected: connected.map_or(0, |(_, count)| count),
        })
    }
}

impl Planned {
    fn from_plan(plan: &Plan, dataset: Option<&Dataset>) -> Self {
        let updates = !plan.update_pct.is_none();
        Self {
            active_bytes: plan.active_bytes(dataset, PAGE_BYTES),
            uniform: plan.visits_evenly(),
            updates,
            writes: updates || dataset.is_none() || plan.loop_site == LoopSite::Server,
            commit_wait: plan.commit_wait,
            sessions: plan.sessions,
        }
    }
}

/// Whether two readings of the clock with a pause between are equal: then every latency would be zero.
fn clock_stands(conn: &mut Conn) -> Result<bool, Failure> {
    let sql = "SELECT CAST(SYSDATE(6) AS CHAR), SLEEP(0.002), CAST(SYSDATE(6) AS CHAR)";
    let looks: Option<(String, i64, String)> = conn.query_first(sql)?;
    Ok(looks.is_some_and(|(before, _, after)| before == after))
}
