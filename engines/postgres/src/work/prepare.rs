//! Checks before sessions start: an unsupported workload is refused with the next step.

use mindful_core::contract::description::AccessPath;
use mindful_core::plan::Plan;
use mindful_core::workload::{Compatibility, LoopSite, Workload};
use mindful_core::{Error, Result};

use crate::checks::connection_limit;
use crate::checks::privileges;
use crate::connect::link::Link;
use crate::names::Namespace;
use crate::work::plan_check;

/// Connections for counters and wait events; the control connection is open and counted already.
pub(crate) const OWN_CONNECTIONS: i32 = 2;

/// Checks room, rights, and the workload itself; then how the server carries it out.
pub(crate) fn prepare(
    link: &Link,
    workload: &Workload,
    sessions: u32,
    namespace: &Namespace,
) -> Result<Vec<AccessPath>> {
    refuse_contradictions(workload, sessions)?;
    connection_limit::check(link, sessions, "sessions", "--sessions", OWN_CONNECTIONS)?;
    let (in_server, updates) = (workload.loop_site == LoopSite::Server, !workload.update_pct.is_none());
    if let Some(refusal) = privileges::read_rights(link, namespace)?.refusal(in_server, updates) {
        return Err(refusal);
    }
    plan_check::check(link, workload, namespace)
}

/// Refuses `plan` where server or role would refuse it after the load, which must be made first where not all is loaded.
pub(crate) fn admit(link: &Link, plan: &Plan, namespace: &Namespace, loads: bool) -> Result<()> {
    let rights = privileges::read_rights(link, namespace)?;
    let (in_server, updates) = (plan.loop_site == LoopSite::Server, !plan.update_pct.is_none());
    let no_load = if loads { rights.no_writes().or_else(|| rights.no_create()) } else { None };
    if let Some(refusal) = no_load.or_else(|| rights.refusal(in_server, updates)) {
        return Err(refusal);
    }
    connection_limit::check(link, plan.sessions, "sessions", "--sessions", OWN_CONNECTIONS)
}

fn refuse_contradictions(workload: &Workload, sessions: u32) -> Result<()> {
    if !workload.access.is_index() && !workload.update_pct.is_none() {
        return Err(Error::plan(
            format!("access {} is for reads; updates use the index", workload.access),
            "omit --access or --update-pct",
        ));
    }
    if workload.compatibility != Compatibility::Mindful && workload.loop_site == LoopSite::Server {
        return Err(Error::plan("the arithmetic of an older kit needs the loop in the client", "add --loop client"));
    }
    workload.refuse_contradictions(sessions)
}
