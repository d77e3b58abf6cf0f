//! The look at host and target that `doctor` shows and each run begins with.

use mindful_core::Result;
use mindful_core::engine::Target;
use mindful_core::plan::Plan;
use mindful_core::result::Finding;

/// What the host and the target have that spoils a result of `plan`, the gravest first. No host is looked at where time
/// is `simulated`.
pub fn examine(target: &dyn Target, plan: &Plan, simulated: bool) -> Result<Vec<Finding>> {
    if simulated {
        return target.checks(plan);
    }
    let host = target.host();
    // The look at the host takes half a second; the target is asked meanwhile.
    let (on_host, on_target) = std::thread::scope(|scope| {
        let look = scope.spawn(|| mindful_observe::host_checks(&host));
        let asked = target.checks(plan);
        (look.join().unwrap_or_default(), asked)
    });
    let mut findings = on_target?;
    findings.extend(on_host);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(findings)
}
