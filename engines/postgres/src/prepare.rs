//! What is checked before sessions are made: what cannot be carried is refused with the next move.

use mindful_core::dataset::Dataset;
use mindful_core::engine::AccessPath;
use mindful_core::plan::Plan;
use mindful_core::workload::{Access, Commit, Like, LoopSite, Workload};
use mindful_core::{Error, Result};

use crate::link::Link;
use crate::names::Namespace;
use crate::{plan_check, rights, room};

/// Connections for counters and wait events; the control connection is open and counted already.
pub const OWN_CONNECTIONS: i32 = 2;

/// Checks room, rights, and the workload itself; then how the server carries it out.
pub fn prepare(link: &Link, workload: &Workload, sessions: u32, namespace: &Namespace) -> Result<Vec<AccessPath>> {
    refuse_contradictions(workload, sessions)?;
    room::check(link, sessions, "sessions", "--sessions", OWN_CONNECTIONS)?;
    let (in_server, updates) = (workload.looping == LoopSite::Server, !workload.update_pct.is_none());
    if let Some(refusal) = rights::of(link, namespace)?.refusal(in_server, updates) {
        return Err(refusal);
    }
    plan_check::check(link, workload, namespace)
}

/// Refuses `plan` where server or role would refuse it after the load, which must be made first where not all is loaded.
pub fn admit(link: &Link, plan: &Plan, namespace: &Namespace, loads: bool) -> Result<()> {
    let rights = rights::of(link, namespace)?;
    let (in_server, updates) = (plan.looping == LoopSite::Server, !plan.update_pct.is_none());
    let no_load = if loads { rights.no_writes().or_else(|| rights.no_create()) } else { None };
    if let Some(refusal) = no_load.or_else(|| rights.refusal(in_server, updates)) {
        return Err(refusal);
    }
    room::check(link, plan.sessions, "sessions", "--sessions", OWN_CONNECTIONS)
}

/// Refuses work on what is not there.
pub fn refuse_more_than_loaded(workload: &Workload, dataset: Option<&Dataset>) -> Result<()> {
    let Some(dataset) = dataset else {
        return Err(Error::plan("nothing is loaded", "`mindful load` first"));
    };
    let scans = u64::from(!workload.scan_pct.is_none() && workload.access != Access::Scan);
    for (what, wanted, loaded, flag) in [
        ("schemas", u64::from(workload.schemas), u64::from(dataset.schemas), "--schemas"),
        ("blocks a schema", workload.scale, dataset.blocks_per_schema, "--scale"),
        ("blocks of scan table", scans, dataset.scan_blocks, "--scan-table"),
    ] {
        if wanted > loaded {
            return Err(Error::plan(
                format!("the work wants {wanted} {what}, {loaded} are loaded"),
                format!("give a smaller {flag}, or load more"),
            ));
        }
    }
    Ok(())
}

fn refuse_contradictions(workload: &Workload, sessions: u32) -> Result<()> {
    if !workload.access.is_index() && !workload.update_pct.is_none() {
        return Err(Error::plan(
            format!("access {} is for reads, updates go by the index", workload.access),
            "leave --access or --update-pct away",
        ));
    }
    if workload.rate.is_some() && workload.looping == LoopSite::Server {
        return Err(Error::plan("a rate needs the loop in the client", "add --loop client, or leave --rate away"));
    }
    if workload.like != Like::Mindful && workload.looping == LoopSite::Server {
        return Err(Error::plan("the arithmetic of an older kit needs the loop in the client", "add --loop client"));
    }
    let shared = sessions > workload.schemas || !workload.hot_schema.is_none();
    if workload.commit != Commit::Each && !workload.update_pct.is_none() && shared {
        return Err(Error::plan(
            "sessions that share a schema and commit later than each operation would deadlock",
            "run as many --schemas as --sessions without --hot-schema, or --commit each",
        ));
    }
    Ok(())
}
