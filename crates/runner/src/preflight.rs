//! The checks of host and target: `doctor` shows them, and each run begins with them.

use std::path::Path;

use mindful_core::Result;
use mindful_core::contract::description::HostView;
use mindful_core::contract::target::Target;
use mindful_core::plan::Plan;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};

use crate::context::Context;
use crate::dataset;

/// Findings about `target` and its host that would affect a run, with their severity in that run. Returns the errors of
/// the run in advance.
pub fn foretell(context: &Context, target: &dyn Target) -> Result<Vec<Finding>> {
    let plan = &context.plan;
    dataset::check(target, plan, &target.describe()?, &*context.events())?;
    let findings = checks(target, plan, false)?.into_iter().chain(log_in_memory(plan, &target.host_view()));
    Ok(foretold(findings.collect()))
}

/// The findings if no target exists yet, because it would be created in `folder`: of the host, and of the devices below
/// the future folders of data and log.
pub fn foretell_unmade(context: &Context, folder: &Path) -> Result<Vec<Finding>> {
    let mut host = context.options.check_unmade(folder, &context.plan)?;
    for path in host.data_paths.iter_mut().chain(&mut host.log_paths) {
        let there = path.ancestors().find(|ancestor| ancestor.exists()).map(Path::to_owned);
        *path = there.unwrap_or_default();
    }
    let mut findings = mindful_observe::host_checks(&host);
    findings.extend(log_in_memory(&context.plan, &host));
    findings.push(codes::NO_SERVER_YET.finding(
        "The private server does not exist yet, so only the host was checked. Create it with `mindful load`, then \
         run `mindful doctor` again.",
        folder.display().to_string(),
    ));
    Ok(foretold(findings))
}

/// A log in memory is not durable. Only updates wait for it, so reads have no such finding.
fn log_in_memory(plan: &Plan, host: &HostView) -> Option<Finding> {
    let severity = if plan.update_pct.is_none() { Severity::Info } else { Severity::Warning };
    mindful_observe::log_in_memory(host).map(|finding| Finding { severity, ..finding })
}

fn foretold(findings: Vec<Finding>) -> Vec<Finding> {
    sorted(findings.into_iter().map(Finding::foretold).collect())
}

/// Findings about the host and the target that affect a result of `plan`, the most severe first. The host is not
/// checked if time is `simulated`.
pub(crate) fn checks(target: &dyn Target, plan: &Plan, simulated: bool) -> Result<Vec<Finding>> {
    if simulated {
        return target.checks(plan);
    }
    let host = target.host_view();
    // The target comes first, so that its reads for the checks do not count as those of other processes.
    let mut findings = target.checks(plan)?;
    findings.extend(mindful_observe::host_checks(&host));
    Ok(sorted(findings))
}

pub(crate) fn of_host(target: &dyn Target, simulated: bool) -> Vec<Finding> {
    if simulated { Vec::new() } else { sorted(mindful_observe::host_checks(&target.host_view())) }
}

/// Findings about the target for step number `step` of a run, from 0, which runs `plan`.
pub(crate) fn of_step(target: &dyn Target, plan: &Plan, step: u32) -> Result<Vec<Finding>> {
    let of_step =
        |finding: Finding| Finding { evidence: format!("step {}: {}", step + 1, finding.evidence), ..finding };
    Ok(target.checks(plan)?.into_iter().map(of_step).collect())
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}
