//! `mindful doctor`: the checks that precede every run, without a run. An engine's proof of its own counters is stored
//! for later runs.

use std::io::Write;
use std::path::Path;

use clap::ArgMatches;
use mindful_core::contract::{Proven, SelfProof};
use mindful_core::plan::units::format_counted;
use mindful_core::result::{Finding, Severity};
use mindful_core::{Error, Result};
use mindful_record::file;
use mindful_runner::{preflight, self_proof};
use serde_json::json;

use crate::args::flags::option;
use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "doctor",
    about: "Show what would spoil a result here, and how to fix it",
    details: "Doctor examines the host and the target and changes neither. Some engines also prove that their counters are right; doctor stores that proof for later runs.",
    example: "mindful doctor --target postgres://host/db --fail-on warning",
    page: "docs/findings.md",
    plan: Some("target node_exporter"),
    arguments: || {
        vec![
            option("fail_on", "fail-on", "SEVERITY")
                .value_parser(["info", "warning", "error"])
                .hide_possible_values(true)
                .help("Exit with 1 if there is a finding of at least this severity: info, warning or error"),
        ]
    },
    action: Action::Run(doctor),
};

fn doctor(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    context.store.probe()?;
    let (findings, proof) = if let Some(folder) = context.would_make()? {
        (preflight::foretell_unmade(&context, &folder)?, None)
    } else {
        let target = context.open()?;
        let findings = preflight::foretell(&context, &*target)?;
        let proof = target.self_proof(&context.stop)?;
        if let Some(proof) = &proof {
            self_proof::store(&*target, &context.store, proof)?;
        }
        (findings, proof)
    };
    context.events().quiet();
    let bundle = proof.as_ref().map(|proof| keep(&proof.bundle)).transpose()?;
    let text = if context::wants_json(matches) {
        let mut all = json!({ "findings": findings });
        if let (Some(proof), Some(bundle)) = (&proof, &bundle) {
            let line = |(proven, line): &(Proven, String)| json!({ "proven": proven, "claim": line });
            all["self_proof"] = proof.lines.iter().map(line).collect();
            all["bundle"] = bundle.as_str().into();
        }
        context::json(all, &context.settings)
    } else {
        let own = proof.as_ref().zip(bundle.as_ref()).map(|(proof, bundle)| proven(proof, bundle));
        context::found_plan(&context.settings) + &own.unwrap_or_default() + &as_text(&findings)
    };
    context::print(&text)?;
    let limit = match matches.get_one::<String>("fail_on").map(String::as_str) {
        Some("info") => Some(Severity::Info),
        Some("warning") => Some(Severity::Warning),
        Some(_) => Some(Severity::Error),
        None => None,
    };
    let unproven = proof.iter().flat_map(|proof| &proof.lines).any(|(proven, _)| *proven == Proven::Fail);
    let failed = unproven || limit.is_some_and(|limit| findings.iter().any(|finding| finding.severity >= limit));
    Ok(if failed { Exit::Invalid } else { Exit::Ok })
}

/// Writes the contents of a bug report into a new file of the current folder; returns its name.
fn keep(bundle: &str) -> Result<String> {
    let name = format!("mindful-doctor-{}.txt", mindful_core::contract::clock::now_us() / 1_000_000);
    // Others who may write to the folder can guess the name.
    let written = file::put(Path::new(&name), false, |mut file| file.write_all(bundle.as_bytes()));
    let unwritten = |error| Error::run(format!("cannot write {name}: {error}"), "change to a writable folder");
    written.map_err(unwritten)?;
    Ok(name)
}

/// The engine's proof of its own counters, one line a claim.
fn proven(proof: &SelfProof, bundle: &str) -> String {
    let line = |(proven, line): &(Proven, String)| format!("{proven:<8} {}\n", mindful_report::escape(line));
    let lines: String = proof.lines.iter().map(line).collect();
    format!("{lines}for a bug report, without names: {bundle}\n\n")
}

/// The number of findings of each severity, and the consequence for a run.
fn counts(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, infos) = (of(Severity::Error), of(Severity::Warning), of(Severity::Info));
    let meaning = match (errors, warnings) {
        (0, 0) => "nothing here would make a result SUSPECT",
        (0, _) => "a result would be SUSPECT",
        _ => "a run would be refused or INVALID",
    };
    let (errors, warnings) = (format_counted(errors, "error"), format_counted(warnings, "warning"));
    format!("{errors}, {warnings}, {infos} for information: {meaning}\n")
}

fn as_text(findings: &[Finding]) -> String {
    let shown = |finding: &Finding| {
        let Finding { severity, code, evidence, text } = finding;
        let line = format!("{severity:<8} {code}: {evidence}\n         {text}\n");
        line.lines().map(mindful_report::escape).collect::<Vec<_>>().join("\n")
    };
    findings.iter().map(|finding| shown(finding) + "\n").collect::<String>() + &counts(findings)
}
