//! `mindful doctor`: what would spoil the result, before anything runs.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::result::{Finding, Severity};
use mindful_runner::preflight;
use serde_json::json;

use crate::context;
use crate::exit::Exit;

/// Examines host and target; changes nothing.
pub fn doctor(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    let findings = match context.would_make()? {
        Some(folder) => preflight::host_alone(&folder),
        None => preflight::checks(&*context.open()?, &context.plan, false)?,
    };
    context.events().quiet();
    let text = if context::wants_json(matches) {
        context::json(json!({ "findings": findings }), &context.settings)
    } else {
        context::found_plan(&context.settings) + &as_text(&findings)
    };
    context::print(&text)?;
    let limit = match matches.get_one::<String>("fail_on").map(String::as_str) {
        Some("warning") => Some(Severity::Warning),
        Some(_) => Some(Severity::Error),
        None => None,
    };
    let failed = limit.is_some_and(|limit| findings.iter().any(|finding| finding.severity >= limit));
    Ok(if failed { Exit::Invalid } else { Exit::Ok })
}

/// How many findings there are of each severity, and what that means.
fn counts(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, infos) = (of(Severity::Error), of(Severity::Warning), of(Severity::Info));
    let meaning = match (errors, warnings) {
        (0, 0) => "nothing here makes a result SUSPECT",
        (0, _) => "a result would be SUSPECT, or not be what it claims to be",
        _ => "a run would be refused or INVALID",
    };
    format!("{errors} errors, {warnings} warnings, {infos} for information: {meaning}\n")
}

fn as_text(findings: &[Finding]) -> String {
    let shown = |finding: &Finding| {
        let severity = match finding.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let line = format!("{severity:<8} {}: {}\n         {}\n", finding.code, finding.evidence, finding.text);
        line.lines().map(mindful_report::escape).collect::<Vec<_>>().join("\n")
    };
    findings.iter().map(|finding| shown(finding) + "\n").collect::<String>() + &counts(findings)
}
