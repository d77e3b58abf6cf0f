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
    Ok(Exit::Ok)
}

fn as_text(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing found that would spoil a result\n".to_owned();
    }
    let shown = |finding: &Finding| {
        let severity = match finding.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let line = format!("{severity:<8} {}: {}\n         {}\n", finding.code, finding.evidence, finding.text);
        line.lines().map(mindful_report::escape).collect::<Vec<_>>().join("\n")
    };
    let mut text = findings.iter().map(shown).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}
