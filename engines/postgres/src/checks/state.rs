//! The input of all checks: settings, activity, plan.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::workload::{Access, LoopSite};
use mindful_host::Kernel;
use mindful_host::control_group::Groups;
use mindful_host::memory::Meminfo;
use tokio_postgres::Client;

use crate::checks::connection_limit::SpareConnections;
use crate::checks::idle_settings;
use crate::checks::privileges::Rights;
use crate::connect::link::Link;
use crate::dataset::lock;
use crate::dataset::space;
use crate::observe::describe;
use crate::options::Options;

/// Calls of the server's clock that are timed.
const CLOCK_CALLS: i64 = 20_000;

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Text and number (bytes, ms or plain) of each setting that the role may see.
    pub settings: BTreeMap<String, (String, Option<f64>)>,
    pub activity: Activity,
    pub planned: Planned,
    pub room: Option<SpareConnections>,
    pub rights: Option<Rights>,
    pub users: Option<String>,
    /// Memory that is free or contains only page cache, bytes, within the limit of the server's control group; `None`
    /// if the server is on another host.
    pub available_bytes: Option<u64>,
    /// Cost of reading the server's clock, ns.
    pub clock_ns: Option<f64>,
    /// Settings that decide its read-ahead; `None` if not read.
    pub reads: Option<idle_settings::Server>,
    pub given_settings: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Activity {
    /// Whether the role can see other roles' sessions.
    pub sees_all: bool,
    pub active: i64,
    pub by_whom: Option<String>,
    pub idle_in_transaction: i64,
    /// Transactions that keep old rows alive, and the age of the oldest, s.
    pub held: i64,
    pub oldest_s: Option<f64>,
    pub slots: i64,
    pub inactive_slots: i64,
    pub holding_slots: i64,
    pub kept_bytes: Option<f64>,
    pub replicas: i64,
    /// Number of our tables under autovacuum.
    pub vacuumed: i64,
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a plan")]
pub(super) struct Planned {
    /// Bytes of the blocks that operations can visit.
    pub active_bytes: u64,
    pub uniform: bool,
    pub updates: bool,
    pub scans: bool,
    pub access: Access,
    pub commit_wait: bool,
    pub in_server: bool,
    pub loads: bool,
    pub sessions: u32,
    pub duration: Duration,
}

impl State {
    pub(super) fn read(link: &Link, options: &Options, plan: &Plan, dataset: Option<&Dataset>) -> Result<Self> {
        let namespace = &options.namespace;
        let control = link.control()?;
        let available_bytes = available(link);
        link.run("checking the server", async {
            let rows = control.query(include_str!("../../sql/checks/settings.sql"), &[]).await?;
            let settings = rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect();
            let row = control.query_one(include_str!("../../sql/checks/activity.sql"), &[&namespace.name]).await?;
            let activity = Activity {
                sees_all: row.get("sees_all"),
                active: row.get("active"),
                by_whom: row.get("by_whom"),
                idle_in_transaction: row.get("idle_in_transaction"),
                held: row.get("held"),
                oldest_s: row.get("oldest_s"),
                slots: row.get("slots"),
                inactive_slots: row.get("inactive"),
                holding_slots: row.get("holding"),
                kept_bytes: row.get("kept_bytes"),
                replicas: row.get("replicas"),
                vacuumed: row.get("vacuumed"),
            };
            let clock_ns = Some(clock_ns(&control).await?);
            let (room, users) = (SpareConnections::read(&control).await?, lock::others(&control, namespace).await?);
            let planned = Planned::from_plan(plan, dataset);
            let rights = Some(Rights::read(&control, namespace).await?);
            let reads = Some(idle_settings::Server::read(&control).await?);
            let given_settings = options.given_settings.clone();
            Ok(Self {
                settings,
                activity,
                planned,
                room,
                rights,
                users,
                available_bytes,
                clock_ns,
                reads,
                given_settings,
            })
        })
    }

    /// A setting as text; `None` if this version lacks it or the role may not see it.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(|(text, _)| text.as_str())
    }

    /// A setting as bytes, ms, or a plain number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.settings.get(name).and_then(|(_, number)| *number)
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == Some(value)
    }

    #[cfg(test)]
    pub(super) fn with(mut self, name: &str, text: &str, number: Option<f64>) -> Self {
        self.settings.insert(name.to_owned(), (text.to_owned(), number));
        self
    }
}

impl Planned {
    fn from_plan(plan: &Plan, dataset: Option<&Dataset>) -> Self {
        Self {
            active_bytes: plan.active_bytes(dataset, space::BLOCK_BYTES),
            uniform: plan.visits_evenly(),
            updates: !plan.update_pct.is_none(),
            scans: !plan.scan_pct.is_none() || plan.access == Access::Scan,
            access: plan.access,
            commit_wait: plan.commit_wait,
            in_server: plan.loop_site == LoopSite::Server,
            loads: dataset.is_none(),
            sessions: plan.sessions,
            duration: plan.warmup + if plan.ops.is_some() { Duration::ZERO } else { plan.duration },
        }
    }
}

/// Memory of this host that the server can still allocate, within the limit of its control group.
fn available(link: &Link) -> Option<u64> {
    if !link.server().host_is_local(0) {
        return None;
    }
    let kernel = Kernel::default();
    let free = Meminfo::read(&kernel).available_bytes?;
    let server = describe::host(link).server_pid;
    let limit = server.and_then(|pid| Groups::of(&kernel, pid).limits().memory);
    Some(limit.map_or(free, |(limit, _)| limit.min(free)))
}

/// The cost of a call of the server's clock: the time of many calls minus the time of none.
async fn clock_ns(client: &Client) -> Result<f64, tokio_postgres::Error> {
    let timed = async |sql: &str| {
        let begun = Instant::now();
        client.query_one(sql, &[&CLOCK_CALLS]).await.map(|_| begun.elapsed().as_nanos() as f64)
    };
    let without = timed("SELECT count(i) FROM generate_series(1, $1::bigint) AS i").await?;
    let with = timed("SELECT count(clock_timestamp()) FROM generate_series(1, $1::bigint) AS i").await?;
    Ok(((with - without) / CLOCK_CALLS as f64).max(0.0))
}
